// Chapter 08 on the CPU device: every stage right at hostile shapes, alignments and scores, and counting what
// its formula says where rows begin at sectors.
#include <algorithm>
#include <cmath>
#include <string>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "chapters/attention_values.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "kernels/layernorm.hpp"

namespace cpu::attention {
workbook::Chapter chapter();
}

namespace test_attention {
namespace {

using namespace workbook;

const Chapter kChapter = cpu::attention::chapter();

/// The chapter with other inputs.
Chapter with_fill(void (*fill)(const Data&)) {
  Chapter chapter = kChapter;
  chapter.fill = fill;
  chapter.has_exact_inputs = nullptr;
  return chapter;
}

/// Leaves the last key out, or the last element of each row of q, and runs the stage.
const Stage kFlash = stage_named(kChapter, "07_flash"), kOneKernel = stage_named(kChapter, "02_one_kernel");
void run_without_last_value(const Data& d) {
  const int keys = d.shape.dims[3], width = d.shape.dims[4];
  cpu::test_kernels::clear_elements(floats(d, "v"), (keys - 1) * width, keys * width, d.shape.dims[1]);
  kFlash.run(d);
}
void run_without_last_element(const Data& d) {
  const int width = d.shape.dims[4];
  cpu::test_kernels::clear_elements(floats(d, "q"), width - 1, width, d.shape.dims[0] * d.shape.dims[2]);
  kOneKernel.run(d);
}

/// Takes the pages in the order in which they are stored.
const Stage kPaged = stage_named(kChapter, "11_paged");
void run_without_page_table(const Data& d) {
  const Array* const table = *std::ranges::find_if(
      kChapter.arrays, [](const Array* a) { return std::string_view(a->name) == "page_table"; });
  cpu::test_kernels::count_up(static_cast<unsigned*>(d.elements(*table)),
                              static_cast<int>(table->count(d.shape)));
  kPaged.run(d);
}

/// Checks that a stage is right, and that it is noticed when it runs `wrong`, in one kernel more.
void check_noticed(Problem& problem, Stage stage, void (*wrong)(const Data&)) {
  CHECK(problem.check(stage).message == "");
  stage.roundings = [](const Shape&) { return 1 << 24; };  // right on the other inputs
  stage.run = wrong;
  ++stage.kernels;
  CHECK_THAT(problem.check(stage).message, ContainsSubstring("on inputs whose sums are exact: "));
}

}  // namespace

TEST_CASE("08: every stage is right at hostile shapes") {
  for (const Shape& shape : kHostileShapes) check_at(kChapter, shape, {}, no_more);
}

TEST_CASE("08: every stage moves what its formula says, where rows begin at sectors") {
  const Shape shapes[] = {{{2, 1, 64, 64, 64}},  {{1, 1, 128, 136, 128}}, {{2, 1, 72, 136, 48}},
                          {{1, 1, 200, 72, 16}}, {{1, 1, 1, 512, 64}},    {{1, 1, 64, 1024, 32}},
                          {{2, 2, 136, 8, 128}}, {{2, 1, 8, 600, 16}}};
  for (const Shape& shape : shapes)
    check_at(kChapter, shape, {}, [&](const Stage& stage, const StageResult& result) {
      CHECK_FALSE(result.counts.approximate);
      check_traffic(kChapter, stage, result, shape);
    });
}

TEST_CASE("08: parts of the keys that would be empty are not launched, and not counted") {
  const Shape shape = {{4, 1, 1, 8193, 16}};  // 128 parts of 65 keys would end two parts too late
  const Stage split = stage_named(kChapter, "11_split");
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, shape, *backend);
  check_traffic(kChapter, split, problem.check(split), shape);
}

TEST_CASE("08: every stage is right at every alignment") {
  for (const int d : {8, 12, 13})
    for (const std::size_t q : {0, 4, 8})
      for (const std::size_t k : {0, 4, 12})
        check_at(kChapter, {{2, 1, 9, 20, d}}, attention_offsets(q, k), no_more);
}

TEST_CASE("08: every stage is right where all weights are equal, and where scores are around 10000") {
  for (const Shape& shape : {Shape{{2, 1, 70, 150, 64}}, Shape{{1, 1, 5, 1, 16}}}) {
    check_at(with_fill(fill_equal_keys<cpu::attention::chapter>), shape, {}, no_more);
    check_at(with_fill(fill_large<cpu::attention::chapter>), shape, {}, no_more);
  }
}

TEST_CASE("08: every stage is right where each tile has a new maximum") {
  check_at(with_fill(fill_growing<cpu::attention::chapter>), {{1, 1, 66, 260, 64}}, {}, no_more);
  check_at(with_fill(fill_steep<cpu::attention::chapter>), {{1, 1, 66, 260, 64}}, {}, no_more);
}

TEST_CASE("08: a NaN in a key reaches all weights and results of the queries that see it") {
  for (const Shape& shape : {Shape{{2, 1, 40, 300, 64}}, Shape{{2, 2, 1, 600, 16}}})
    check_at(with_fill(fill_nan<cpu::attention::chapter>), shape, {}, no_more);
}

TEST_CASE("08: a key that is left out shows up to 16384 keys, and so does an element of q") {
  const auto backend = make_cpu_backend();
  for (const int keys : {64, 1024, 16384}) {
    INFO(keys << " keys");
    Problem problem(kChapter, {{1, 1, 64, keys, 8}}, *backend);
    check_noticed(problem, kFlash, run_without_last_value);
  }
  for (const int d : {64, 128}) {
    INFO("d = " << d);
    Problem problem(kChapter, {{1, 1, 32, 256, d}}, *backend);
    check_noticed(problem, kOneKernel, run_without_last_element);
  }
}

TEST_CASE("08: a kernel that does not look into the page table is noticed") {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{4, 2, 1, 256, 64}}, *backend);
  Stage stage = kPaged;
  CHECK(problem.check(stage).message == "");
  stage.run = run_without_page_table;
  ++stage.kernels;
  CHECK_THAT(problem.check(stage).message, ContainsSubstring("o_paged["));
}

TEST_CASE("08: the bytes of each step of fusion") {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{1, 1, 256, 256, 64}}, *backend);
  const long long scores = 4LL * 256 * 256;
  const auto bytes = [&](const char* name) {
    const Counts counts = problem.check(stage_named(kChapter, name)).counts;
    return 32 * (counts.load_sectors + counts.store_sectors);
  };
  // The scaling is a pass of its own; the weights are written and read; the scores are read twice.
  CHECK(bytes("04_three_kernels") - bytes("05_two_kernels") == 3 * scores);
  CHECK(bytes("05_two_kernels") - bytes("06_online") == scores);
  // Written once, read once, and q was read for each tile of keys.
  CHECK(bytes("06_online") - bytes("07_flash") == 2 * scores + 3 * 4LL * 256 * 64);
  CHECK(bytes("08_exp2") == bytes("07_flash"));
  CHECK(bytes("09_masked") == bytes("07_flash"));
  // 10 of the 4 x 4 tiles of k and of v are seen.
  CHECK(bytes("09_masked") - bytes("09_causal") == 2 * 6 * 4LL * 64 * 64);
}

TEST_CASE("08: counts equal the H200's counters at 2 x 1 heads, 128 queries, 192 keys") {
  check_counters(kChapter, {{2, 1, 128, 192, 64}});  // without 11_split, which needs fewer queries
}

TEST_CASE("08: counts of 11_split equal the H200's counters at 4 x 2 heads, 3 queries, 1000 keys") {
  const Stage split = stage_named(kChapter, "11_split");
  Chapter chapter = kChapter;
  chapter.stages = {&split, 1};
  check_counters(chapter, {{4, 2, 3, 1000, 64}});
}

}  // namespace test_attention

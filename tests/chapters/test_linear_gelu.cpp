// Chapter 05 on the CPU device: every stage right at hostile shapes and alignments, and counting what its
// formula says where rows begin at sectors.
#include <algorithm>
#include <set>
#include <string>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "kernels/layernorm.hpp"

namespace cpu::linear_gelu {
workbook::Chapter chapter();
}

namespace test_linear_gelu {
namespace {

using namespace workbook;

const Chapter kChapter = cpu::linear_gelu::chapter();

const Stage kTiles = stage_named(kChapter, "04_tiles"), kFusedNaive = stage_named(kChapter, "03_fused_naive"),
            kEarlyGelu = stage_named(kChapter, "12_early_gelu");

/// Leaves the last term of each element of a product out: the last column of x, or of v.
void without_last_column(float* matrix, long long rows, int columns) {
  cpu::test_kernels::clear_elements(matrix, columns - 1, columns, static_cast<int>(rows));
}
void run_tiles_without_last_term(const Data& d) {
  without_last_column(floats(d, "x"), d.shape.dims[0], d.shape.dims[1]);
  kTiles.run(d);
}

/// What stage 12 computes, by kernels without tiles: few rows would fill a sixteenth of a tile.
void run_two_products(const Data& d) {
  kFusedNaive.run(d);
  cpu::test_kernels::product_of_rows(floats(d, "y"), floats(d, "v"), floats(d, "z"), d.shape.dims[0],
                                     d.shape.dims[2], d.shape.dims[1]);
}
void run_two_without_last_term(const Data& d) {
  without_last_column(floats(d, "x"), d.shape.dims[0], d.shape.dims[1]);
  run_two_products(d);
}
void run_two_without_last_y(const Data& d) {
  without_last_column(floats(d, "v"), d.shape.dims[1], d.shape.dims[2]);
  run_two_products(d);
}

/// Checks that a stage is right, and that it is noticed when it runs `wrong`, in one kernel more.
void check_noticed(Problem& problem, Stage stage, void (*wrong)(const Data&)) {
  CHECK(problem.check(stage).message == "");
  stage.roundings = [](const Shape&) { return 1 << 20; };  // right on the other inputs
  stage.run = wrong;
  ++stage.kernels;
  CHECK_THAT(problem.check(stage).message, ContainsSubstring("on inputs whose sums are exact: "));
}

}  // namespace

TEST_CASE("05: a term of the product that is left out shows at every k of the sweep") {
  const auto backend = make_cpu_backend();
  std::set<int> all_k;
  for (const Shape& shape : kChapter.sweep) all_k.insert(shape.dims[1]);
  REQUIRE(*all_k.rbegin() == 8192);
  for (const int k : all_k) {
    INFO("k = " << k);
    Problem problem(kChapter, {{8, k, 8}}, *backend);
    check_noticed(problem, kTiles, run_tiles_without_last_term);
  }
}

TEST_CASE("05: a term of either product of stage 12 that is left out shows at k and n of 4096") {
  const auto backend = make_cpu_backend();
  Problem along_k(kChapter, {{8, 4096, 8}}, *backend), along_n(kChapter, {{8, 8, 4096}}, *backend);
  Stage two = kEarlyGelu;
  two.run = run_two_products;
  check_noticed(along_k, two, run_two_without_last_term);
  check_noticed(along_n, two, run_two_without_last_y);
}

TEST_CASE("05: every stage is right at hostile shapes") {
  const Shape shapes[] = {{{1, 1, 1}},   {{1, 37, 5}},     {{5, 3, 1}},    {{33, 17, 31}},
                          {{31, 1, 65}}, {{130, 18, 129}}, {{129, 33, 2}}, {{2, 52, 260}}};
  for (const Shape& shape : shapes) check_at(kChapter, shape, {}, no_more);
}

TEST_CASE("05: every stage moves what its formula says, where rows begin at sectors") {
  const Shape shapes[] = {{{32, 32, 32}},  {{128, 16, 128}}, {{1, 8, 8}},     {{40, 24, 136}},
                          {{136, 40, 72}}, {{129, 8, 8}},    {{128, 48, 256}}};
  for (const Shape& shape : shapes)
    check_at(kChapter, shape, {}, [&](const Stage& stage, const StageResult& result) {
      CHECK_FALSE(result.counts.approximate);
      check_traffic(kChapter, stage, result, shape);
    });
}

TEST_CASE("05: every stage is right at every alignment") {
  for (const int k : {4, 13, 16})
    for (const std::size_t x : {0, 4, 8})
      for (const std::size_t w : {0, 4, 12})
        for (const std::size_t y : {0, 4}) {
          // An offset that is ignored shows where the others are 0: two of three add nothing to that.
          if ((x > 0) + (w > 0) + (y > 0) == 2) continue;
          check_at(kChapter, {{9, k, 12}},
                   {{"x", x}, {"w", w}, {"bias", y}, {"product", y}, {"y", w}, {"y_tanh", x}, {"z", y}},
                   no_more);
        }
}

TEST_CASE("05: shared memory, wavefronts a request, from stage to stage") {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{128, 64, 128}}, *backend);
  const auto wavefronts = [&](int stage) {
    const Counts counts = problem.check(kChapter.stages[stage]).counts;
    return static_cast<double>(counts.shared_load_wavefronts) / (128.0 * 64 * 128 / 32);
  };
  CHECK(wavefronts(3) == 2.0);                 // 04_tiles: both operands of each multiplication
  CHECK(wavefronts(4) == 1.125);               // 5: one element of w for eight of x
  CHECK(wavefronts(5) == 8 * 5.0 / 64);        // 6: eight without conflict, eight of four wavefronts
  CHECK(wavefronts(6) == 12.0 / 64);           // 7
  CHECK(wavefronts(7) == 12.0 / 64);           // 8
  CHECK(wavefronts(8) == 8.0 / 64 * 65 / 64);  // 9, which loads one step more than 64
}

TEST_CASE("05: bytes are per element of y, though z has more where k is larger than n") {
  REQUIRE(kChapter.units);
  CHECK(kChapter.units({{16, 64, 32}}) == 16 * 32);
}

TEST_CASE("05: counts equal the H200's counters at 256 x 64 x 256") {
  check_counters(kChapter, {{256, 64, 256}}, {"04_tiles", "05_column"}, {"06_square"});
}

}  // namespace test_linear_gelu

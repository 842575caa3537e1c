// Chapter 03 on the CPU device: every stage right at hostile shapes, alignments and values, and counting what
// its formula says.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/quantize_values.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/run_stage.hpp"

namespace cpu::quantize_int8 {
workbook::Chapter chapter();
}

namespace {

using namespace workbook;

const Chapter kChapter = cpu::quantize_int8::chapter();

void check_values(void (*fill)(const Data&), const std::vector<Shape>& shapes) {
  Chapter chapter = kChapter;
  chapter.fill = fill;
  const auto backend = make_cpu_backend();
  for (const Shape& shape : shapes) {
    Problem problem(chapter, shape, *backend);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

}  // namespace

TEST_CASE("03: every stage is right, and moves what its formula says, at hostile shapes") {
  const auto backend = make_cpu_backend();
  const Shape shapes[] = {{{1, 1, 1}},     {{3, 5, 1}},     {{7, 31, 1}},    {{33, 127, 1}},  {{1, 256, 1}},
                          {{5, 1023, 1}},  {{2, 4097, 1}},  {{3, 8192, 1}},  {{9, 1000, 1}},  {{1, 65536, 1}},
                          {{2, 20000, 1}}, {{1, 65537, 1}}, {{2, 70000, 1}}, {{1, 999983, 1}}};
  for (const Shape& shape : shapes) {
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
      if (!result.counts.approximate) check_traffic(kChapter, stage, result, shape);
    });
  }
}

TEST_CASE("03: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int columns : {1, 4, 31, 64, 515, 2048})
    for (std::size_t x = 0; x < 16; x += 4)
      for (std::size_t q = 0; q < 16; ++q) {
        const Shape shape = {{2, columns, 1}};
        Problem problem(kChapter, shape, *backend, {{"x", x}, {"q", q}, {"q_rows", q}, {"scales", x}});
        INFO("offsets " << x << " " << q);
        check_stages(kChapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("03: every stage suits rows of up to 131072 columns, and those with one scale suit all") {
  for (int i = 0; i < kChapter.stage_count; ++i) {
    const Stage& stage = kChapter.stages[i];
    INFO(stage.name);
    const bool one_scale = std::string(stage.output) == "q";
    CHECK((stage.suits == nullptr) == one_scale);
    if (one_scale) continue;
    CHECK(stage.suits({{1, 1, 1}}));
    CHECK(stage.suits({{4096, 131072, 1}}));
    CHECK_FALSE(stage.suits({{1, 131073, 1}}));
  }
}

TEST_CASE("03: counts equal the H200's counters at 256 x 4096") {
  check_counters(kChapter, {{256, 4096, 1}});
}

TEST_CASE("03: ties, zeros, overflow, infinities and NaN are what the chapter says they are") {
  check_values(fill_special, {{{48, 16, 1}}, {{48, 33, 1}}, {{48, 1024, 1}}, {{4, 40000, 1}}});
}

TEST_CASE("03: next to a tie every stage takes the step that the division takes") {
  check_values(fill_near_ties, {{{512, 256, 1}}, {{256, 255, 1}}, {{5, 20004, 1}}});
}

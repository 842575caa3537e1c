// Chapter 03 on the CPU device: every stage right at hostile shapes, alignments and values, and counting what
// its formula says.
#include "catch.hpp"
#include "chapters/quantize_values.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/run_stage.hpp"

namespace cpu::quantize_int8 {
workbook::Chapter chapter();
}

namespace {

using namespace workbook;

const Chapter kChapter = cpu::quantize_int8::chapter();

template <class Check>
void for_each_stage(Check check) {
  for (int i = 0; i < kChapter.stage_count; ++i)
    if (kChapter.stages[i].run) check(kChapter.stages[i]);
}

void check_values(void (*fill)(const Data&), const std::vector<Shape>& shapes) {
  Chapter chapter = kChapter;
  chapter.fill = fill;
  const auto backend = make_cpu_backend();
  for (const Shape& shape : shapes) {
    Problem problem(chapter, shape, *backend);
    for_each_stage([&](const Stage& stage) {
      const StageResult result = problem.check(stage);
      INFO(stage.name << ", " << shape.dims[0] << " x " << shape.dims[1] << ": " << result.message);
      CHECK(result.status == "ok");
    });
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
    for_each_stage([&](const Stage& stage) {
      if (stage.suits && !stage.suits(shape)) return;
      const StageResult result = problem.check(stage);
      INFO(stage.name << ", " << shape.dims[0] << " x " << shape.dims[1] << ": " << result.message);
      CHECK(result.status == "ok");
      if (result.counts.approximate) return;
      const Traffic expected = stage.traffic(shape);
      CHECK(32 * result.counts.load_sectors == expected.read_bytes);
      CHECK(32 * result.counts.store_sectors == expected.write_bytes);
    });
  }
}

TEST_CASE("03: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int columns : {1, 4, 31, 64, 515, 2048})
    for (std::size_t x = 0; x < 16; x += 4)
      for (std::size_t q = 0; q < 16; ++q) {
        Problem problem(kChapter, {{2, columns, 1}}, *backend,
                        {{"x", x}, {"q", q}, {"q_rows", q}, {"scales", x}});
        for_each_stage([&](const Stage& stage) {
          const StageResult result = problem.check(stage);
          INFO(stage.name << ", 2 x " << columns << ", offsets " << x << " " << q << ": " << result.message);
          CHECK(result.status == "ok");
        });
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

// Chapter 04 on the CPU device: every stage right at hostile shapes, alignments and values, and counting what
// its formula says.
#include <cmath>

#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/layernorm_values.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/run_stage.hpp"

namespace cpu::relu_layernorm {
workbook::Chapter chapter();
}

namespace {

using namespace workbook;

const Chapter kChapter = cpu::relu_layernorm::chapter();

/// The result of every stage that computes `output`.
void check_values(void (*fill)(const Data&), const char* output, const std::vector<Shape>& shapes) {
  Chapter chapter = kChapter;
  chapter.fill = fill;
  const auto backend = make_cpu_backend();
  for (const Shape& shape : shapes) {
    Problem problem(chapter, shape, *backend);
    const auto computes_it = [&](const Stage& stage) { return std::string(stage.output) == output; };
    check_stages(chapter, problem, shape, computes_it, no_more);
  }
}

const std::vector<Shape> kRowShapes = {{{5, 16, 1}},   {{5, 33, 1}},    {{5, 512, 1}},
                                       {{5, 4096, 1}}, {{5, 20000, 1}}, {{5, 8195, 1}}};

}  // namespace

TEST_CASE("04: every stage is right, and moves what its formula says, at hostile shapes") {
  const auto backend = make_cpu_backend();
  const Shape shapes[] = {{{1, 1, 1}},     {{3, 5, 1}},     {{7, 31, 1}},    {{33, 127, 1}},
                          {{1, 256, 1}},   {{255, 32, 1}},  {{1023, 3, 1}},  {{5, 1023, 1}},
                          {{2, 4097, 1}},  {{3, 8192, 1}},  {{9, 1000, 1}},  {{2, 20000, 1}},
                          {{1, 65536, 1}}, {{1, 65537, 1}}, {{2, 70000, 1}}, {{1, 262147, 1}}};
  for (const Shape& shape : shapes) {
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
      if (!result.counts.approximate) check_traffic(kChapter, stage, result, shape);
    });
  }
}

TEST_CASE("04: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int columns : {1, 4, 31, 64, 515, 2048})
    for (std::size_t x = 0; x < 16; x += 4)
      for (std::size_t y = 0; y < 16; y += 4) {
        const Shape shape = {{2, columns, 1}};
        Problem problem(kChapter, shape, *backend,
                        {{"x", x},
                         {"weight", y},
                         {"bias", x},
                         {"y", y},
                         {"y_last", y},
                         {"y_plain", y},
                         {"squares", x},
                         {"means", x},
                         {"column_squares", y},
                         {"x_float16", x},
                         {"y_float16", y},
                         {"x_bfloat16", y / 2},
                         {"y_bfloat16", x / 2}});
        INFO("offsets " << x << " " << y);
        check_stages(kChapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("04: the variance of a row far from 0 is right") {
  check_values(fill_far, "y", kRowShapes);
  check_values(fill_far, "y_plain", kRowShapes);
  check_values(fill_far, "y_last", kRowShapes);
}

TEST_CASE("04: constant rows, rows without a positive number, infinities and NaN") {
  check_values(fill_odd, "y", kRowShapes);
  check_values(fill_odd, "y_plain", kRowShapes);
  check_values(fill_odd, "y_last", kRowShapes);
}

TEST_CASE("04: the tree of stage 2 has bank conflicts, the others have none") {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{16, 1024, 1}}, *backend);
  for (int i = 0; i < 4; ++i) {
    const Counts counts = problem.check(kChapter.stages[i]).counts;
    const long long waves = counts.shared_load_wavefronts + counts.shared_store_wavefronts;
    INFO(kChapter.stages[i].name);
    if (i == 1) {
      // For each of 16 rows: 8 warps store their sums and at last load one. In the steps between, which have
      // two loads and a store, 4 warps add, then 2, then 1; the lanes that meet in a bank are 8 at most.
      CHECK(counts.shared_requests == 16 * (8 + 8 + 3 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1)));
      CHECK(waves == 16 * (8 + 8 + 3 * (4 * 2 + 2 * 4 + 8 + 8 + 8 + 4 + 2 + 1)));
    } else {
      CHECK(waves == counts.shared_requests);
    }
  }
}

TEST_CASE("04: counts equal the H200's counters at 2048 x 512") {
  // Where one thread alone uses the sum of its block, nvcc lets one warp alone read it.
  check_counters(kChapter, {{2048, 512, 1}}, {}, {"2_conflicts", "3_tree", "7_unfused"});
}

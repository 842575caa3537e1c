// The stages of chapter 04 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/layernorm_values.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::relu_layernorm {
workbook::Chapter chapter();
}

namespace {

bool normalises(const workbook::Stage& stage) { return stage.output[0] == 'y'; }

}  // namespace

TEST_CASE("gpu: 04: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::relu_layernorm::chapter();
  const workbook::Shape shapes[] = {{{1, 1, 1}},     {{3, 5, 1}},     {{7, 31, 1}},    {{33, 127, 1}},
                                    {{1023, 3, 1}},  {{5, 1023, 1}},  {{2, 4097, 1}},  {{2, 20000, 1}},
                                    {{1, 65536, 1}}, {{2, 70000, 1}}, {{1, 999983, 1}}};
  for (const workbook::Shape& shape : shapes)
    for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{0, 0}, {4, 12}, {12, 4}, {0, 8}}) {
      workbook::Problem problem(chapter, shape, *gpu,
                                {{"x", x}, {"y", y}, {"y_last", y}, {"y_plain", x}, {"weight", y}});
      check_stages(chapter, problem, shape, every_stage, no_more);
    }
}

TEST_CASE("gpu: 04: rows far from 0, constant ones, infinities and NaN") {
  const auto gpu = gpu_or_skip();
  workbook::Chapter chapter = gpu::relu_layernorm::chapter();
  chapter.has_exact_inputs = nullptr;
  for (const auto fill : {fill_far, fill_odd})
    for (const workbook::Shape& shape :
         {workbook::Shape{{6, 33, 1}}, {{6, 512, 1}}, {{6, 4096, 1}}, {{6, 20000, 1}}}) {
      chapter.fill = fill;
      workbook::Problem problem(chapter, shape, *gpu);
      check_stages(chapter, problem, shape, normalises, no_more);
    }
}

// The stages of chapter 03 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/quantize_values.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::quantize_int8 {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 03: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::quantize_int8::chapter();
  const workbook::Shape shapes[] = {{{1, 1, 1}},    {{3, 5, 1}},     {{7, 31, 1}},    {{33, 127, 1}},
                                    {{5, 1023, 1}}, {{2, 4097, 1}},  {{2, 20000, 1}}, {{3, 8192, 1}},
                                    {{9, 1000, 1}}, {{1, 65536, 1}}, {{2, 70000, 1}}, {{1, 999983, 1}}};
  for (const workbook::Shape& shape : shapes)
    for (const auto& [x, q] : {std::pair<std::size_t, std::size_t>{0, 0}, {4, 1}, {12, 3}, {4, 0}, {8, 2}}) {
      workbook::Problem problem(chapter, shape, *gpu, {{"x", x}, {"q", q}, {"q_rows", q}});
      INFO("offsets " << x << " " << q);
      check_stages(chapter, problem, shape, every_stage, no_more);
    }
}

TEST_CASE("gpu: 03: every stage is right at ties, next to them, and at what is no number") {
  const auto gpu = gpu_or_skip();
  workbook::Chapter chapter = gpu::quantize_int8::chapter();
  for (const auto fill : {fill_special, fill_near_ties})
    for (const workbook::Shape& shape :
         {workbook::Shape{{4096, 1024, 1}}, {{999, 255, 1}}, {{32, 40000, 1}}}) {
      chapter.fill = fill;
      workbook::Problem problem(chapter, shape, *gpu);
      check_stages(chapter, problem, shape, every_stage, no_more);
    }
}

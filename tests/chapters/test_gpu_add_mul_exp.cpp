// The stages of chapter 02 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::add_mul_exp {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 02: every stage is right at hostile sizes") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::add_mul_exp::chapter();
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 255, 256, 257, 1023, 999983, 4000037}) {
    const workbook::Shape shape = {{n, 1, 1}};
    workbook::Problem problem(chapter, shape, *gpu);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

TEST_CASE("gpu: 02: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::add_mul_exp::chapter();
  for (const int n : {1, 7, 9, 1023, 4099})
    for (std::size_t x = 0; x < 16; x += 2)
      for (const std::size_t y : {x, std::size_t{0}, std::size_t{6}}) {
        const workbook::Shape shape = {{n, 1, 1}};
        workbook::Problem problem(chapter, shape, *gpu,
                                  {{"x_float16", x},
                                   {"y_float16", y},
                                   {"out_float16", x},
                                   {"x_bfloat16", x},
                                   {"y_bfloat16", y},
                                   {"out_bfloat16", y},
                                   {"x", 2 * x},
                                   {"y", 2 * y},
                                   {"out", 2 * x}});
        INFO("offsets " << x << " " << y);
        check_stages(chapter, problem, shape, every_stage, no_more);
      }
}

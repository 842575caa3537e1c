// The stages of chapter 02 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::add_mul_exp {
workbook::Chapter chapter();
}

namespace {

void check_all_stages(workbook::Problem& problem, const std::string& what) {
  const workbook::Chapter chapter = gpu::add_mul_exp::chapter();
  for (int i = 0; i < chapter.stage_count; ++i) {
    const workbook::StageResult result = problem.check(chapter.stages[i]);
    INFO(chapter.stages[i].name << ", " << what << ": " << result.message);
    CHECK(result.status != "wrong");
  }
}

}  // namespace

TEST_CASE("gpu: 02: every stage is right at hostile sizes") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::add_mul_exp::chapter();
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 255, 256, 257, 1023, 999983, 4000037}) {
    workbook::Problem problem(chapter, {{n, 1, 1}}, *gpu);
    check_all_stages(problem, "n = " + std::to_string(n));
  }
}

TEST_CASE("gpu: 02: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::add_mul_exp::chapter();
  for (const int n : {1, 7, 9, 1023, 4099})
    for (std::size_t x = 0; x < 16; x += 2)
      for (const std::size_t y : {x, std::size_t{0}, std::size_t{6}}) {
        workbook::Problem problem(chapter, {{n, 1, 1}}, *gpu,
                                  {{"x_float16", x},
                                   {"y_float16", y},
                                   {"out_float16", x},
                                   {"x_bfloat16", x},
                                   {"y_bfloat16", y},
                                   {"out_bfloat16", y},
                                   {"x", 2 * x},
                                   {"y", 2 * y},
                                   {"out", 2 * x}});
        check_all_stages(problem, "n = " + std::to_string(n));
      }
}

// The stages of chapter 00 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::first_kernel {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 00: every stage is right at hostile sizes") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::first_kernel::chapter();
  for (const int n : {1, 2, 3, 4, 5, 31, 32, 33, 127, 255, 256, 257, 1023, 2049, 999983}) {
    const workbook::Shape shape = {{n, 1, 1}};
    workbook::Problem problem(chapter, shape, *gpu);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

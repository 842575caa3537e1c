// The stages of chapter 10 on as many GPUs as there are. Without one every test here is reported as skipped,
// with the reason.
#include <algorithm>

#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::several_gpus {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 10: every stage is right at hostile shapes, again and again") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::several_gpus::chapter();
  for (int gpus = 1; gpus <= gpu->gpus(); ++gpus)
    for (const auto& [rows, columns] :
         {std::pair{1, 8}, {6, 24}, {12, 1000}, {840, 264}, {16, 16384}, {512, 8200}, {2000, 8192}}) {
      const workbook::Shape shape = {{gpus, rows, columns}};
      workbook::Problem problem(chapter, shape, *gpu);
      check_stages(chapter, problem, shape, every_stage, [&](const workbook::Stage& stage, const auto&) {
        for (int i = 0; i < 5; ++i) problem.run_once(stage);
        CHECK(problem.check(stage).status == workbook::Status::kOk);
      });
    }
}

// The stages of chapter 10 on as many GPUs as there are. Without one every test here is reported as skipped,
// with the reason.
#include <chrono>
#include <iostream>
#include <thread>

#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/problem.hpp"

namespace gpu::several_gpus {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 10: every stage is right at hostile shapes, again and again", "[alone]") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::several_gpus::chapter();
  for (int gpus = 1; gpus <= gpu->gpus(); ++gpus)
    for (const auto& [rows, columns] :
         {std::pair{1, 8}, {6, 24}, {12, 1000}, {840, 480}, {16, 16384}, {512, 8200}, {1200, 4032}}) {
      const workbook::Shape shape = {{gpus, rows, columns}};
      workbook::Problem problem(chapter, shape, *gpu);
      check_stages(chapter, problem, shape, every_stage, [&](const workbook::Stage& stage, const auto&) {
        for (int i = 0; i < 5; ++i) problem.run_once(stage);
        CHECK(problem.check(stage).status == workbook::Status::kOk);
      });
    }
}

TEST_CASE("gpu: 10: another GPU's array is filled before it is used", "[alone]") {
  const auto gpu = gpu_or_skip();
  if (gpu->gpus() < 2) {
    std::cout << "SKIPPED: another GPU's array is filled before it is used: there is one GPU" << std::endl;
    return;
  }
  constexpr std::size_t kBytes = std::size_t{1} << 30;  // takes longer to fill than a copy takes to begin
  auto* const array = static_cast<char*>(gpu->allocate(kBytes, 0, "array", 1, 1));
  gpu->fill(array, 0xff, kBytes);
  const int sent = 7;
  gpu->upload(array + kBytes - sizeof sent, &sent, sizeof sent);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // by now the array has been filled
  int got = 0;
  gpu->download(&got, array + kBytes - sizeof got, sizeof got);
  gpu->release(array);
  CHECK(got == sent);
}

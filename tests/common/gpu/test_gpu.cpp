// The backend of a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::multiply_add {
workbook::Chapter chapter();
}

namespace {

using namespace workbook;

const Chapter kMultiplyAdd = gpu::multiply_add::chapter();

}  // namespace

TEST_CASE("gpu: a write outside an array is caught") {
  const auto gpu = gpu_or_skip();
  Stage stage = kMultiplyAdd.stages[1];
  stage.run = [](const Data& data) {
    Data more = data;
    more.shape.dims[0] += 1;
    kMultiplyAdd.stages[1].run(more);
  };
  Problem problem(kMultiplyAdd, {{1000, 1, 1}}, *gpu);
  const StageResult result = problem.check(stage);
  CHECK(result.status == workbook::Status::kWrong);
  CHECK_THAT(result.message, ContainsSubstring("just outside array out"));
}

TEST_CASE("gpu: host code that allocates, copies and launches runs, as in ./workbook play") {
  const auto gpu = gpu_or_skip();
  gpu->run_uncounted([&] {
    Problem problem(kMultiplyAdd, {{1000, 1, 1}}, *gpu);
    CHECK(problem.check(kMultiplyAdd.stages[1]).status == workbook::Status::kOk);
  });
}

TEST_CASE("gpu: the sum is the same to the bit in every run") {
  const auto gpu = gpu_or_skip();
  Problem problem(kMultiplyAdd, {{10'000'019, 1, 1}}, *gpu);
  const double error = problem.check(kMultiplyAdd.stages[4]).error;
  for (int run = 0; run < 5; ++run) CHECK(problem.check(kMultiplyAdd.stages[4]).error == error);
}

TEST_CASE("gpu: timing fills in every field, and cold is not faster than warm") {
  const auto gpu = gpu_or_skip();
  Problem problem(kMultiplyAdd, {{1 << 20, 1, 1}}, *gpu);
  std::vector<StageResult> results;
  for (int i = 0; i < kMultiplyAdd.stage_count; ++i) results.push_back(problem.check(kMultiplyAdd.stages[i]));
  problem.time(*gpu, results);
  for (const StageResult& result : results) {
    INFO(result.stage->name << ": " << result.message);
    CHECK(result.status == workbook::Status::kOk);
    CHECK(result.timed);
    CHECK(result.time.cold.samples >= 20);
    CHECK(result.time.cold.p25 <= result.time.cold.median);
    CHECK(result.time.cold.median <= result.time.cold.p75);
    CHECK(result.time.warm.median < result.time.cold.median);  // 16 MiB fit in the L2 of a data-centre card
    CHECK(problem.resources(*gpu, *result.stage).size() == static_cast<std::size_t>(result.stage->kernels));
  }
}

// The stages of chapter 01 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::multiply_add {
workbook::Chapter chapter();
}

namespace {

using namespace workbook;

const Chapter kMultiplyAdd = gpu::multiply_add::chapter();

}  // namespace

TEST_CASE("gpu: 01: every stage is right at hostile sizes") {
  const auto gpu = gpu_or_skip();
  for (const int n : {1, 2, 3, 4, 5, 31, 32, 33, 127, 255, 256, 257, 1023, 999983}) {
    const Shape shape = {{n, 1, 1}};
    Problem problem(kMultiplyAdd, shape, *gpu);
    check_stages(kMultiplyAdd, problem, shape, every_stage, no_more);
  }
}

TEST_CASE("gpu: 01: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  for (const int n : {1, 3, 4, 7, 33, 1023, 4099})
    for (std::size_t q = 0; q < 16; q += 4)
      for (std::size_t k = 0; k < 16; k += 4)
        for (const auto& [v, out] : {std::pair<std::size_t, std::size_t>{q, q}, {q, k}, {k, q}, {8, 4}}) {
          const Shape shape = {{n, 1, 1}};
          Problem problem(kMultiplyAdd, shape, *gpu, {{"q", q}, {"k", k}, {"v", v}, {"out", out}});
          check_stages(kMultiplyAdd, problem, shape, every_stage, no_more);
        }
}

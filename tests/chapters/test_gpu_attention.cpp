// The stages of chapter 08 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/attention_values.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::attention {
workbook::Chapter chapter();
}

using workbook::Problem;
using workbook::Shape;

TEST_CASE("gpu: 08: every stage is right at hostile shapes") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::attention::chapter();
  for (const Shape& shape : kHostileShapes) {
    Problem problem(chapter, shape, *gpu);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

TEST_CASE("gpu: 08: every stage is right with many blocks, and with many keys") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::attention::chapter();
  for (const Shape& shape : {Shape{{64, 64, 300, 520, 64}}, Shape{{32, 8, 1, 20000, 128}}}) {
    Problem problem(chapter, shape, *gpu);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

TEST_CASE("gpu: 08: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::attention::chapter();
  for (const int d : {8, 12, 13})
    for (const std::size_t q : {0, 4, 8})
      for (const std::size_t k : {0, 4, 12}) {
        INFO("offsets " << q << " " << k);
        const Shape shape = {{2, 1, 9, 20, d}};
        Problem problem(chapter, shape, *gpu, attention_offsets(q, k));
        const auto wanted = [&](const workbook::Stage& stage) {  // the TMA wants multiples of 16 bytes
          return stage.capability < 90 || q + k == 0;
        };
        check_stages(chapter, problem, shape, wanted, no_more);
      }
}

TEST_CASE("gpu: 08: equal weights, scores around 10000, a new maximum in each tile, and a NaN") {
  const auto gpu = gpu_or_skip();
  workbook::Chapter chapter = gpu::attention::chapter();
  chapter.has_exact_inputs = nullptr;
  for (const auto fill : {fill_equal_keys<gpu::attention::chapter>, fill_large<gpu::attention::chapter>,
                          fill_growing<gpu::attention::chapter>, fill_steep<gpu::attention::chapter>,
                          fill_nan<gpu::attention::chapter>})
    for (const Shape& shape :
         {Shape{{2, 1, 70, 300, 64}}, Shape{{1, 1, 5, 1, 16}}, Shape{{2, 1, 200, 600, 128}}}) {
      chapter.fill = fill;
      Problem problem(chapter, shape, *gpu);
      check_stages(chapter, problem, shape, every_stage, no_more);
    }
}

// The stages of chapter 05 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"

namespace gpu::linear_gelu {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 05: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::linear_gelu::chapter();
  const workbook::Shape shapes[] = {{{1, 1, 1}},      {{1, 37, 5}},     {{33, 17, 31}},    {{130, 18, 129}},
                                    {{129, 1000, 2}}, {{5, 512, 1027}}, {{300, 256, 260}}, {{256, 80, 384}}};
  for (const workbook::Shape& shape : shapes)
    for (const std::size_t offset : {0, 4, 12}) {
      workbook::Problem problem(chapter, shape, *gpu,
                                {{"x", offset}, {"w", 12 - offset}, {"product", offset}, {"y", 4}});
      const auto wanted = [&](const workbook::Stage& stage) {  // cuBLASLt wants aligned matrices
        return offset == 0 || std::string(stage.idea).rfind("library", 0) != 0;
      };
      check_stages(chapter, problem, shape, wanted, no_more);
    }
}

// The stages of chapter 06 on a GPU. Without one every test here is reported as skipped, with the reason.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/run_stage.hpp"
#include "kernels/occupant.hpp"

namespace gpu::tensor_cores {
workbook::Chapter chapter();
}

TEST_CASE("gpu: 06: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::tensor_cores::chapter();
  const workbook::Shape shapes[] = {{{1, 1, 1}},      {{1, 37, 5}},     {{33, 17, 31}},    {{130, 18, 129}},
                                    {{129, 1000, 2}}, {{5, 512, 1027}}, {{300, 256, 260}}, {{256, 80, 384}}};
  for (const workbook::Shape& shape : shapes)
    for (const std::size_t offset : {0, 4, 12}) {
      workbook::Problem problem(chapter, shape, *gpu, {{"x", offset}, {"w", 12 - offset}, {"y_tf32", 4}});
      const auto wanted = [&](const workbook::Stage& stage) {  // cuBLASLt wants aligned matrices
        return offset == 0 || std::string(stage.idea).rfind("library", 0) != 0;
      };
      check_stages(chapter, problem, shape, wanted, no_more);
    }
}

TEST_CASE("gpu: 06: the stages in bfloat16 are right where tiles are ragged, and blocks have several") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::tensor_cores::chapter();
  const workbook::Shape shapes[] = {{{1, 8, 8}},
                                    {{130, 72, 264}},
                                    {{300, 200, 520}},
                                    {{129, 4096, 16}},
                                    {{2100, 136, 2056}},
                                    {{4200, 64, 3000}},
                                    // On an H200, the last wave's 67 pairs, then 40, are divided among all
                                    // clusters.
                                    {{17000, 1544, 248}},
                                    {{13528, 3272, 504}}};
  for (const workbook::Shape& shape : shapes) {
    workbook::Problem problem(chapter, shape, *gpu);
    const auto wanted = [&](const workbook::Stage& stage) {
      return std::string(stage.output).find("bfloat16") != std::string::npos;
    };
    check_stages(chapter, problem, shape, wanted, no_more);
  }
}

TEST_CASE("gpu: 06: stream-K ends though another kernel keeps half of the GPU", "[alone]") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::tensor_cores::chapter();
  workbook::Problem problem(chapter, {{13528, 3272, 504}}, *gpu);
  const auto check_stream_k = [&](bool half_of_it) {
    for (int i = 0; i < chapter.stage_count; ++i) {
      const workbook::Stage& stage = chapter.stages[i];
      if (std::string(stage.name) != "10_stream_k") continue;
      const workbook::StageResult result = problem.check(stage);
      INFO((half_of_it ? "beside another kernel" : "alone"));
      CHECK((result.message == "" || result.status == workbook::Status::kSkipped));
    }
  };
  check_stream_k(false);
  gpu::test_kernels::Occupant occupant(66);  // half of an H200
  check_stream_k(true);
  CHECK(occupant.stop());
}

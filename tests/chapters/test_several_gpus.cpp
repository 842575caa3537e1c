// The stages of chapter 10 on virtual GPUs.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "harness/problem.hpp"

namespace cpu::several_gpus {
workbook::Chapter chapter();
}

namespace test_several_gpus {
namespace {

using workbook::Chapter;
using workbook::make_cpu_backend;
using workbook::Problem;
using workbook::Shape;
using workbook::Stage;
using workbook::StageResult;

const Chapter kChapter = cpu::several_gpus::chapter();

bool is_skipped_at(const Shape& shape, const std::string& name) {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, shape, *backend);
  return problem.check(stage_named(kChapter, name)).status == workbook::Status::kSkipped;
}

}  // namespace

TEST_CASE("10: every stage is right, and moves what its formula says, at hostile shapes") {
  const auto backend = make_cpu_backend();
  // Rows that begin in the middle of a sector, that no warp fills, that a thread has two and four pieces of.
  const Shape shapes[] = {{{1, 1, 8}},    {{1, 3, 1000}},  {{2, 1, 8}},    {{2, 2, 24}},    {{2, 5, 1000}},
                          {{2, 6, 264}},  {{3, 6, 16}},    {{3, 9, 1032}}, {{4, 8, 256}},   {{5, 10, 40}},
                          {{8, 8, 8}},    {{8, 16, 136}},  {{8, 1, 520}},  {{2, 2, 16384}}, {{2, 2, 8200}},
                          {{2, 300, 64}}, {{2, 1200, 16}}, {{7, 14, 512}}};
  for (const Shape& shape : shapes) {
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
      check_traffic(kChapter, stage, result, shape);
    });
  }
}

TEST_CASE("10: a stage can run again and again on the same state") {
  const Shape shape = {{3, 6, 72}};
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, shape, *backend);
  const auto run_again = [&](const Stage& stage, const StageResult& result) {
    for (int i = 0; i < 4; ++i) CHECK(problem.run_once(stage).store_sectors == result.counts.store_sectors);
  };
  check_stages(kChapter, problem, shape, every_stage, run_again);
}

TEST_CASE("10: stages say which shapes they suit") {
  CHECK(is_skipped_at({{2, 3, 64}}, "04_two_shot"));
  CHECK_FALSE(is_skipped_at({{2, 4, 64}}, "04_two_shot"));
  CHECK(is_skipped_at({{2, 513, 8}}, "05_mail"));
  CHECK_FALSE(is_skipped_at({{2, 512, 8}}, "05_mail"));
  CHECK(is_skipped_at({{2, 1, 12}}, "02_one_shot"));
  CHECK_FALSE(is_skipped_at({{2, 1, 12}}, "03_float32"));
  CHECK(is_skipped_at({{9, 9, 8}}, "02_one_shot"));
  CHECK(is_skipped_at({{2, 1, 32776}}, "02_one_shot"));
}

}  // namespace test_several_gpus

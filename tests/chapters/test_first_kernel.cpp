// The stages of chapter 00 on the CPU device: right at hostile sizes and alignments, and counting what their
// formulas say.
#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "workbook.hpp"

namespace cpu::first_kernel {
workbook::Chapter chapter();
}

namespace test_first_kernel {
namespace {

using namespace workbook;

const Chapter kFirstKernel = cpu::first_kernel::chapter();

}  // namespace

TEST_CASE("00: every stage is right, and moves what its formula says, at hostile sizes") {
  const auto backend = make_cpu_backend();
  // Up to 2048 elements, the parts of stage 1 are smaller than a sector.
  for (const int n : {1,   2,   3,    4,    5,    8,    31,   32,   33,   127,  255,   256,
                      257, 511, 1023, 1280, 1543, 1792, 2047, 2048, 2049, 2305, 999983}) {
    const Shape shape = {{n, 1, 1}};
    Problem problem(kFirstKernel, shape, *backend);
    check_stages(kFirstKernel, problem, shape, every_stage,
                 [&](const Stage& stage, const StageResult& result) {
                   check_traffic(kFirstKernel, stage, result, shape);
                 });
  }
}

TEST_CASE("00: counts equal the H200's counters at n = 2^20") {
  check_counters(kFirstKernel, {{1 << 20, 1, 1}});
}

TEST_CASE("00: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int n : {1, 7, 33, 1023})
    for (std::size_t x = 0; x < 32; x += 4)
      for (std::size_t out = 0; out < 32; out += 4) {
        const Shape shape = {{n, 1, 1}};
        Problem problem(kFirstKernel, shape, *backend, {{"x", x}, {"out", out}});
        INFO("offsets " << x << " " << out);
        check_stages(kFirstKernel, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("00: all stages make the same requests, and those of stage 1 take eight times the sectors") {
  const auto backend = make_cpu_backend();
  constexpr int n = 1 << 16;
  const Shape shape = {{n, 1, 1}};
  Problem problem(kFirstKernel, shape, *backend);
  check_stages(kFirstKernel, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
    const Counts& counts = result.counts;
    const int sectors = std::string(stage.name) == "01_one_block" ? 32 : 4;  // per request
    CHECK(counts.load_requests == n / 32);
    CHECK(counts.store_requests == n / 32);
    CHECK(counts.load_sectors == sectors * counts.load_requests);
    CHECK(counts.store_sectors == sectors * counts.store_requests);
    CHECK_FALSE(counts.approximate);
  });
}

TEST_CASE("00: a newcomer begins here") {
  Workbook workbook = find_workbook();
  workbook.state_folder = "/nobody has solved anything here";
  REQUIRE(workbook.next_open());
  CHECK(workbook.next_open()->id() == "00.1_guard");
  CHECK(workbook.chapters.front() == kFirstKernel.name);
}

}  // namespace test_first_kernel

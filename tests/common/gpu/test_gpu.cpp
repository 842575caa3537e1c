// The backend of a GPU. Without one every test here is reported as skipped, with the reason.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/problem.hpp"
#include "harness/run_chapter.hpp"
#include "harness/take_turns.hpp"

namespace gpu::multiply_add {
workbook::Chapter chapter();
}
namespace gpu::test_kernels {
void copy_below_or_fail(const int* in, int* out, int limit, bool traps);
}

namespace {

using namespace workbook;

const Chapter kMultiplyAdd = gpu::multiply_add::chapter();

/// Names the mistake of the chapter that a test runs in a process of its own: no later test could use the
/// GPU.
constexpr const char* kMistake = "WORKBOOK_TEST_MISTAKE";

/// Launches a kernel that fails at the chapter's numbers, seen as integers.
void fail(const Data& data, bool traps) {
  gpu::test_kernels::copy_below_or_fail(reinterpret_cast<const int*>(floats(data, "q")),
                                        reinterpret_cast<int*>(floats(data, "out")), -0x7fffffff, traps);
}

/// Runs the chapter with that mistake in its second stage, and ends the process with its exit status.
[[noreturn]] void run_with_mistake(const std::string& mistake) {
  std::vector<Stage> stages(kMultiplyAdd.stages.begin(), kMultiplyAdd.stages.end());
  stages[1].run = mistake == "trap" ? [](const Data& data) { fail(data, true); }
                                    : [](const Data& data) { fail(data, false); };
  Chapter chapter = kMultiplyAdd;
  chapter.stages = {stages.data(), kMultiplyAdd.stages.count};
  const char* const argv[] = {"chapter", "--device", "gpu", "--size", "1000"};
  std::exit(run_chapter(5, argv, chapter, &chapter));
}

/// The output of this test program, and how it ends, when it runs `test` with a mistake.
struct Ended {
  std::string output;  // every gap between words is one space: where lines are wrapped depends on the path
  int status;
};
Ended with_mistake(const std::string& test, const std::string& mistake) {
  const std::string command = std::string(kMistake) + "=" + mistake + " /proc/" + std::to_string(getpid()) +
                              "/exe '" + test + "' 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  char text[4096];
  while (fgets(text, sizeof text, pipe)) output += text;
  const int status = pclose(pipe);
  output = std::regex_replace(output, std::regex("\\s+"), " ");
  return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

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

TEST_CASE("gpu: timing fills in every field, and cold is not faster than warm", "[alone]") {
  const auto gpu = gpu_or_skip();
  Problem problem(kMultiplyAdd, {{1 << 20, 1, 1}}, *gpu);
  std::vector<StageResult> results;
  for (const Stage& stage : kMultiplyAdd.stages) results.push_back(problem.check(stage));
  gpu::SensorLog sensors(gpu->info().uuid);
  problem.time(*gpu, sensors, false, results);
  for (const StageResult& result : results) {
    INFO(result.stage->name << ": " << result.message);
    CHECK(result.status == workbook::Status::kOk);
    CHECK(result.timed);
    CHECK(result.time.cold.samples.size() >= 20);
    CHECK(result.time.cold.p25 <= result.time.cold.median);
    CHECK(result.time.cold.median <= result.time.cold.p75);
    CHECK(result.time.warm.median < result.time.cold.median);  // 16 MiB fit in the L2 of a data-centre card
    CHECK(problem.resources(*gpu, *result.stage).size() == static_cast<std::size_t>(result.stage->kernels));
  }
}

TEST_CASE("gpu: ceilings are measured in the same run, and no stage is above its own", "[alone]") {
  const auto gpu = gpu_or_skip();
  Problem problem(kMultiplyAdd, {{1 << 26, 1, 1}}, *gpu);  // 1.1 GB: many times the L2 cache
  std::vector<StageResult> results;
  for (const Stage& stage : kMultiplyAdd.stages) results.push_back(problem.check(stage));
  gpu::SensorLog sensors(gpu->info().uuid);
  problem.time(*gpu, sensors, false, results);
  for (const StageResult& result : results) {
    INFO(result.stage->name << ": " << result.share_of_ceiling.median << " of " << result.ceiling_kernel);
    CHECK_FALSE(result.ceiling_kernel.empty());
    CHECK(result.ceiling.samples.size() == result.time.cold.samples.size());
    CHECK(result.share_of_ceiling.interval);
    CHECK(result.share_of_ceiling.median > 0.5);
    CHECK_FALSE(result.above_ceiling);
    CHECK(result.time.burst_clocks.has_value() == sensors.why_none().empty());
  }
}

TEST_CASE("gpu: no streaming kernel is faster than the memory's pins, and the best is not far from them",
          "[alone]") {
  const auto gpu = gpu_or_skip();
  const double pins = gpu->info().pin_gbytes_per_s;
  for (int reads = 1; reads <= 5; ++reads)
    for (int writes = 0; writes <= 2; ++writes) {
      const long long count = 1LL << 26;
      const auto ways = gpu->ceilings({{reads, writes, count}}).front();
      const auto turns = gpu->turns(ways, 2);
      double best = 0;
      for (std::size_t way = 0; way < ways.size(); ++way) {
        const double bytes = 4.0 * static_cast<double>(count) * (reads + writes);
        CHECK(static_cast<double>(ways[way].set_bytes) == bytes);
        const double rate = bytes / turns->cold_us(way) * 1e-3;
        INFO(reads << " reads, " << writes << " writes, " << ways[way].name << ": " << rate << " GB/s");
        CHECK(rate < pins);  // else loads were left out
        best = std::max(best, rate);
      }
      INFO(reads << " reads, " << writes << " writes: " << best << " GB/s");
      CHECK(best > 0.75 * pins);
    }
}

TEST_CASE("gpu: sustained times are of cold inputs, with the clocks that they were taken at", "[alone]") {
  const auto gpu = gpu_or_skip();
  Problem problem(kMultiplyAdd, {{1 << 22, 1, 1}}, *gpu);
  std::vector<StageResult> results = {problem.check(kMultiplyAdd.stages[1]),
                                      problem.check(kMultiplyAdd.stages[2])};
  gpu::SensorLog sensors(gpu->info().uuid);
  problem.time(*gpu, sensors, true, results);
  for (const StageResult& result : results) {
    INFO(result.stage->name << ": " << result.time.cold.median << " us in bursts, "
                            << result.time.sustained.median << " us sustained; " << sensors.why_none());
    CHECK(result.time.sustained.samples.size() == 9);
    CHECK(result.time.sustained.median > 0.9 * result.time.cold.median);
    CHECK(result.time.sustained.median < 1.5 * result.time.cold.median);
    REQUIRE(result.time.sustained_clocks.has_value() == sensors.why_none().empty());
    if (!result.time.sustained_clocks) continue;
    CHECK(result.time.sustained_clocks->sm_clock_mhz > 200);
    CHECK(result.time.sustained_clocks->sm_clock_mhz <= gpu->info().sm_clock_mhz);
    CHECK(result.time.sustained_clocks->power_w > 10);
    CHECK(result.time.sustained_clocks->power_w < 2000);
  }
}

TEST_CASE("gpu: another program may say whose turn it is, and too small a stage has no sustained time",
          "[alone]") {
  const auto gpu = gpu_or_skip();
  const auto answers = [&](int n) {
    Problem problem(kMultiplyAdd, {{n, 1, 1}}, *gpu);
    const auto turns = problem.turns(*gpu, {&kMultiplyAdd.stages[1]});
    gpu::SensorLog sensors(gpu->info().uuid);
    std::istringstream in("burst fused\nsustained fused\n");
    std::ostringstream out;
    take_turns(*turns, sensors, {"fused"}, in, out);
    return out.str();
  };
  const std::string large = answers(1 << 22), small = answers(1000);
  INFO(large << small);
  CHECK(large.find("error") == std::string::npos);
  CHECK_THAT(large, ContainsSubstring("\"sm_clock_mhz\":"));
  CHECK_THAT(small, ContainsSubstring("too small"));
}

TEST_CASE("gpu: its UUID is the one that nvidia-smi shows") {
  const auto gpu = gpu_or_skip();
  FILE* pipe = popen("nvidia-smi --query-gpu=uuid --format=csv,noheader 2>/dev/null", "r");
  REQUIRE(pipe);
  std::string listed;
  char text[256];
  while (fgets(text, sizeof text, pipe)) listed += text;
  CHECK(gpu->info().uuid.size() == std::string("GPU-01234567-89ab-cdef-0123-456789abcdef").size());
  if (pclose(pipe) == 0) CHECK_THAT(listed, ContainsSubstring(gpu->info().uuid));
}

TEST_CASE("gpu: an assert that fails and __trap() end a chapter with one line, and exit status 1") {
  const auto gpu = gpu_or_skip();
  if (const char* mistake = std::getenv(kMistake)) run_with_mistake(mistake);
  const std::string self = "gpu: an assert that fails and __trap() end*";
  const Ended failed = with_mistake(self, "assert");
  INFO(failed.output);
  CHECK(failed.status == 1);
  CHECK_THAT(failed.output, ContainsSubstring("Assertion `value < limit` failed."));
  CHECK_THAT(failed.output,
             ContainsSubstring("01_multiply_add: stage " + std::string(kMultiplyAdd.stages[1].name)));
  CHECK_THAT(failed.output,
             ContainsSubstring("cudaErrorAssert (device-side assert triggered): the lines before"));
  const Ended trapped = with_mistake(self, "trap");
  INFO(trapped.output);
  CHECK(trapped.status == 1);
  CHECK_THAT(trapped.output, ContainsSubstring("did a kernel execute __trap()?"));
  CHECK(trapped.output.find("01_multiply_add: ") == trapped.output.rfind("01_multiply_add: "));
}

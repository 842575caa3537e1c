// Timing without a GPU: the order of the turns, requests of other programs, and the statistics.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "catch.hpp"
#include "gpu/statistics.hpp"
#include "harness/measure.hpp"
#include "harness/tables/clocks_json.hpp"
#include "harness/tables/report.hpp"
#include "harness/take_turns.hpp"
#include "paths.hpp"

namespace cpu::multiply_add {
workbook::Chapter chapter();
}
namespace cpu::tensor_cores {
workbook::Chapter chapter();
}

namespace test_measure {
namespace {

using namespace workbook;

/// A GPU's turns without a GPU: contender i takes 10 * (i + 1) us, and everything slows down turn by turn.
struct PretendedTurns : gpu::Turns {
  double cold_us(std::size_t i) override { return turn(i, "cold"); }
  double warm_us(std::size_t i) override { return turn(i, "warm"); }
  double launched_us(std::size_t i) override { return turn(i, "launched"); }
  bool can_sustain(std::size_t i) const override { return i != 1; }
  double sustained_us(std::size_t i, gpu::SensorLog&) override { return turn(i, "sustained"); }

  double turn(std::size_t i, const std::string& regime) {
    taken.push_back({regime, i});
    return 10 * static_cast<double>(i + 1) * (1 + 1e-3 * static_cast<double>(taken.size()));
  }
  std::vector<std::size_t> order(const std::string& regime) const {
    std::vector<std::size_t> found;
    for (const auto& [of, i] : taken)
      if (of == regime) found.push_back(i);
    return found;
  }

  std::vector<std::pair<std::string, std::size_t>> taken;
};

/// The rounds of `count` contenders each.
std::vector<std::vector<std::size_t>> rounds(const std::vector<std::size_t>& order, std::size_t count) {
  std::vector<std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < order.size(); i += count)
    found.emplace_back(order.begin() + static_cast<long>(i), order.begin() + static_cast<long>(i + count));
  return found;
}

/// Checks that every contender has one turn in each round, and that the order changes.
void check_rounds(const std::vector<std::vector<std::size_t>>& rounds, std::vector<std::size_t> contenders) {
  std::set<std::vector<std::size_t>> orders(rounds.begin(), rounds.end());
  CHECK(orders.size() > 1);
  for (std::vector<std::size_t> round : rounds) {
    std::sort(round.begin(), round.end());
    CHECK(round == contenders);
  }
}

// --- Results as they come from a GPU ---

const Chapter kMultiplyAdd = cpu::multiply_add::chapter();

/// Samples around `us`, in an order that depends on `seed`.
Timing about(double us, int seed = 7) {
  std::vector<double> samples;
  for (int i = 0; i < 25; ++i) samples.push_back(us * (1 + 1e-4 * (i * seed % 25 - 12)));
  return summarise(samples);
}

StageResult timed(const Chapter& chapter, int stage, double us, double ceiling) {
  StageResult result;
  result.stage = &chapter.stages[stage];
  result.status = Status::kOk;
  result.compared = true;
  result.error = 6e-8;
  result.timed = true;
  result.time.cold = result.time.warm = result.time.launched = about(us);
  result.ceiling = about(ceiling);
  result.share_of_ceiling = paired_ratio(result.ceiling.samples, result.time.cold.samples);
  return result;
}

Report report_of(const Chapter& chapter, const Shape& shape, std::vector<StageResult> stages) {
  Report report = {&chapter, {}, {}};
  report.device.kind = DeviceKind::kGpu;
  report.device.name = "NVIDIA H200";
  report.device.uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  report.device.pin_gbytes_per_s = 4800;
  report.shapes.push_back({shape, std::move(stages), {}, ""});
  return report;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

}  // namespace

TEST_CASE("bursts: every contender has a turn in each of 25 rounds, ceilings cold alone") {
  PretendedTurns turns;
  gpu::SensorLog sensors("GPU-none", "libnone-of-that-name.so");
  const auto timings = time_bursts(turns, sensors, 3, 5);
  check_rounds(rounds(turns.order("cold"), 5), {0, 1, 2, 3, 4});
  check_rounds(rounds(turns.order("warm"), 3), {0, 1, 2});
  CHECK(turns.order("cold").size() == 26 * 5);  // the first round is not kept
  REQUIRE(timings.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(timings[i].cold.samples.size() == 25);
    CHECK(timings[i].warm.samples.size() == (i < 3 ? 25 : 0));
    CHECK(timings[i].launched.samples.size() == (i < 3 ? 25 : 0));
    CHECK_FALSE(timings[i].burst_clocks);
  }
  // Sample i of two contenders is of the same round: a drift of 30 % over the run hardly shows in their
  // ratio.
  CHECK(timings[0].cold.samples.back() > 1.25 * timings[0].cold.samples.front());
  const Ratio ratio = paired_ratio(timings[1].cold.samples, timings[0].cold.samples);
  CHECK(std::fabs(ratio.median - 2) < 0.03);
  CHECK(ratio.interval->high - ratio.interval->low < 0.06);
}

TEST_CASE("sustained: 9 rounds, without those whose inputs would stay in the cache") {
  PretendedTurns turns;
  gpu::SensorLog sensors("GPU-none", "libnone-of-that-name.so");
  std::vector<ContenderTiming> timings(5);
  time_sustained(turns, sensors, 3, timings);
  check_rounds(rounds(turns.order("sustained"), 2), {0, 2});
  for (const std::size_t i : {0, 2}) CHECK(timings[i].sustained.samples.size() == 9);
  for (const std::size_t i : {1, 3, 4}) CHECK(timings[i].sustained.samples.empty());
}

TEST_CASE("sensors: averages, the names of throttle reasons, and why there is none") {
  CHECK_FALSE(gpu::averages({}));
  const auto clocks = gpu::averages({{1980, 3201, 500, 0x1}, {1780, 3201, 700, 0x4}});
  REQUIRE(clocks);
  CHECK(clocks->sm_clock_mhz == 1880);
  CHECK(clocks->memory_clock_mhz == 3201);
  CHECK(clocks->power_w == 600);
  CHECK(clocks->throttle_reasons == std::vector<std::string>{"gpu_idle", "sw_power_cap"});
  CHECK(gpu::throttle_reason_names(0x60) ==
        std::vector<std::string>{"sw_thermal_slowdown", "hw_thermal_slowdown"});
  gpu::SensorLog none("GPU-none", "libnone-of-that-name.so");
  CHECK_THAT(none.why_none(), ContainsSubstring("libnone-of-that-name.so"));
  none.start(0);
  none.stop();
  CHECK_FALSE(none.of(0));
}

TEST_CASE("sensors: readings belong to the contender that runs") {
  gpu::SensorLog log("GPU-pretended", pretended_nvml().c_str());
  CHECK(log.why_none() == "");
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  wait();
  log.start(3);
  wait();
  log.stop();
  const auto clocks = log.of(3);
  REQUIRE(clocks);
  CHECK(clocks->sm_clock_mhz == 1500);
  CHECK(clocks->memory_clock_mhz == 3000);
  CHECK(clocks->power_w == 345.5);
  CHECK(clocks->throttle_reasons == std::vector<std::string>{"sw_power_cap"});
  CHECK_FALSE(log.of(0));
  log.forget();
  wait();
  CHECK_FALSE(log.of(3));  // it has stopped
}

TEST_CASE("sensors: a GPU or a function that NVML does not have is named") {
  CHECK(gpu::SensorLog("GPU-other", pretended_nvml().c_str()).why_none() ==
        "nvmlDeviceGetHandleByUUID: Not Found");
  CHECK(gpu::SensorLog("GPU-pretended", "libc.so.6").why_none() == "nvmlInit_v2 is missing");
}

TEST_CASE("another program may say whose turn it is") {
  PretendedTurns turns;
  gpu::SensorLog sensors("GPU-none", "libnone-of-that-name.so");
  std::istringstream in(
      "burst b\nsustained a\nsustained b\nburst c\nburst\nwarm a\nburst a b\n\n\xff\nburst a\n");
  std::ostringstream out;
  take_turns(turns, sensors, {"a", "b"}, in, out);
  std::istringstream lines(out.str());
  std::vector<nlohmann::json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(nlohmann::json::parse(line));
  INFO(out.str());
  REQUIRE(answers.size() == 10);
  CHECK(answers[0] == nlohmann::json({{"us", turns.order("cold").front() == 1 ? 20 * 1.001 : 0}}));
  nlohmann::json sustained = clocks_json(std::nullopt);
  sustained["us"] = 10 * 1.002;
  CHECK(answers[1] == sustained);
  CHECK_THAT(answers[2]["error"].get<std::string>(), ContainsSubstring("b: its inputs are too small"));
  CHECK_THAT(answers[3]["error"].get<std::string>(), ContainsSubstring("c: ready are a, b"));
  for (const int i : {4, 5, 6, 7, 8})
    CHECK_THAT(answers[static_cast<std::size_t>(i)]["error"].get<std::string>(),
               ContainsSubstring("expected burst STAGE or sustained STAGE"));
  CHECK(answers[9] == nlohmann::json({{"us", 10 * 1.003}}));
}

TEST_CASE("a stage is above its ceiling where that is beyond doubt, and where a cache cannot be the reason") {
  const std::size_t l2 = 50'000'000;
  const Ratio above = {1.02, Interval{1.015, 1.025}, 25}, unsure = {1.01, Interval{0.999, 1.02}, 25};
  const Ratio by_place = {1.003, Interval{1.002, 1.004}, 25};
  const Traffic large = {4'000'000'000, 0}, small = {150'000'000, 0};
  CHECK(is_above_ceiling(above, large, 1, l2));
  CHECK_FALSE(is_above_ceiling(unsure, large, 1, l2));
  CHECK_FALSE(is_above_ceiling(by_place, large, 1, l2));
  CHECK_FALSE(is_above_ceiling({1.2, std::nullopt, 3}, large, 1, l2));
  CHECK_FALSE(is_above_ceiling({0.98, Interval{0.97, 0.99}, 25}, large, 1, l2));
  CHECK_FALSE(is_above_ceiling(above, small, 1, l2));
  // Two kernels: 100 MB of 4 GB may stay in the cache between them, 2.5 %.
  CHECK_FALSE(is_above_ceiling(above, large, 2, l2));
  CHECK(is_above_ceiling({1.04, Interval{1.035, 1.05}, 25}, large, 2, l2));
}

TEST_CASE("the bytes of a rate and a ceiling are those that no cache can spare") {
  Stage stage = kMultiplyAdd.stages[1];
  const Shape shape = {{1000, 1, 1}};
  const auto dram = [&] {
    const Traffic traffic = dram_traffic(kMultiplyAdd, stage, shape);
    CHECK(traffic.repeated_bytes == 0);
    return std::pair(traffic.read_bytes, traffic.write_bytes);
  };
  // One kernel: each input and output once, however often it reads them, and in whatever parts it writes.
  stage.traffic = [](const Shape& s) { return Traffic{36LL * s.dims[0], 8LL * s.dims[0]}; };
  CHECK(dram() == std::pair(12'000LL, 4'000LL));
  // Less than that, if it says so.
  stage.traffic = [](const Shape& s) { return Traffic{8LL * s.dims[0], 4LL * s.dims[0]}; };
  CHECK(dram() == std::pair(8'000LL, 4'000LL));
  // Several: what one leaves for the next counts, repeated and merged bytes do not.
  stage.kernels = 2;
  stage.traffic = [](const Shape& s) {
    return Traffic{40LL * s.dims[0], 36LL * s.dims[0], 20LL * s.dims[0], 28LL * s.dims[0]};
  };
  CHECK(dram() == std::pair(20'000LL, 8'000LL));
}

TEST_CASE("a table of times names its regime, marks what it must, and has at most 80 columns") {
  std::vector<StageResult> stages = {timed(kMultiplyAdd, 0, 12345.6, 12000),
                                     timed(kMultiplyAdd, 1, 12345.5, 12000),
                                     timed(kMultiplyAdd, 2, 9000, 9100), timed(kMultiplyAdd, 3, 8000, 7900)};
  stages[2].above_ceiling = true;
  stages[1].time.cold = about(12345.5, 3);
  Report report = report_of(kMultiplyAdd, {{1 << 28, 1, 1}}, stages);
  const std::string bursts = table_text(report, report.shapes[0]);
  INFO(bursts);
  for (const char* text :
       {"in bursts", "12345.6", " 1.00x", "~1.00x", "~ no difference", "1.37x", "100%!",
        "! faster than its ceiling, which is too low", "ceiling of 03_float4 is too low", "at 101.1 % of it"})
    CHECK_THAT(bursts, ContainsSubstring(text));
  CHECK(bursts.find("~1.54x") == std::string::npos);
  CHECK_THAT(bursts, ContainsSubstring("1.54x"));
  CHECK(bursts.find("sustained") == std::string::npos);
  CHECK(longest_line(bursts) <= 80);

  for (std::size_t i : {0, 1, 3})
    report.shapes[0].stages[i].time.sustained = about(12345.6 / static_cast<double>(i + 1));
  report.shapes[0].stages[0].time.sustained_clocks = Clocks{1755.4, 3201, 699.6, {"sw_power_cap"}};
  report.shapes[0].why_no_clocks = "libnvidia-ml.so.1 is missing";
  const std::string both = table_text(report, report.shapes[0]);
  INFO(both);
  for (const char* text : {"sustained", "1755", "3201", "700", "power", "too few bytes", "2.00x",
                           "Clocks and power are not known: libnvidia-ml.so.1 is missing."})
    CHECK_THAT(both, ContainsSubstring(text));
  CHECK(longest_line(both) <= 80);
}

TEST_CASE("the times that a card's bandwidth predicts stand beside those that were measured") {
  const Report report = report_of(kMultiplyAdd, {{1 << 28, 1, 1}}, {timed(kMultiplyAdd, 1, 1084.2, 960)});
  const std::string text = model_text(report, report.shapes[0], "a100-40");
  INFO(text);
  for (const char* part : {"NVIDIA A100-SXM4-40GB", "1555 GB/s", "measured: on NVIDIA H200", "measured us",
                           "4294967296  2762         1084"})
    CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("errors of 16-bit results are shown in units of the last place") {
  const Chapter chapter = cpu::tensor_cores::chapter();
  std::vector<StageResult> stages;
  for (int i = 0; i < chapter.stages.count; ++i) {
    stages.push_back(timed(chapter, i, 98765.4, 1000));
    stages.back().last_places = 0.504;
    stages.back().time.sustained = about(98765.4);
    stages.back().time.sustained_clocks = Clocks{1755, 3201, 700, {"sw_power_cap", "hw_thermal_slowdown"}};
  }
  stages[1].last_places = 47.6;
  const Report report = report_of(chapter, {{8192, 8192, 8192}}, stages);
  const std::string text = table_text(report, report.shapes[0]);
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("0.5ulp"));
  CHECK_THAT(text, ContainsSubstring("48ulp"));
  CHECK_THAT(text, ContainsSubstring("both"));
  CHECK(longest_line(text) <= 80);
}

TEST_CASE("the JSON of a run on a GPU has samples, ratios with their intervals, and clocks") {
  std::vector<StageResult> stages = {timed(kMultiplyAdd, 0, 30, 29), timed(kMultiplyAdd, 1, 20, 19)};
  stages[1].time.burst_clocks = Clocks{1980, 3201, 400, {}};
  stages[1].ceiling_kernel = "one of them";
  const auto run = nlohmann::json::parse(json_text(report_of(kMultiplyAdd, {{1 << 20, 1, 1}}, stages)))[0];
  CHECK(run["device"]["uuid"] == "GPU-01234567-89ab-cdef-0123-456789abcdef");
  const auto& stage = run["stages"][1];
  CHECK(stage["time_us"]["samples"] == 25);
  REQUIRE(stage["time_us"]["each"].size() == 25);
  CHECK(stage["time_us"]["each"][0] == 19.976);  // 20 * (1 - 0.0012)
  CHECK(stage["time_sustained_us"].is_null());
  CHECK(std::fabs(stage["speed_up"]["median"].get<double>() - 1.5) < 1e-9);
  CHECK(stage["speed_up"]["low"] <= stage["speed_up"]["median"]);
  CHECK(stage["speed_up"]["high"] >= stage["speed_up"]["median"]);
  CHECK(stage["speed_up"]["samples"] == 25);
  CHECK(stage["speed_up_sustained"].is_null());
  CHECK(stage["burst"]["sm_clock_mhz"] == 1980);
  CHECK(stage["sustained"]["power_w"].is_null());
  CHECK(stage["ceiling_kernel"] == "one of them");
  CHECK(stage["above_ceiling"] == false);
  CHECK(stage["error_last_places"].is_null());
  CHECK(stage["traffic"]["expected_dram_bytes"] == 16 << 20);
  CHECK(std::fabs(stage["gbytes_per_s"].get<double>() - (16 << 20) / 20e3) < 1e-6);
}

}  // namespace test_measure

/// \file
/// How fast the CPU device is: traced accesses per second of one core's time, with all its checks, and how
/// much sooner a launch ends on two cores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/kernels.hpp"
#include "kernels/published/published.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace {

namespace test_kernels = cpu::test_kernels;
constexpr int kRuns = 7, kN = 1 << 22, kSide = 256;

struct Benchmark {
  const char* name;
  void (*run)(const float* a, const float* b, float* out);  ///< arrays of kN elements
};

const Benchmark kBenchmarks[] = {
    {"streaming: out = a * b",
     [](const float* a, const float* b, float* out) { test_kernels::mul(a, b, out, kN); }},
    {"block reduction, a barrier every other access",
     [](const float* a, const float*, float* out) { test_kernels::reduce_butterfly(a, out, kN / 4); }},
    {"matrix product, 32x32 tiles in shared memory",
     [](const float* a, const float* b, float* out) {
       test_kernels::product_tiled(a, b, out, kSide, kSide, kSide);
     }},
};

struct Rate {
  long long accesses;         ///< of one run
  double million_per_second;  ///< median
};

/// Time that the program has computed: other programs on the machine do not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Rate measure(workbook::Backend& backend, const std::function<void()>& run) {
  std::vector<double> rates;
  long long accesses = 0;
  for (int i = 0; i < kRuns; ++i) {
    const double start = processor_seconds();
    accesses = backend.run(run).accesses;
    rates.push_back(static_cast<double>(accesses) / (processor_seconds() - start) * 1e-6);
  }
  std::sort(rates.begin(), rates.end());
  return {accesses, rates[kRuns / 2]};
}

double elapsed_seconds(workbook::Backend& backend, const char* cores, const std::function<void()>& run) {
  setenv("WORKBOOK_CORES", cores, 1);
  const auto start = std::chrono::steady_clock::now();
  backend.run(run);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How many times as fast the launch is on two cores: of the shortest times, in which other programs on the
/// machine took part the least. The first run only prepares.
double speed_up(workbook::Backend& backend, const std::function<void()>& run) {
  double one = INFINITY, two = INFINITY;
  for (int i = 0; i < kRuns; ++i) {
    one = std::min(one, elapsed_seconds(backend, "1", run));
    two = std::min(two, elapsed_seconds(backend, "2", run));
  }
  setenv("WORKBOOK_CORES", "1", 1);
  return one / two;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[sizeof "2000-01-01"];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

/// The processor's name, as Linux has it; empty where it has none.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Traced accesses a second of the CPU device, on one core, with all its checks; and its speed-up on "
      "two.");
  std::string path;
  app.add_option("--json", path, "a file for the results");
  CLI11_PARSE(app, argc, argv);

  setenv("WORKBOOK_CORES", "1", 1);
  const auto backend = workbook::make_cpu_backend();
  const auto a = DeviceArray<float>::counting(*backend, kN), b = DeviceArray<float>::counting(*backend, kN),
             out = DeviceArray<float>::counting(*backend, kN);
  nlohmann::ordered_json results = {
      {"processor", processor()}, {"compiler", __VERSION__}, {"date", today()}, {"runs", kRuns}};
  for (const Benchmark& benchmark : kBenchmarks) {
    const auto run = [&] { benchmark.run(a->data(), b->data(), out->data()); };
    const Rate rate = measure(*backend, run);
    const double two_cores = speed_up(*backend, run);
    fmt::print("{:46} {:6.1f} million traced accesses a second (median of {}); two cores: x {:.2f}\n",
               benchmark.name, rate.million_per_second, kRuns, two_cores);
    results["kernels"][benchmark.name] = {
        {"accesses", rate.accesses},
        {"million_per_second", std::round(rate.million_per_second * 10) / 10},
        {"two_cores", std::round(two_cores * 100) / 100}};
  }
  if (path.empty()) return 0;
  std::ofstream file(path);
  file << results.dump(1) << "\n";
  file.close();
  if (!file) {
    fmt::print(stderr, "--json {}: cannot be written\n", path);
    return 2;
  }
}

/// \file
/// Prints what the CPU device counts of the counted kernels, as JSON: docs/update.py sets it beside what
/// Nsight Compute counted. Arguments are the names of kernels, and `differences` for all whose counts may
/// differ; without any it counts every kernel. Exit status 2: there is no kernel of that name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/tables/derived_counts.hpp"
#include "tests/cpu_device/counted_on_cpu.hpp"

namespace {

using cpu::test_kernels::Difference;

/// Why the counts differ from the hardware's; empty where they do not.
const char* reason(Difference difference, const workbook::Counts& counts) {
  switch (difference) {
    case Difference::kNone:
      return "";
    case Difference::kApproximate:
      return counts.approximate ? "lanes go round a loop unequally often" : "";
    case Difference::kSharedMerged:
      return "nvcc merges neighbouring loads of shared memory";
    case Difference::kGlobalMerged:
      return "nvcc makes one load of those in two branches";
    case Difference::kUnrolled:
      return "nvcc unrolls a loop that lanes leave at different rounds";
    case Difference::kCopies:
      return "asynchronous copies of a shape whose cost is not known";
    case Difference::kContended:
      return "lanes of a warp update one address";
  }
  throw std::logic_error("a difference without a reason");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> unknown(argv + 1, argv + argc);
  const bool all_of_them = unknown.empty(), differences = std::erase(unknown, "differences") > 0;
  CountedOnCpu device;
  auto all = nlohmann::ordered_json::object();
  for (const auto& kernel : counted_kernels()) {
    const bool may_differ = kernel.difference != Difference::kNone;
    const bool is_named = std::erase(unknown, kernel.name) > 0;
    if (!is_named && !all_of_them && !(may_differ && differences)) continue;
    const workbook::Counts counts = device.run(kernel);
    all[kernel.name] = workbook::counts_json(&counts);
    all[kernel.name]["reason"] = reason(kernel.difference, counts);
  }
  if (!unknown.empty()) {
    fmt::print(stderr, "no kernel is called {}; tests/data/counters_h200.json has their names\n",
               fmt::join(unknown, ", "));
    return 2;
  }
  fmt::print("{}\n", all.dump(1));
}

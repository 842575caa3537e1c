/// \file
/// Prints what the CPU device counts of the counted kernels, as JSON: docs/update.py sets it beside what
/// Nsight Compute counted. Arguments are the names of kernels, and
/// `differences` are all whose counts may differ; without any it counts every kernel.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "common/cpu/counted_on_cpu.hpp"
#include "harness/derived_counts.hpp"

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
  const auto is_named = [&](const std::string& name) {
    return argc == 1 || std::find(argv + 1, argv + argc, name) != argv + argc;
  };
  CountedOnCpu device;
  auto all = nlohmann::ordered_json::object();
  for (const auto& kernel : counted_kernels()) {
    const bool may_differ = kernel.difference != Difference::kNone;
    if (!is_named(kernel.name) && !(may_differ && is_named("differences"))) continue;
    const workbook::Counts counts = device.run(kernel);
    all[kernel.name] = workbook::counts_json(&counts);
    all[kernel.name]["reason"] = reason(kernel.difference, counts);
  }
  fmt::print("{}\n", all.dump(1));
}

// The kernels that were counted on a GPU: the CPU device's counts are the hardware's, those of the
// instructions together, and the same on one core, where these are logged, as on several. In one test, since
// running all of them takes 10 seconds.
#include <algorithm>
#include <string>
#include <utility>

#include "catch.hpp"
#include "tests/cpu_device/counted_on_cpu.hpp"
#include "tests/cpu_device/hardware_counters.hpp"
#include "tests/cpu_device/logging.hpp"
#include "tests/cpu_device/on_cores.hpp"
#include "tests/cpu_device/same_counts.hpp"

namespace test_counted_kernels {
namespace {

using namespace workbook;
using cpu::test_kernels::CountedKernel;
using cpu::test_kernels::Difference;

/// A count against the hardware's, as far as the kernel's known difference lets them be compared.
enum class Bound { kEqual, kUpper, kLower };
void check_count(const char* what, long long ours, long long theirs, Bound bound) {
  INFO(what);
  if (bound == Bound::kEqual) CHECK(ours == theirs);
  if (bound == Bound::kUpper) CHECK(ours >= theirs);
  if (bound == Bound::kLower) CHECK(ours <= theirs);
}

/// An asynchronous copy, which has counters of its own, is a load from device memory and a store to shared.
void check_global(const Counts& counts, const nlohmann::json& hardware, Difference difference) {
  const Bound loads = difference == Difference::kGlobalMerged ? Bound::kUpper
                      : difference == Difference::kUnrolled   ? Bound::kLower
                                                              : Bound::kEqual;
  const Bound requests = difference == Difference::kCopies ? Bound::kLower : loads;
  const Bound stores = difference == Difference::kUnrolled ? Bound::kLower : Bound::kEqual;
  check_count("load requests", counts.load_requests, sum(hardware, {"load_requests"}), requests);
  check_count("load sectors", counts.load_sectors, sum(hardware, {"load_sectors"}), loads);
  check_count("store requests", counts.store_requests, sum(hardware, {"store_requests"}), stores);
  check_count("store sectors", counts.store_sectors, sum(hardware, {"store_sectors"}), stores);
}

void check_against_hardware(const Counts& counts, const nlohmann::json& hardware, Difference difference) {
  const bool may_be_approximate =
      difference == Difference::kApproximate || difference == Difference::kUnrolled;
  CHECK((may_be_approximate || !counts.approximate));
  CHECK(counts.contended == (difference == Difference::kContended));
  if (!counts.approximate) {
    check_global(counts, hardware, difference);
    check_wavefronts(counts, hardware,
                     difference == Difference::kSharedMerged ? Wavefronts::kLoadsMerged
                     : difference == Difference::kCopies     ? Wavefronts::kCopiesUnknown
                                                             : Wavefronts::kEqual);
  }
  if (!counts.contended)
    CHECK(counts.atomic_sectors == sum(hardware, {"atomic_sectors", "reduction_sectors"}));
}

/// Checks that each request that is kept is one of its instruction.
void check_places(const LaunchCounts& launch) {
  for (const WarpRequests& warp : launch.warps) {
    const SiteCounts& site = launch.sites.at(warp.site);
    CHECK(warp.executed >= static_cast<long long>(warp.first.size()));
    for (const TracedRequest& request : warp.first) {
      CHECK(request.place == site.file + ":" + std::to_string(site.line));
      CHECK(request.kind == site.kind);
      CHECK(request.bytes == site.bytes);
    }
  }
}

/// Checks that what was logged of the instructions adds up to the counts of the kernel.
void check_instructions(const std::vector<LaunchCounts>& launches, const Counts& expected) {
  Counts sum, of_launches;
  bool approximate = false, may_merge = false;
  for (const LaunchCounts& launch : launches) {
    CHECK_FALSE(launch.ended_early);
    CHECK_FALSE(launch.sites.empty());
    of_launches += launch.counts;
    check_places(launch);
    for (const SiteCounts& site : launch.sites) {
      CHECK(site.line > 0);
      sum += site.counts;
      approximate |= site.counts.approximate;
      may_merge |= site.counts.shared_loads_may_merge;
    }
  }
  CHECK(text(of_launches) == text(expected));
  check_same_traffic(sum, expected);
  CHECK(approximate == expected.approximate);
  CHECK(may_merge == expected.shared_loads_may_merge);
}

}  // namespace

TEST_CASE("counts equal the H200's counters, kernel by kernel, also by instruction and on several cores") {
  const auto on_gpu = counted_on_gpu();
  const auto kernels = counted_kernels();
  CountedOnCpu on_three;
  Logging logging;
  CountedOnCpu logged(std::move(logging.backend));
  long long spread = 0;
  for (const CountedKernel& kernel : kernels) {
    INFO(kernel.name);
    // A plain run on three cores counts the same as one on one core that logs each instruction.
    const OnCores use(3);
    const Counts counts = on_three.run(kernel);
    const long long spread_here = use.spread();
    spread += spread_here;
    check_against_hardware(counts, on_gpu.at(kernel.name), kernel.difference);
    CHECK(counts.shared_loads_may_merge == (kernel.difference == Difference::kSharedMerged));

    logging.launches.clear();
    logged.run(kernel);
    check_instructions(logging.launches, counts);
    CHECK(on_three.has_arrays_of(logged));
    CHECK(use.spread() == spread_here);
  }
  CHECK(spread >= static_cast<long long>(kernels.size()) * 2 / 3);
}

TEST_CASE("the counted kernels are those that were counted on a GPU") {
  const auto on_gpu = counted_on_gpu();
  const auto kernels = counted_kernels();
  for (const CountedKernel& kernel : kernels) {
    INFO(kernel.name << " is not in tests/data/counters_h200.json: run tests/counters.py");
    CHECK(on_gpu.contains(kernel.name));
  }
  for (const auto& entry : on_gpu.items()) {
    if (entry.key().find('/') != std::string::npos) continue;  // a stage: its chapter's test compares it
    INFO(entry.key() << " is no counted kernel any more");
    CHECK(std::ranges::any_of(kernels, [&](const CountedKernel& each) { return each.name == entry.key(); }));
  }
}

}  // namespace test_counted_kernels

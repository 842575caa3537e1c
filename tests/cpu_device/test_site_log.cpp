// The device's counts for each instruction: together those of the launch, each part once.
#include <string>
#include <vector>

#include "catch.hpp"
#include "kernels/messages.hpp"
#include "tests/cpu_device/device_arrays.hpp"
#include "tests/cpu_device/logging.hpp"
#include "tests/cpu_device/same_counts.hpp"

namespace test_site_log {
namespace {

using namespace workbook;

long long executed(const LaunchCounts& launch, std::size_t site) {
  long long all = 0;
  for (const WarpRequests& warp : launch.warps)
    if (warp.site == site) all += warp.executed;
  return all;
}

}  // namespace

TEST_CASE("site log: a finding leaves what was counted before it") {
  Logging logging;
  const int n = 8 * 256;
  const auto in = DeviceArray<float>::counting(*logging.backend, n, "in");
  const auto out = DeviceArray<float>::counting(*logging.backend, n, "out");
  const auto copy = [&](int mistake) {
    logging.backend->run(
        [&] { cpu::test_kernels::copy_blocks_checked(in->data(), out->data(), n, mistake); });
  };
  CHECK_THROWS_WITH(copy(1), ContainsSubstring("out of bounds"));
  REQUIRE(logging.launches.size() == 1);
  const LaunchCounts launch = logging.launches[0];
  CHECK(launch.ended_early);
  // Four blocks of eight warps had come to the barrier; the fourth failed after it.
  CHECK(launch.counts.load_requests == 4 * 8);
  CHECK(launch.counts.store_requests == 4 * 8);
  CHECK(launch.counts.barriers == 4);
  Counts sum;
  for (const SiteCounts& site : launch.sites) sum += site.counts;
  check_same_traffic(sum, launch.counts);

  copy(0);  // nothing of the first launch is left in the second
  REQUIRE(logging.launches.size() == 2);
  CHECK_FALSE(logging.launches[1].ended_early);
  CHECK(logging.launches[1].counts.load_requests == 8 * 8);
}

TEST_CASE("site log: requests are kept of the first blocks and warps and the last ones") {
  Logging logging;
  const int n = 8 * 256;
  const auto in = DeviceArray<float>::counting(*logging.backend, n, "in");
  const auto out = DeviceArray<float>::counting(*logging.backend, n, "out");
  logging.backend->run([&] { cpu::test_kernels::copy_blocks_checked(in->data(), out->data(), n, 0); });
  REQUIRE(logging.launches.size() == 1);
  const LaunchCounts& launch = logging.launches[0];
  for (std::size_t site = 0; site < launch.sites.size(); ++site)
    CHECK(executed(launch, site) == (launch.sites[site].kind == RequestKind::kBarrier ? 0 : 3 * 3));
  for (const WarpRequests& warp : launch.warps) {
    CHECK((warp.block == 0 || warp.block == 1 || warp.block == 7));
    CHECK((warp.warp == 0 || warp.warp == 1 || warp.warp == 7));
    REQUIRE(warp.first.size() == 1);
    const TracedRequest& request = warp.first[0];
    CHECK(request.array == (launch.sites[warp.site].kind == RequestKind::kLoad ? "in" : "out"));
    CHECK(request.offsets[3] == static_cast<long long>(4 * (256 * warp.block + 32 * warp.warp + 3)));
    CHECK(request.sectors == 4);
    CHECK_FALSE(request.unfinished);
  }
}

}  // namespace test_site_log

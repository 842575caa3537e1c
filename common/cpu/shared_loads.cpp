#include "cpu/shared_loads.hpp"

#include <array>
#include <numeric>

namespace cpu {
namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd; 2^64 over the golden ratio

/// A weight for each lane.
constexpr auto kLaneWeights = [] {
  std::array<std::uint64_t, kWarpSize> weights = {};
  std::uint64_t weight = kFactor;
  for (auto& w : weights) w = weight = (weight ^ weight >> 29) * kFactor;
  return weights;
}();
constexpr std::uint64_t kSumOfWeights =
    std::accumulate(kLaneWeights.begin(), kLaneWeights.end(), std::uint64_t{0});
constexpr std::uint32_t kAllLanes = 0xffffffff;

}  // namespace

void SharedLoads::add(const Request& request, unsigned size) {
  std::uint64_t addresses = 0, lanes = 0;
  std::uintptr_t bits = 0;
  if (request.mask == kAllLanes) {  // the common case, in about half the time
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      addresses += request.address[lane] * kLaneWeights[lane];
      bits |= request.address[lane];
    }
    lanes = kSumOfWeights;
  } else {
    for (const unsigned lane : lanes_of(request.mask)) {
      addresses += request.address[lane] * kLaneWeights[lane];
      bits |= request.address[lane];
      lanes += kLaneWeights[lane];
    }
  }
  if (run_ > 0 && request.mask == last_mask_ && addresses - last_ == size * lanes) {
    ++run_;
    (run_is_aligned_ ? aligned_run_ : misaligned_run_) = true;
  } else {
    run_ = 1;
    run_is_aligned_ = bits % (2 * size) == 0;
  }
  last_ = addresses;
  last_mask_ = request.mask;

  addresses_ += weight_ * addresses;
  lanes_ += weight_ * lanes;
  weight_ *= kFactor;
  ++requests_;
  address_bits_ |= bits;
}

bool SharedLoads::merges_with(const SharedLoads& next, unsigned size) const {
  return requests_ == next.requests_ && lanes_ == next.lanes_ &&
         next.addresses_ - addresses_ == size * lanes_ && address_bits_ % (2 * size) == 0;
}

}  // namespace cpu

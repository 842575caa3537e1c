#include "cpu_device/memory/shared_loads.hpp"

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
  const std::uint64_t step = size * lanes;
  const bool aligned = bits % (2 * size) == 0;
  const auto joins = [&](Run& run) {
    if (run.mask != request.mask) return false;
    if (addresses - run.last == step) {
      run.last = addresses;
    } else if (run.first - addresses == step) {
      run.first = addresses;
      run.aligned = aligned;
    } else {
      return false;
    }
    ++run.requests;
    return true;
  };
  unsigned tried = 0;
  while (tried < used_ && !joins(runs_[(current_ + tried) % used_])) ++tried;
  if (tried < used_) {
    current_ = (current_ + tried) % used_;
  } else {
    const std::uint32_t before = used_ ? runs_[current_].mask : 0;
    const bool rest = request.mask != before && !(request.mask & ~before);
    current_ = place_for_run();
    runs_[current_] = {addresses, addresses, request.mask, 1, aligned, !rest};
  }

  addresses_ += weight_ * addresses;
  lanes_ += weight_ * lanes;
  weight_ *= kFactor;
  ++requests_;
  address_bits_ |= bits;
}

void SharedLoads::end(const Run& run) {
  if (run.requests > 1 && run.whole) (run.aligned ? aligned_run_ : misaligned_run_) = true;
}

/// A run that is not aligned stays if it can: its first request may come yet.
unsigned SharedLoads::place_for_run() {
  if (used_ < kRuns) return used_++;
  unsigned next = current_ + 1;
  while (next < current_ + kRuns && runs_[next % kRuns].requests > 1 && !runs_[next % kRuns].aligned) ++next;
  end(runs_[next % kRuns]);
  return next % kRuns;
}

void SharedLoads::end_runs() {
  for (unsigned i = 0; i < used_; ++i) end(runs_[i]);
  used_ = 0;
  current_ = 0;
}

bool SharedLoads::merges_iterations() {
  end_runs();
  return aligned_run_ && !misaligned_run_;
}

bool SharedLoads::merges_with(const SharedLoads& next, unsigned size) const {
  return requests_ == next.requests_ && lanes_ == next.lanes_ &&
         next.addresses_ - addresses_ == size * lanes_ && address_bits_ % (2 * size) == 0;
}

}  // namespace cpu

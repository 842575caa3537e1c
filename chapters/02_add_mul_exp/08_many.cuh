/// \file
/// Stage 8, first half: the kernel of stage 2 in many launches, each of them for a part of the arrays.
#pragma once
#include "02_fused.cuh"

namespace DEVICE::add_mul_exp {

// --- On the host ---

// [many]
constexpr int kLaunches = 16;

/// Elements per launch: whole sectors. The last part may be shorter, and the last parts empty.
inline int part_of(int n) { return ceil_div(ceil_div(n, kLaunches), 8) * 8; }

/// The same work as one launch of stage 2, in kLaunches launches.
inline void launch_many(const float* x, const float* y, float* out, int n) {
  const int part = part_of(n);
  for (int begin = 0; begin < n; begin += part) {
    const int count = begin + part < n ? part : n - begin;
    launch(fused, ceil_div(count, kThreads), kThreads, x + begin, y + begin, out + begin, count);
  }
}
// [many]

struct Many {
  static constexpr Stage row = kElementwise.with(
      {.name = "08_many", .idea = "stage 2 in 16 launches: what a launch costs", .kernels = kAnyNumber});
  static void run(const Data& data) { launch_many(data[kX], data[kY], data[kOut], length(data.shape)); }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::add_mul_exp

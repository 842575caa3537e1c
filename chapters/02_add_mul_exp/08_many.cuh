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
inline void launch_many(const Arrays& a) {
  const int part = part_of(a.n);
  for (int begin = 0; begin < a.n; begin += part) {
    const int n = begin + part < a.n ? part : a.n - begin;
    launch(fused, ceil_div(n, kThreads), kThreads, a.x + begin, a.y + begin, a.out + begin, n);
  }
}
// [many]

struct Many {
  static void run(const Data& data) { launch_many(arrays(data)); }
  static Traffic traffic(const Shape& s) { return each_once_traffic(s); }
};

}  // namespace DEVICE::add_mul_exp

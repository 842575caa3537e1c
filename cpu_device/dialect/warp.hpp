/// \file
/// Barriers, votes and shuffles of the dialect. All lanes that a mask names must call the `_sync` function,
/// with the same mask.
#pragma once

#include "cpu_device/dialect/float16.hpp"
#include "cpu_device/dialect/runtime.hpp"

namespace cpu {

constexpr int warpSize = 32;

[[gnu::always_inline]] inline void __syncthreads() { barrier(BarrierOperation::kSync, false); }
[[gnu::always_inline]] inline int __syncthreads_count(int predicate) {
  return barrier(BarrierOperation::kCount, predicate != 0).in_favour;
}
[[gnu::always_inline]] inline int __syncthreads_or(int predicate) {
  return barrier(BarrierOperation::kOr, predicate != 0).in_favour > 0;
}
[[gnu::always_inline]] inline int __syncthreads_and(int predicate) {
  const BarrierVote vote = barrier(BarrierOperation::kAnd, predicate != 0);
  return vote.in_favour == vote.threads;
}

[[gnu::always_inline]] inline void __syncwarp(unsigned mask = 0xffffffffu) { warp_sync(mask); }
[[gnu::always_inline]] inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return warp_ballot(mask, predicate != 0);
}
[[gnu::always_inline]] inline int __any_sync(unsigned mask, int predicate) {
  return warp_ballot(mask, predicate != 0) != 0;
}
[[gnu::always_inline]] inline int __all_sync(unsigned mask, int predicate) {
  return warp_ballot(mask, predicate != 0) == mask;
}
[[gnu::always_inline]] inline unsigned __activemask() { return warp_active(); }

[[gnu::always_inline]] inline void __threadfence() { thread_fence(Scope::kDevice); }
[[gnu::always_inline]] inline void __threadfence_block() { thread_fence(Scope::kBlock); }
[[gnu::always_inline]] inline void __threadfence_system() { thread_fence(Scope::kSystem); }

namespace detail {

template <size_t Bytes>
struct ShuffleBits;
template <>
struct ShuffleBits<2> {
  using type = unsigned short;
};
template <>
struct ShuffleBits<4> {
  using type = unsigned;
};
template <>
struct ShuffleBits<8> {
  using type = unsigned long long;
};

template <class T>
[[gnu::always_inline]] inline T shuffle(unsigned mask, T value, int source) {
  using Bits = typename ShuffleBits<sizeof(T)>::type;
  return __builtin_bit_cast(T,
                            static_cast<Bits>(warp_shuffle(mask, __builtin_bit_cast(Bits, value), source)));
}

}  // namespace detail

// A warp is cut into segments of `width` lanes, a power of two. A lane whose source is outside its
// segment gets its own value. The rules are those of the instruction shfl.sync in NVIDIA's PTX manual.
template <class T>
[[gnu::always_inline]] inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = lane_index(), first = lane & -width;
  return detail::shuffle(mask, value, first + (source & (width - 1)));
}
template <class T>
[[gnu::always_inline]] inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = lane_index(), first = lane & -width, source = lane - static_cast<int>(delta);
  return detail::shuffle(mask, value, source < first ? lane : source);
}
template <class T>
[[gnu::always_inline]] inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = lane_index(), last = (lane & -width) + width - 1, source = lane + static_cast<int>(delta);
  return detail::shuffle(mask, value, source > last ? lane : source);
}
template <class T>
[[gnu::always_inline]] inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  // Lanes of earlier segments can be read, those of later ones cannot.
  const int lane = lane_index(), last = (lane & -width) + width - 1, source = lane ^ lane_mask;
  return detail::shuffle(mask, value, source > last ? lane : source);
}

// A __half2 or __nv_bfloat162 is passed as its 4 bytes.
template <class F>
[[gnu::always_inline]] inline Float16x2<F> __shfl_sync(unsigned mask, Float16x2<F> value, int source,
                                                       int width = 32) {
  return Float16x2<F>::from_bits(__shfl_sync(mask, value.bits(), source, width));
}
template <class F>
[[gnu::always_inline]] inline Float16x2<F> __shfl_up_sync(unsigned mask, Float16x2<F> value, unsigned delta,
                                                          int width = 32) {
  return Float16x2<F>::from_bits(__shfl_up_sync(mask, value.bits(), delta, width));
}
template <class F>
[[gnu::always_inline]] inline Float16x2<F> __shfl_down_sync(unsigned mask, Float16x2<F> value, unsigned delta,
                                                            int width = 32) {
  return Float16x2<F>::from_bits(__shfl_down_sync(mask, value.bits(), delta, width));
}
template <class F>
[[gnu::always_inline]] inline Float16x2<F> __shfl_xor_sync(unsigned mask, Float16x2<F> value, int lane_mask,
                                                           int width = 32) {
  return Float16x2<F>::from_bits(__shfl_xor_sync(mask, value.bits(), lane_mask, width));
}

}  // namespace cpu

/// \file
/// Chapter 00: what its stages share: the arrays, the inputs and the reference.
#pragma once
#include "chapter.hpp"
#include "device.hpp"

namespace DEVICE::first_kernel {

using namespace workbook;

inline int length(const Shape& shape) { return shape.dims[0]; }
inline long long elements(const Shape& shape) { return length(shape); }

constexpr auto kX = input<float>("x", elements);

inline void fill(const Data& host) { fill_uniform(host[kX], length(host.shape), -1.0f, 2.0f, 1); }

inline void reference_out(const Data& host, double* expected, double* magnitude) {
  const float* const x = host[kX];
  for (int i = 0; i < length(host.shape); ++i) {
    expected[i] = 2.0 * x[i];
    magnitude[i] = expected[i] < 0 ? -expected[i] : expected[i];
  }
}

constexpr auto kOut = output<float>("out", elements, reference_out, {&kX});

constexpr const Array* kArrays[] = {&kX, &kOut};

constexpr int kThreads = 256;

/// Every element read once and written once.
inline Traffic each_once_traffic(const Shape& s) {
  return {sector_bytes(elements(s)), sector_bytes(elements(s))};
}

/// Doubling is exact.
inline int no_roundings(const Shape&) { return 0; }

/// The row that all stages share.
constexpr Stage kDoubles = {.output = {&kOut}, .roundings = no_roundings};

}  // namespace DEVICE::first_kernel

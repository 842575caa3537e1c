/// \file
/// Chapter 00: what its stages share: the arrays, the inputs and the reference.
#pragma once
#include "chapter.hpp"
#include "device.hpp"

namespace DEVICE::first_kernel {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::Role;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::stage;
using workbook::Traffic;
using workbook::Type;

inline long long elements(const Shape& shape) { return shape.dims[0]; }

struct Arrays {
  int n;
  float *x, *out;
};

inline Arrays arrays(const Data& d) { return {d.shape.dims[0], d.floats("x"), d.floats("out")}; }

inline void fill(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.x, a.n, -1.0f, 2.0f, 1);
}

inline void reference_out(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int i = 0; i < a.n; ++i) {
    expected[i] = 2.0 * a.x[i];
    magnitude[i] = expected[i] < 0 ? -expected[i] : expected[i];
  }
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {"out", Type::kFloat32, Role::kOutput, elements, reference_out},
};

constexpr int kThreads = 256;

/// Every element read once and written once.
inline Traffic each_once_traffic(const Shape& s) {
  return {sector_bytes(elements(s)), sector_bytes(elements(s))};
}

/// Doubling is exact.
inline int no_roundings(const Shape&) { return 0; }

}  // namespace DEVICE::first_kernel

/// \file
/// Chapter 10: what its stages share: the arrays, which each GPU has, the inputs and the references.
#pragma once
#include <math.h>

#include <type_traits>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"
#include "halves.hpp"
#include "on_gpus.hpp"

namespace DEVICE::several_gpus {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::gpu_only;
using workbook::library;
using workbook::on_all_cores;
using workbook::Role;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::stage;
using workbook::Traffic;
using workbook::Type;

constexpr float kEpsilon = 1e-5f;

/// The most blocks of a kernel whose blocks meet those of other GPUs.
constexpr int kMostBlocks = 1024;

// --- Arrays ---

inline int gpus(const Shape& shape) { return shape.dims[0]; }
inline long long rows(const Shape& shape) { return shape.dims[1]; }
inline long long columns(const Shape& shape) { return shape.dims[2]; }
inline long long elements(const Shape& shape) { return rows(shape) * columns(shape); }

/// The rows of which a GPU has the sum where each has a part of them.
inline long long own_rows(const Shape& shape) { return rows(shape) / gpus(shape); }
inline long long own_elements(const Shape& shape) { return own_rows(shape) * columns(shape); }

/// A flag for each block from each GPU.
inline long long flags(const Shape&) { return kMostBlocks * kMostGpus; }

/// Stage 5 keeps three mailboxes of the largest number of rows, one for each GPU that sends.
inline bool fits_mail(const Shape& shape) { return rows(shape) <= 512; }
/// Words of 4 bytes; a mailbox is a whole number of sectors.
inline long long mail(const Shape& shape) {
  return fits_mail(shape) ? 3 * gpus(shape) * sector_bytes(elements(shape), 2) / 4 : 0;
}
inline long long blocks(const Shape&) { return kMostBlocks; }

// From stage 8 on, x is a * w^T: the Linear before the sum, of which each GPU has a part of the input
// features. These stages are for GPUs alone; on the CPU device a, w and what is sent are empty.
#ifdef __CUDACC__
constexpr bool kForGpus = true;
#else
constexpr bool kForGpus = false;
#endif

/// The input features of one GPU, where the Linear has the same number of them in all as of output features.
inline int features(const Shape& shape) { return kForGpus ? shape.dims[2] / gpus(shape) : 0; }
inline long long a_elements(const Shape& shape) { return rows(shape) * features(shape); }
inline long long w_elements(const Shape& shape) { return columns(shape) * features(shape); }

/// What a GPU is sent by each one: pairs of tiles, each of 256 x 256 elements by 16 warps, which cover its
/// rows.
constexpr int kPairRows = 256, kPairColumns = 256, kWarpsOfPair = 16;
inline long long pairs_from_all(const Shape& shape) {
  if (!kForGpus) return 0;
  return gpus(shape) * ceil_div(own_rows(shape), kPairRows) * ceil_div(columns(shape), kPairColumns);
}
inline long long mailed_elements(const Shape& shape) {
  return pairs_from_all(shape) * kPairRows * kPairColumns;
}
inline long long arrived_flags(const Shape& shape) { return pairs_from_all(shape) * kWarpsOfPair; }

template <class T>
OnGpus<T> on_gpus(const Data& data, const char* name, Type type) {
  OnGpus<T> all = {};
  for (int gpu = 0; gpu < gpus(data.shape); ++gpu) all.of[gpu] = static_cast<T*>(data.array(name, type, gpu));
  return all;
}

/// The arrays of one GPU in the type T: float or __nv_bfloat16.
template <class T>
struct Arrays {
  T *residual, *weight, *sum, *h, *own_h, *y;
};

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float>;
template <class T>
constexpr Type kType = kIsFloat<T> ? Type::kFloat32 : Type::kBFloat16;

template <class T>
Arrays<T> arrays(const Data& d, int gpu) {
  const auto array = [&](const char* name, const char* name16) {
    return static_cast<T*>(d.array(kIsFloat<T> ? name : name16, kType<T>, gpu));
  };
  return {.residual = array("residual_float32", "residual"),
          .weight = array("weight_float32", "weight"),
          .sum = array("sum_float32", "sum"),
          .h = array("h_float32", "h"),
          .own_h = array("own_h_float32", "own_h"),
          .y = array("y_float32", "y")};
}

/// x of each GPU, and y.
template <class T>
OnGpus<const T> x_on_gpus(const Data& d) {
  return on_gpus<const T>(d, kIsFloat<T> ? "x_float32" : "x", kType<T>);
}
template <class T>
OnGpus<T> y_on_gpus(const Data& d) {
  return on_gpus<T>(d, kIsFloat<T> ? "y_float32" : "y", kType<T>);
}

// --- How far results may be off ---

/// Roundings of float32: the sum over the GPUs, that of the squares, whose error is halved by the root, the
/// root itself, and what follows it.
inline int roundings(const Shape& s) {
  const int additions = ceil_div(s.dims[2], 32);
  const int probable = 6 * static_cast<int>(ceil(sqrt(static_cast<double>(additions))));
  return gpus(s) + (probable < additions ? probable : additions) + 24;
}
/// Where the sum is rounded to bfloat16 before the residual is added, by NCCL once for each GPU: a rounding
/// is 2^15 of float32, in h, in h when it is rounded, and in the root of their squares, which may be smaller
/// than the terms.
inline int roundings_of_stored_sum(const Shape& s) { return (gpus(s) << 18) + roundings(s); }
/// Where each GPU's x is rounded to bfloat16, and then the sum, by NCCL once for each GPU.
inline int roundings_of_own_sum(const Shape& s) { return (gpus(s) + 2) << 15; }
/// On exact inputs, as in chapter 04.
inline int exact_roundings(const Shape&) { return 6; }

// --- Inputs and references ---

template <class T>
struct Inputs {
  const T *x[kMostGpus], *residual, *weight;
};

template <class T>
Inputs<T> inputs(const Data& host) {
  Inputs<T> in = {};
  for (int gpu = 0; gpu < gpus(host.shape); ++gpu) in.x[gpu] = x_on_gpus<T>(host).of[gpu];
  in.residual = arrays<T>(host, 0).residual;
  in.weight = arrays<T>(host, 0).weight;
  return in;
}

/// number[i] in bfloat16 as well.
inline void round_all(const float* number, __nv_bfloat16* rounded, long long count) {
  constexpr long long kPart = 1 << 16;
  on_all_cores(ceil_div(count, kPart), [&](long long part) {
    for (long long i = part * kPart; i < (part + 1) * kPart && i < count; ++i)
      rounded[i] = from_float<__nv_bfloat16>(number[i]);
  });
}

/// On exact inputs, x has small whole numbers, h is 2 or -2, so that no sum is rounded, and a weight is a
/// power of two.
inline void fill_rows(const Data& host) {
  const Shape& s = host.shape;
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    const Arrays<float> wide = arrays<float>(host, gpu);
    const Arrays<__nv_bfloat16> narrow = arrays<__nv_bfloat16>(host, gpu);
    auto* x = const_cast<float*>(x_on_gpus<float>(host).of[gpu]);
    if (host.exact) {
      workbook::fill_whole(x, elements(s), 8, 60u + static_cast<unsigned>(gpu));
      workbook::fill_whole(wide.weight, columns(s), 1, 71);
      workbook::fill_whole(wide.residual, elements(s), 1, 72);
    } else {
      workbook::fill_uniform(x, elements(s), -1.0f, 1.5f, 60u + static_cast<unsigned>(gpu));
      workbook::fill_uniform(wide.weight, columns(s), 0.5f, 1.5f, 71);
      workbook::fill_uniform(wide.residual, elements(s), -2.0f, 1.0f, 72);
    }
    round_all(x, const_cast<__nv_bfloat16*>(x_on_gpus<__nv_bfloat16>(host).of[gpu]), elements(s));
    round_all(wide.weight, narrow.weight, columns(s));
    round_all(wide.residual, narrow.residual, elements(s));
  }
  if (!host.exact) return;
  const Inputs<float> in = inputs<float>(host);
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    const Arrays<float> wide = arrays<float>(host, gpu);
    const Arrays<__nv_bfloat16> narrow = arrays<__nv_bfloat16>(host, gpu);
    on_all_cores(rows(s), [&](long long r) {
      for (long long i = r * columns(s); i < (r + 1) * columns(s); ++i) {
        float sum = 0;
        for (int other = 0; other < gpus(s); ++other) sum += in.x[other][i];
        wide.residual[i] = (wide.residual[i] > 0 ? 2.0f : -2.0f) - sum;
        narrow.residual[i] = from_float<__nv_bfloat16>(wide.residual[i]);
      }
    });
    for (long long c = 0; c < columns(s); ++c) {
      wide.weight[c] = wide.weight[c] > 0 ? 0.5f : wide.weight[c] < 0 ? -2.0f : 1.0f;
      narrow.weight[c] = from_float<__nv_bfloat16>(wide.weight[c]);
    }
  }
}

inline bool has_exact_inputs(const Shape&) { return true; }

/// Elements of x have a variance of about 1 / gpus. On exact inputs few elements of `a` are not zero, so that
/// bfloat16 holds each GPU's x.
inline void fill_linear(const Data& host) {
  const Shape& s = host.shape;
  const float reach = 3.0f / sqrtf(static_cast<float>(columns(s)));
  auto* a = new float[static_cast<size_t>(a_elements(s))];
  auto* w = new float[static_cast<size_t>(w_elements(s))];
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    const auto seed = static_cast<unsigned>(gpu);
    if (host.exact) {
      workbook::fill_whole(a, a_elements(s), 1, 80 + seed);
      workbook::fill_whole(w, w_elements(s), 1, 90 + seed);
      for (long long i = 0; i < a_elements(s); ++i)
        if (i % features(s) % 64 != i / features(s) % 64) a[i] = 0;
    } else {
      workbook::fill_uniform(a, a_elements(s), -1.0f, 1.0f, 80 + seed);
      workbook::fill_uniform(w, w_elements(s), -reach, reach, 90 + seed);
    }
    round_all(a, static_cast<__nv_bfloat16*>(host.array("a", Type::kBFloat16, gpu)), a_elements(s));
    round_all(w, static_cast<__nv_bfloat16*>(host.array("w", Type::kBFloat16, gpu)), w_elements(s));
  }
  delete[] w;
  delete[] a;
}

/// The sum of x over the GPUs, each of which has a part of the rows. A GPU's x is rounded in proportion to
/// its size; what tensor cores cut off is in proportion to that of its terms (`tensor_roundings` of chapter
/// 06).
inline void reference_own_sum(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  auto* product = new double[static_cast<size_t>(elements(s))];
  auto* size = new double[static_cast<size_t>(elements(s))];
  const double per_rounding = (features(s) + 16.0) / roundings_of_own_sum(s);
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    workbook::product_of_bfloat16_rows(host.array("a", Type::kBFloat16, gpu),
                                       host.array("w", Type::kBFloat16, gpu), s.dims[1], features(s),
                                       s.dims[2], product, size);
    on_all_cores(rows(s), [&](long long r) {
      for (long long i = r * columns(s); i < (r + 1) * columns(s); ++i) {
        expected[i] += product[i];
        magnitude[i] += fabs(product[i]) + per_rounding * size[i];
      }
    });
  }
  delete[] size;
  delete[] product;
  workbook::take_own_magnitude(host, elements(s), expected, magnitude);
}

/// One row of h before it is rounded, and what its terms add up to.
template <class T>
void reference_row(const Inputs<T>& in, const Shape& s, long long row, double* h, double* size) {
  for (long long c = 0; c < columns(s); ++c) {
    const long long i = row * columns(s) + c;
    h[c] = to_float(in.residual[i]);
    size[c] = fabs(h[c]);
    for (int gpu = 0; gpu < gpus(s); ++gpu) {
      h[c] += to_float(in.x[gpu][i]);
      size[c] += fabs(to_float(in.x[gpu][i]));
    }
  }
}

/// The copies of the first GPU's results, of `count` elements, for the others.
inline void copy_to_gpus(const Shape& s, long long count, double* expected, double* magnitude) {
  for (int gpu = 1; gpu < gpus(s); ++gpu)
    for (long long i = 0; i < count; ++i) {
      expected[gpu * count + i] = expected[i];
      magnitude[gpu * count + i] = magnitude[i];
    }
}

/// The rows of h, one after another: each GPU's own where it has a part of them.
template <class T>
void reference_own_h(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  const Inputs<T> in = inputs<T>(host);
  on_all_cores(own_rows(s) * gpus(s), [&](long long r) {
    reference_row(in, s, r, expected + r * columns(s), magnitude + r * columns(s));
  });
  workbook::take_own_magnitude(host, own_elements(s) * gpus(s), expected, magnitude);
}

template <class T>
void reference_h(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  const Inputs<T> in = inputs<T>(host);
  on_all_cores(rows(s), [&](long long r) {
    reference_row(in, s, r, expected + r * columns(s), magnitude + r * columns(s));
  });
  copy_to_gpus(s, elements(s), expected, magnitude);
  workbook::take_own_magnitude(host, elements(s) * gpus(s), expected, magnitude);
}

/// y is computed from h as it is stored, rounded to T.
template <class T>
void reference_y(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  const Inputs<T> in = inputs<T>(host);
  on_all_cores(rows(s), [&](long long r) {
    double *row = expected + r * columns(s), *size = magnitude + r * columns(s);
    reference_row(in, s, r, row, size);
    double squares = 0;
    for (long long c = 0; c < columns(s); ++c) {
      row[c] = to_float(from_float<T>(static_cast<float>(row[c])));
      squares += row[c] * row[c];
    }
    const double inverse = 1 / sqrt(squares / static_cast<double>(columns(s)) + double{kEpsilon});
    for (long long c = 0; c < columns(s); ++c) {
      row[c] *= inverse * to_float(in.weight[c]);
      size[c] *= inverse * fabs(to_float(in.weight[c]));
    }
  });
  copy_to_gpus(s, elements(s), expected, magnitude);
  workbook::take_own_magnitude(host, elements(s) * gpus(s), expected, magnitude);
}

inline void fill(const Data& host) {
  fill_rows(host);
  if (kForGpus) fill_linear(host);
}

const Array kArrays[] = {
    {"x", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"residual", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"weight", Type::kBFloat16, Role::kInput, columns, nullptr},
    {"x_float32", Type::kFloat32, Role::kInput, elements, nullptr},
    {"residual_float32", Type::kFloat32, Role::kInput, elements, nullptr},
    {"weight_float32", Type::kFloat32, Role::kInput, columns, nullptr},
    {"sum", Type::kBFloat16, Role::kScratch, elements, nullptr},
    {"sum_float32", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"flags", Type::kUint32, Role::kState, flags, nullptr},
    {"mail", Type::kUint32, Role::kState, mail, nullptr},
    {"sent", Type::kUint32, Role::kState, blocks, nullptr},
    {"h", Type::kBFloat16, Role::kOutput, elements, reference_h<__nv_bfloat16>, "x residual"},
    {"own_h", Type::kBFloat16, Role::kOutput, own_elements, reference_own_h<__nv_bfloat16>, "x residual"},
    {"y", Type::kBFloat16, Role::kOutput, elements, reference_y<__nv_bfloat16>, "x residual weight"},
    {"h_float32", Type::kFloat32, Role::kOutput, elements, reference_h<float>, "x_float32 residual_float32"},
    {"own_h_float32", Type::kFloat32, Role::kOutput, own_elements, reference_own_h<float>,
     "x_float32 residual_float32"},
    {"y_float32", Type::kFloat32, Role::kOutput, elements, reference_y<float>,
     "x_float32 residual_float32 weight_float32"},
    {"a", Type::kBFloat16, Role::kInput, a_elements, nullptr},
    {"w", Type::kBFloat16, Role::kInput, w_elements, nullptr},
    {"mailed", Type::kBFloat16, Role::kScratch, mailed_elements, nullptr},
    {"arrived", Type::kUint32, Role::kState, arrived_flags, nullptr},
    {"own_sum", Type::kBFloat16, Role::kOutput, own_elements, reference_own_sum, "a w"},
};

}  // namespace DEVICE::several_gpus

/// \file
/// Chapter 10: what its stages share: the arrays, which each GPU has, the inputs and the references.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "half_arrays.hpp"
#include "halves.hpp"
#include "on_gpus.hpp"

namespace DEVICE::several_gpus {

using namespace workbook;

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

using BFloat16 = __nv_bfloat16;

// Of float and BFloat16.
template <class T>
constexpr auto kX = input<T>(kIsFloat<T> ? "x_float32" : "x", elements);
template <class T>
constexpr auto kResidual = input<T>(kIsFloat<T> ? "residual_float32" : "residual", elements);
template <class T>
constexpr auto kWeight = input<T>(kIsFloat<T> ? "weight_float32" : "weight", columns);
template <class T>
constexpr auto kSum = scratch<T>(kIsFloat<T> ? "sum_float32" : "sum", elements);

constexpr auto kFlags = state<unsigned>("flags", flags);
constexpr auto kMail = state<unsigned>("mail", mail);
constexpr auto kSent = state<unsigned>("sent", blocks);

// For the stages with a Linear: a is rows x features, w columns x features.
constexpr auto kA = input<BFloat16>("a", a_elements);
constexpr auto kW = input<BFloat16>("w", w_elements);
constexpr auto kMailed = scratch<BFloat16>("mailed", mailed_elements);
constexpr auto kArrived = state<unsigned>("arrived", arrived_flags);

/// The array of each GPU, as Elements.
template <class Element, class T>
OnGpus<Element> on_gpus(const Data& data, const ArrayOf<T>& array) {
  OnGpus<Element> all = {};
  for (int gpu = 0; gpu < gpus(data.shape); ++gpu)
    all.of[gpu] = reinterpret_cast<Element*>(data.of(array, gpu));
  return all;
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
  OnGpus<const T> x;
  const T *residual, *weight;
};

template <class T>
Inputs<T> inputs(const Data& host) {
  return {on_gpus<const T>(host, kX<T>), host[kResidual<T>], host[kWeight<T>]};
}

/// number[i] in bfloat16 as well.
inline void round_all(const float* number, __nv_bfloat16* rounded, long long count) {
  constexpr long long kPart = 1 << 16;
  on_all_cores(ceil_div(count, kPart), [&](long long part) {
    for (long long i = part * kPart; i < (part + 1) * kPart && i < count; ++i)
      rounded[i] = from_float<__nv_bfloat16>(number[i]);
  });
}

/// h becomes 2 or -2, and a weight a power of two.
inline void make_rows_exact(const Data& host) {
  const Shape& s = host.shape;
  const OnGpus<const float> x = on_gpus<const float>(host, kX<float>);
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    float *const weight = host.of(kWeight<float>, gpu), *const residual = host.of(kResidual<float>, gpu);
    on_all_cores(rows(s), [&](long long r) {
      for (long long i = r * columns(s); i < (r + 1) * columns(s); ++i) {
        float sum = 0;
        for (int other = 0; other < gpus(s); ++other) sum += x.of[other][i];
        residual[i] = (residual[i] > 0 ? 2.0f : -2.0f) - sum;
      }
    });
    for (long long c = 0; c < columns(s); ++c)
      weight[c] = weight[c] > 0 ? 0.5f : weight[c] < 0 ? -2.0f : 1.0f;
  }
}

/// On exact inputs, x has small whole numbers, so that no sum is rounded.
inline void fill_rows(const Data& host) {
  const Shape& s = host.shape;
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    float *const x = host.of(kX<float>, gpu), *const weight = host.of(kWeight<float>, gpu),
                 *const residual = host.of(kResidual<float>, gpu);
    if (host.exact) {
      fill_whole(x, elements(s), 8, 60u + static_cast<unsigned>(gpu));
      fill_whole(weight, columns(s), 1, 71);
      fill_whole(residual, elements(s), 1, 72);
    } else {
      fill_uniform(x, elements(s), -1.0f, 1.5f, 60u + static_cast<unsigned>(gpu));
      fill_uniform(weight, columns(s), 0.5f, 1.5f, 71);
      fill_uniform(residual, elements(s), -2.0f, 1.0f, 72);
    }
  }
  if (host.exact) make_rows_exact(host);
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    round_all(host.of(kX<float>, gpu), host.of(kX<BFloat16>, gpu), elements(s));
    round_all(host.of(kWeight<float>, gpu), host.of(kWeight<BFloat16>, gpu), columns(s));
    round_all(host.of(kResidual<float>, gpu), host.of(kResidual<BFloat16>, gpu), elements(s));
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
      fill_whole(a, a_elements(s), 1, 80 + seed);
      fill_whole(w, w_elements(s), 1, 90 + seed);
      for (long long i = 0; i < a_elements(s); ++i)
        if (i % features(s) % 64 != i / features(s) % 64) a[i] = 0;
    } else {
      fill_uniform(a, a_elements(s), -1.0f, 1.0f, 80 + seed);
      fill_uniform(w, w_elements(s), -reach, reach, 90 + seed);
    }
    round_all(a, host.of(kA, gpu), a_elements(s));
    round_all(w, host.of(kW, gpu), w_elements(s));
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
    product_of_bfloat16_rows(host.of(kA, gpu), host.of(kW, gpu), s.dims[1], features(s), s.dims[2], product,
                             size);
    on_all_cores(rows(s), [&](long long r) {
      for (long long i = r * columns(s); i < (r + 1) * columns(s); ++i) {
        expected[i] += product[i];
        magnitude[i] += fabs(product[i]) + per_rounding * size[i];
      }
    });
  }
  delete[] size;
  delete[] product;
  take_own_magnitude(host, elements(s), expected, magnitude);
}

/// One row of h before it is rounded, and what its terms add up to.
template <class T>
void reference_row(const Inputs<T>& in, const Shape& s, long long row, double* h, double* size) {
  for (long long c = 0; c < columns(s); ++c) {
    const long long i = row * columns(s) + c;
    h[c] = to_float(in.residual[i]);
    size[c] = fabs(h[c]);
    for (int gpu = 0; gpu < gpus(s); ++gpu) {
      h[c] += to_float(in.x.of[gpu][i]);
      size[c] += fabs(to_float(in.x.of[gpu][i]));
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
  take_own_magnitude(host, own_elements(s) * gpus(s), expected, magnitude);
}

template <class T>
void reference_h(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  const Inputs<T> in = inputs<T>(host);
  on_all_cores(rows(s), [&](long long r) {
    reference_row(in, s, r, expected + r * columns(s), magnitude + r * columns(s));
  });
  copy_to_gpus(s, elements(s), expected, magnitude);
  take_own_magnitude(host, elements(s) * gpus(s), expected, magnitude);
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
  take_own_magnitude(host, elements(s) * gpus(s), expected, magnitude);
}

inline void fill(const Data& host) {
  fill_rows(host);
  if (kForGpus) fill_linear(host);
}

// Of float and BFloat16.
template <class T>
constexpr auto kH = output<T>(kIsFloat<T> ? "h_float32" : "h", elements, reference_h<T>,
                              {&kX<T>, &kResidual<T>});
template <class T>
constexpr auto kOwnH = output<T>(kIsFloat<T> ? "own_h_float32" : "own_h", own_elements, reference_own_h<T>,
                                 {&kX<T>, &kResidual<T>});
template <class T>
constexpr auto kY = output<T>(kIsFloat<T> ? "y_float32" : "y", elements, reference_y<T>,
                              {&kX<T>, &kResidual<T>, &kWeight<T>});

constexpr auto kOwnSum = output<BFloat16>("own_sum", own_elements, reference_own_sum, {&kA, &kW});

constexpr const Array* kArrays[] = {&kX<BFloat16>,
                                    &kResidual<BFloat16>,
                                    &kWeight<BFloat16>,
                                    &kX<float>,
                                    &kResidual<float>,
                                    &kWeight<float>,
                                    &kSum<BFloat16>,
                                    &kSum<float>,
                                    &kFlags,
                                    &kMail,
                                    &kSent,
                                    &kH<BFloat16>,
                                    &kOwnH<BFloat16>,
                                    &kY<BFloat16>,
                                    &kH<float>,
                                    &kOwnH<float>,
                                    &kY<float>,
                                    &kA,
                                    &kW,
                                    &kMailed,
                                    &kArrived,
                                    &kOwnSum};

}  // namespace DEVICE::several_gpus

/// \file
/// Shared by the specifications of exercises 07.1 and 07.2, which compute y = dropout(gelu(x)): the random
/// numbers and the probability at each length, and the reference. The names are in a namespace of their own,
/// because the headers of all exercises of a chapter are compiled together.
#pragma once
#include <math.h>

#include "device.hpp"
#include "dropout.hpp"
#include "exercise.hpp"

namespace DEVICE::gelu_dropout_forward {

inline long long elements(const workbook::Shape& s) { return s.dims[0]; }
inline long long one(const workbook::Shape&) { return 1; }

/// The bytes of one array of floats, in whole sectors.
inline long long array_bytes(const workbook::Shape& s) { return workbook::sector_bytes(elements(s)); }

constexpr double kNumbers = 16777216;  // 2^24, as many as 24 bits can be

/// Which number of which call an element gets.
struct Place {
  unsigned call;
  int number;
};

/// Exercise 07.1: a call per element, of which it takes the first number.
inline Place own_call(unsigned i) { return {i, 0}; }
/// Exercise 07.2: four neighbours share a call.
inline Place shared_call(unsigned i) { return {i / 4, static_cast<int>(i % 4)}; }

/// Each length has its own seed, of 64 bits, and offset, which is beyond 2^32 unless 3 divides n.
inline Random random_of(unsigned n) {
  return {0x9E3779B97F4A7C15ull * n, (static_cast<unsigned long long>(n % 3) << 32) + n};
}

/// The number of 24 bits that element i of n gets.
template <Place (*place)(unsigned)>
unsigned number_of(unsigned n, unsigned i) {
  const Place at = place(i);
  return number<24>(random_of(n)(at.call), at.number);
}

/// p by the length: 0.1, 0, 0.5, 1, or such that the number of the last element is exactly the threshold:
/// then this element stays.
template <Place (*place)(unsigned)>
double probability_of(unsigned n) {
  switch (n % 5) {
    case 0:
      return 0.1;
    case 1:
      return number_of<place>(n, n - 1) / kNumbers;
    case 2:
      return 0;
    case 3:
      return 0.5;
    default:
      return 1;
  }
}

template <Place (*place)(unsigned)>
Dropout dropout_of(const workbook::Shape& s) {
  const unsigned n = static_cast<unsigned>(s.dims[0]);
  const Random random = random_of(n);
  return make_dropout<24>(probability_of<place>(n), random.seed, random.offset);
}

/// y = dropout(gelu(x)), by erf.
template <Place (*place)(unsigned)>
void reference(const workbook::Data& host, double* expected, double* magnitude) {
  constexpr unsigned kPart = 65536;
  const unsigned n = static_cast<unsigned>(host.shape.dims[0]);
  const double scale = 1 / (1 - dropout_of<place>(host.shape).threshold / kNumbers);
  const unsigned threshold = dropout_of<place>(host.shape).threshold;
  const float* x = host.floats("x");
  workbook::on_all_cores((n + kPart - 1) / kPart, [&](long long part) {
    const unsigned begin = kPart * static_cast<unsigned>(part);
    for (unsigned i = begin; i < n && i < begin + kPart; ++i) {
      const bool kept = number_of<place>(n, i) >= threshold;
      expected[i] = kept ? scale * 0.5 * x[i] * (1 + erf(x[i] / sqrt(2.0))) : 0;
      magnitude[i] = kept ? scale * fabs(x[i]) : 0;
    }
  });
}

/// erff is off by at most 2 ulps (CUDA C++ Programming Guide), 4 units of 2^-24; its argument, the sum and
/// the products are rounded, and so is the scale. Other ways to compute it take a few more.
inline int roundings(const workbook::Shape&) { return 16; }

inline void fill_x(const workbook::Data& host, unsigned seed) {
  workbook::fill_uniform(host.floats("x"), host.shape.dims[0], -4.0f, 3.0f, seed);
}

}  // namespace DEVICE::gelu_dropout_forward

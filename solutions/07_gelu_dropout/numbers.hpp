/// \file
/// Shared by the specifications of the exercises of chapter 07: the random numbers and the probability at
/// each length, which elements stay, and the reference of y. The names are in a namespace of their own, because
/// the headers of all exercises of a chapter are compiled together.
#pragma once
#include <math.h>

#include "device.hpp"
#include "dropout.hpp"
#include "exercise.hpp"

namespace DEVICE::gelu_dropout_numbers {

inline long long elements(const workbook::Shape& s) { return s.dims[0]; }
inline long long one(const workbook::Shape&) { return 1; }

/// The bytes of one array of floats, in whole sectors.
inline long long array_bytes(const workbook::Shape& s) { return workbook::sector_bytes(elements(s)); }

constexpr auto kX = workbook::input<float>("x", elements);

/// Each length n has a seed of its own, of 64 bits, and an offset, which is beyond 2^32 unless 3 divides n.
template <unsigned long long Seed, unsigned Offset>
Random random_of_length(unsigned n) {
  return {Seed * n, (static_cast<unsigned long long>(n % 3) << 32) + Offset * n};
}

/// Exercise 07.1: a call per element, of which it takes the first number, of 24 bits.
struct Fuse {
  static constexpr int kBits = 24;
  static unsigned call(unsigned i) { return i; }
  static int number(unsigned) { return 0; }
  static Random random(unsigned n) { return random_of_length<0x9E3779B97F4A7C15ull, 1>(n); }
};

/// Exercise 07.2: four neighbours share a call.
struct ShareCalls {
  static constexpr int kBits = 24;
  static unsigned call(unsigned i) { return i / 4; }
  static int number(unsigned i) { return static_cast<int>(i % 4); }
  static Random random(unsigned n) { return random_of_length<0x9E3779B97F4A7C15ull, 1>(n); }
};

/// Exercise 07.3: a call per element, as in 07.1.
struct BitMask {
  static constexpr int kBits = 24;
  static unsigned call(unsigned i) { return i; }
  static int number(unsigned) { return 0; }
  static Random random(unsigned n) { return random_of_length<0xD1B54A32D192ED03ull, 5>(n); }
};

/// Exercise 07.4: a call for eight elements, two vectors of four, 128 elements apart.
struct Backward {
  static constexpr int kBits = 16;
  static unsigned call(unsigned i) { return i / 256 * 32 + i / 4 % 32; }
  static int number(unsigned i) { return static_cast<int>(i / 128 % 2 * 4 + i % 4); }
  static Random random(unsigned n) { return random_of_length<0xD1B54A32D192ED03ull, 5>(n); }
};

/// How many values the numbers have.
template <class Numbers>
constexpr double kValues = 1u << Numbers::kBits;

/// The number that element i of n gets.
template <class Numbers>
unsigned number_of(unsigned n, unsigned i) {
  return number<Numbers::kBits>(Numbers::random(n)(Numbers::call(i)), Numbers::number(i));
}

/// p by the length: 0.1, 0, 0.5, 1, or such that the number of the last element is exactly the threshold:
/// then this element stays.
template <class Numbers>
double probability_of(unsigned n) {
  switch (n % 5) {
    case 0:
      return 0.1;
    case 1:
      return number_of<Numbers>(n, n - 1) / kValues<Numbers>;
    case 2:
      return 0;
    case 3:
      return 0.5;
    default:
      return 1;
  }
}

template <class Numbers>
Dropout dropout_of(const workbook::Shape& s) {
  const unsigned n = static_cast<unsigned>(s.dims[0]);
  const Random random = Numbers::random(n);
  return make_dropout<Numbers::kBits>(probability_of<Numbers>(n), random.seed, random.offset);
}

/// Calls `body(i, kept)` for all elements, on all cores.
template <class Numbers, class Body>
void for_each_element(const workbook::Shape& s, const Body& body) {
  constexpr unsigned kPart = 65536;
  const unsigned n = static_cast<unsigned>(s.dims[0]), threshold = dropout_of<Numbers>(s).threshold;
  workbook::on_all_cores((n + kPart - 1) / kPart, [&](long long part) {
    const unsigned begin = kPart * static_cast<unsigned>(part);
    for (unsigned i = begin; i < n && i < begin + kPart; ++i) body(i, number_of<Numbers>(n, i) >= threshold);
  });
}

/// The factor for the elements that stay. Where all are dropped, it does not matter.
template <class Numbers>
double scale_of(const workbook::Shape& s) {
  return 1 / (1 - dropout_of<Numbers>(s).threshold / kValues<Numbers>);
}

/// y = dropout(gelu(x)), by erf.
template <class Numbers>
void reference_y(const workbook::Data& host, double* expected, double* magnitude) {
  const float* x = host[kX];
  const double scale = scale_of<Numbers>(host.shape);
  for_each_element<Numbers>(host.shape, [&](unsigned i, bool kept) {
    expected[i] = kept ? scale * 0.5 * x[i] * (1 + erf(x[i] / sqrt(2.0))) : 0;
    magnitude[i] = kept ? scale * fabs(x[i]) : 0;
  });
}

/// erff and expf are off by at most 2 ulps (CUDA C++ Programming Guide), 4 units of 2^-24 each; their
/// arguments, the sums and the products are rounded, and so is the scale. Other ways to compute it take a few
/// more.
inline int roundings(const workbook::Shape&) { return 16; }

inline void fill_x(const workbook::Data& host, unsigned seed) {
  workbook::fill_uniform(host[kX], elements(host.shape), -4.0f, 3.0f, seed);
}

}  // namespace DEVICE::gelu_dropout_numbers

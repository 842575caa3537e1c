/// \file
/// Shared by the specifications of exercises 07.3 and 07.4: the random numbers and the probability at each
/// length, and which elements stay. The names are in a namespace of their own, because the headers of all
/// exercises of a chapter are compiled together.
#pragma once
#include <math.h>

#include "device.hpp"
#include "dropout.hpp"
#include "exercise.hpp"

namespace DEVICE::gelu_dropout_masks {

inline long long elements(const workbook::Shape& s) { return s.dims[0]; }
inline long long one(const workbook::Shape&) { return 1; }

/// The bytes of one array of floats, in whole sectors.
inline long long array_bytes(const workbook::Shape& s) { return workbook::sector_bytes(elements(s)); }

/// Exercise 07.3: a call per element, of which it takes the first number.
struct OwnCall {
  static constexpr int kBits = 24;
  static unsigned call(unsigned i) { return i; }
  static int number(unsigned) { return 0; }
};

/// Exercise 07.4: a call for eight elements, two vectors of four, 128 elements apart.
struct EightPerCall {
  static constexpr int kBits = 16;
  static unsigned call(unsigned i) { return i / 256 * 32 + i / 4 % 32; }
  static int number(unsigned i) { return static_cast<int>(i / 128 % 2 * 4 + i % 4); }
};

/// How many values the numbers have.
template <class Numbers>
constexpr double kValues = 1u << Numbers::kBits;

/// Each length has its own seed, of 64 bits, and offset, which is beyond 2^32 unless 3 divides n.
inline Random random_of(unsigned n) {
  return {0xD1B54A32D192ED03ull * n, (static_cast<unsigned long long>(n % 3) << 32) + 5 * n};
}

/// The number that element i of n gets.
template <class Numbers>
unsigned number_of(unsigned n, unsigned i) {
  return number<Numbers::kBits>(random_of(n)(Numbers::call(i)), Numbers::number(i));
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
  const Random random = random_of(n);
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

/// What the elements that stay are multiplied by. Where all are dropped, it does not matter.
template <class Numbers>
double scale_of(const workbook::Shape& s) {
  return 1 / (1 - dropout_of<Numbers>(s).threshold / kValues<Numbers>);
}

}  // namespace DEVICE::gelu_dropout_masks

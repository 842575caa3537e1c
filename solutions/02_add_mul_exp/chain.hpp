/// \file
/// The inputs of exercise 02.2, chain, in each of four types.
#pragma once
#include <type_traits>

#include "add_mul_exp.hpp"

namespace DEVICE {

/// The name of an array of Ts.
template <class T>
constexpr const char* name_of_four(const char* float32, const char* float64, const char* float16,
                                   const char* bfloat16) {
  return std::is_same_v<T, double> ? float64 : name_of<T>(float32, float16, bfloat16);
}

template <class T>
constexpr auto kA = workbook::input<T>(name_of_four<T>("a_float32", "a_float64", "a_float16", "a_bfloat16"),
                                       elements);
template <class T>
constexpr auto kB = workbook::input<T>(name_of_four<T>("b_float32", "b_float64", "b_float16", "b_bfloat16"),
                                       elements);

}  // namespace DEVICE

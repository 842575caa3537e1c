/// \file
/// The arrays of exercise 02.2, chain: two inputs and four outputs in each of four types.
#pragma once
#include "add_mul_exp.hpp"

namespace DEVICE {

template <class T>
struct Kind;
template <>
struct Kind<float> {
  static constexpr workbook::Type kType = workbook::Type::kFloat32;
  static constexpr const char* kNames[] = {"a_float32",         "b_float32",
                                           "add_relu_float32",  "multiply_tanh_float32",
                                           "bias_gelu_float32", "bias_gelu_tanh_float32"};
};
template <>
struct Kind<double> {
  static constexpr workbook::Type kType = workbook::Type::kFloat64;
  static constexpr const char* kNames[] = {"a_float64",         "b_float64",
                                           "add_relu_float64",  "multiply_tanh_float64",
                                           "bias_gelu_float64", "bias_gelu_tanh_float64"};
};
template <>
struct Kind<__half> {
  static constexpr workbook::Type kType = workbook::Type::kFloat16;
  static constexpr const char* kNames[] = {"a_float16",         "b_float16",
                                           "add_relu_float16",  "multiply_tanh_float16",
                                           "bias_gelu_float16", "bias_gelu_tanh_float16"};
};
template <>
struct Kind<__nv_bfloat16> {
  static constexpr workbook::Type kType = workbook::Type::kBFloat16;
  static constexpr const char* kNames[] = {"a_bfloat16",         "b_bfloat16",
                                           "add_relu_bfloat16",  "multiply_tanh_bfloat16",
                                           "bias_gelu_bfloat16", "bias_gelu_tanh_bfloat16"};
};

enum Place { kA, kB, kAddRelu, kMultiplyTanh, kBiasGelu, kBiasGeluTanh };

template <class T>
T* array(const workbook::Data& d, Place place) {
  return static_cast<T*>(d.array(Kind<T>::kNames[place], Kind<T>::kType));
}

}  // namespace DEVICE

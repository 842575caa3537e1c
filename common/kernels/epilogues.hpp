/// \file
/// For kernels that compute a product: what is done to each of its elements before it is stored. An epilogue
/// is a type with two functions. of_column(column) loads what all rows of a column share, such as its bias;
/// operator() makes an element of the result from the product's element and from that.
#pragma once
#include "gelu.hpp"

namespace DEVICE {

// [epilogues]
/// Leaves the product as it is.
struct NoEpilogue {
  __device__ float of_column(int) const { return 0.0f; }
  __device__ float operator()(float product, float) const { return product; }
};

/// gelu(product + bias).
struct BiasGelu {
  const float* bias;
  __device__ float of_column(int column) const { return bias[column]; }
  __device__ float operator()(float product, float shift) const { return gelu(product + shift); }
};

/// gelu_tanh(product + bias).
struct BiasGeluTanh {
  const float* bias;
  __device__ float of_column(int column) const { return bias[column]; }
  __device__ float operator()(float product, float shift) const { return gelu_tanh(product + shift); }
};
// [epilogues]

}  // namespace DEVICE

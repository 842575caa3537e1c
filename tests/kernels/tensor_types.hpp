/// \file
/// What the tensor-core kernels of the tests say of types and layouts.
#pragma once

#include "device.hpp"

namespace DEVICE::test_kernels {

/// What a matrix of T is stored as.
template <class T>
struct Storage {
  using Type = T;
};
template <>
struct Storage<nvcuda::wmma::precision::tf32> {
  using Type = float;
};

template <class Layout>
constexpr bool kByColumns = false;
template <>
inline constexpr bool kByColumns<nvcuda::wmma::col_major> = true;

}  // namespace DEVICE::test_kernels

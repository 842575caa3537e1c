/// \file
/// Types and layouts of the tests' tensor-core kernels.
#pragma once

#include "device.hpp"

namespace DEVICE::test_kernels {

/// The type in which a matrix of T is stored.
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

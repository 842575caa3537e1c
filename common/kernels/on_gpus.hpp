/// \file
/// For kernels of several GPUs: a pointer to an array of each of them.
#pragma once
#include "device.hpp"

namespace DEVICE {

/// The most GPUs of one host that share a layer.
constexpr int kMostGpus = 8;

/// A pointer to an array of each GPU: kernels read and write other GPUs' memory as their own.
template <class T>
struct OnGpus {
  T* of[kMostGpus];
};

}  // namespace DEVICE

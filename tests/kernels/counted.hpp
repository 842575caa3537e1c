/// \file
/// The kernels whose counters on a GPU are in tests/data/counters_h200.json, each with the launch that was
/// counted. tests/counters.py runs them under Nsight Compute, tests/test_cpu_device.cpp on the CPU device.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

/// Elements of each of the arrays that a launch gets: four of float32, from the start of an allocation.
constexpr int kCountedSize = 1 << 20;

struct CountedKernel {
  const char* name;
  void (*run)(float* a, float* b, float* c, float* out);
};

struct CountedKernels {
  const CountedKernel* first;
  int count;
};

CountedKernels counted_kernels();

}  // namespace DEVICE::test_kernels

/// \file
/// What the kernels of chapter 09 use of CUDA's runtime, for the CPU device: it has one stream, and the
/// compute capability 0.0, which has no kernels of its own.
#pragma once
#include "device.hpp"
#include "halves.hpp"

namespace cpu {

enum { cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor };
inline int cudaGetDevice(int*) { return 0; }
inline int cudaSetDevice(int) { return 0; }
inline int cudaDeviceGetAttribute(int*, int, int) { return 0; }
inline void check(int, const char* = "") {}

struct OnStream {
  explicit OnStream(void*) {}
};

}  // namespace cpu

using cpu::__half, cpu::__nv_bfloat16;

// Of what kernels and loops share, the loops' functions are not traced.
#define workbook_ops traced_workbook_ops

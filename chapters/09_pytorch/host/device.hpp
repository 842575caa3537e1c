/// \file
/// Takes the place of common/device.hpp in plain C++: what philox.hpp, dropout.hpp and chapter 03's
/// quantize.cuh use of CUDA, for the loops of the CPU. The CPU device, which common/device.hpp would give
/// them, counts and is slow.
#pragma once
#include <math.h>

#define DEVICE workbook_ops::host
#define __host__
#define __device__

namespace workbook_ops::host {

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct float4 {
  float x, y, z, w;
};
struct char4 {
  signed char x, y, z, w;
};
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return {x, y, z, w}; }

}  // namespace workbook_ops::host

/// \file
/// Takes the place of common/device.hpp in plain C++: what philox.hpp and dropout.hpp use of CUDA, for the
/// loops of the CPU. The CPU device, which common/device.hpp would give them, counts and is slow.
#pragma once

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

}  // namespace workbook_ops::host

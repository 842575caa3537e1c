/// \file
/// Stage 17: a larger tile, 128 x 256, and two consumers, each with half of its rows: a slot is read from L2
/// once for twice the products, and while one warpgroup waits the other one multiplies. The kernel is stage
/// 16's; the sums are as many a thread as they were, 128, because twice the threads have them.
#pragma once
#include "16_producer.sm90a.cuh"

namespace DEVICE::linear_gelu {

using Ring17 = Ring<128, 256, 4>;

}  // namespace DEVICE::linear_gelu

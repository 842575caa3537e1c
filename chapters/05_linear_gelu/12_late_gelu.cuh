/// \file
/// Stage 12: a fusion that loses. A second product follows, z = gelu(x * w^T + b) * v^T. GELU can be
/// applied where the first product is finished, or where the second one reads it: the bytes are the same. But
/// it is finished once, and read by every tile across z.
#pragma once
#include "10_epilogue.cuh"

namespace DEVICE::linear_gelu {

/// sum + bias, and GELU is left to the next product.
struct BiasAlone {
  const float* bias;
  __device__ float of_column(int column) const { return bias[column]; }
  __device__ float operator()(float sum, float shift) const { return sum + shift; }
};

/// For linear_by_warp_tiles(): GELU on the way into the tile, again for each tile of 128 columns of the
/// result.
struct GeluOnLoad {
  __device__ float4 operator()(float4 v) const {
    return make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
  }
};

}  // namespace DEVICE::linear_gelu

/// \file
/// Exercise 04.7, short_rows: rows of 128 columns, four of them per warp.
///
/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias of each row, which has 128 columns. The code
/// below gives a warp four rows, one after the other, and loads weight and bias for each of them. Let the
/// warp do the four rows at the same time: eight lanes for each. The lanes of all four rows need the same
/// elements of weight and bias, and lanes of one request that load the same address share its sectors.
///
/// Goal: 6 bytes read per element, which are x once and a quarter of weight and bias; 4 bytes written; and a
/// result that is accurate also for rows of large numbers that are close together. The number of rows need
/// not be a multiple of 4 or 16.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_short_rows {

constexpr int kColumns = 128;

/// The sum of `value` over `lanes` neighbouring lanes, a power of two, in each of them. All lanes of the warp
/// must call it.
__device__ inline float lanes_sum(float value, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__device__ inline float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ inline float squares_of(float4 v, float mean) {
  const float4 d = {v.x - mean, v.y - mean, v.z - mean, v.w - mean};
  return (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
}
__device__ inline float4 scaled(float4 v, float mean, float inverse, float4 w, float4 b) {
  return {(v.x - mean) * inverse * w.x + b.x, (v.y - mean) * inverse * w.y + b.y,
          (v.z - mean) * inverse * w.z + b.z, (v.w - mean) * inverse * w.w + b.w};
}

/// All arrays begin at multiples of 16 bytes, so float4 number i of a row has its elements from 4 * i on.
__device__ inline const float4* vectors(const float* p) { return reinterpret_cast<const float4*>(p); }

/// The check launches blocks of 128 threads, one for each 16 rows.
__global__ void normalise(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ y, int rows, float epsilon) {
  // BEGIN SOLUTION
  constexpr int kLanes = 8, kHeld = kColumns / 4 / kLanes;
  const int lane = threadIdx.x % kLanes, row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
  const size_t first = static_cast<size_t>(row) * kColumns;
  float4 held[kHeld] = {};
  float sum = 0.0f, squares = 0.0f;
  for (int j = 0; j < kHeld; ++j) {
    if (row < rows) held[j] = vectors(x + first)[lane + j * kLanes];
    sum += sum_of(held[j]);
  }
  const float mean = lanes_sum(sum, kLanes) / kColumns;
  for (int j = 0; j < kHeld; ++j) squares += squares_of(held[j], mean);
  const float inverse = rsqrtf(lanes_sum(squares, kLanes) / kColumns + epsilon);
  if (row >= rows) return;  // its lanes were needed for the shuffles
  for (int j = 0; j < kHeld; ++j) {
    const int i = lane + j * kLanes;
    const float4 result = scaled(held[j], mean, inverse, vectors(weight)[i], vectors(bias)[i]);
    reinterpret_cast<float4*>(y + first)[i] = result;
  }
  // SKELETON
  // // TODO: four rows at the same time.
  // const int lane = threadIdx.x % 32, first_row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 4;
  // for (int row = first_row; row < first_row + 4 && row < rows; ++row) {
  //   const size_t first = static_cast<size_t>(row) * kColumns;
  //   const float4 held = vectors(x + first)[lane];
  //   const float mean = lanes_sum(sum_of(held), 32) / kColumns;
  //   const float inverse = rsqrtf(lanes_sum(squares_of(held, mean), 32) / kColumns + epsilon);
  //   const float4 result = scaled(held, mean, inverse, vectors(weight)[lane], vectors(bias)[lane]);
  //   reinterpret_cast<float4*>(y + first)[lane] = result;
  // }
  // END SOLUTION
}

}  // namespace DEVICE::layernorm_short_rows

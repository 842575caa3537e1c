/// \file
/// Stage 12 with a thread-block cluster: the blocks of a row run side by side and read each other's shared
/// memory, so that all know the row's mean while each still holds its slice. One kernel, one read. Compute
/// capability 9.0.
#pragma once
#include <cooperative_groups.h>

#include "10_long_rows.cuh"

namespace DEVICE::relu_layernorm {

#if __CUDA_ARCH__ >= 900
/// The sum of `value` over the threads of the cluster, in all of them; every thread must call it. `of_block`
/// is a place in shared memory that nothing else uses.
__device__ inline float cluster_sum(float value, float* of_block) {
  const auto cluster = cooperative_groups::this_cluster();
  value = block_sum_by_warps(value);
  if (threadIdx.x == 0) *of_block = value;
  cluster.sync();
  const unsigned lane = threadIdx.x % 32;
  return warp_sum(lane < cluster.num_blocks() ? *cluster.map_shared_rank(of_block, lane) : 0.0f);
}
#endif

/// y = the normalised row of relu(x), a cluster of blocks of kLongRowThreads threads per row, of which each
/// has the `slice` columns from its rank * slice on, or what is left. `Vector` and the dynamic shared
/// memory as in long_rows(). Traffic: that of one_read().
template <class Vector>
__global__ void __launch_bounds__(kLongRowThreads, 2)
    cluster_rows(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int columns, int slice,
                 float epsilon) {
#if __CUDA_ARCH__ >= 900
  __shared__ float of_block[2];
  const auto cluster = cooperative_groups::this_cluster();
  const int begin = cluster.block_rank() * slice;
  const int mine = columns - begin < slice ? columns - begin : slice;
  const size_t first = static_cast<size_t>(blockIdx.x / cluster.num_blocks()) * columns + begin;
  int sums = 0;
  normalise_slice(reinterpret_cast<const Vector*>(x + first), reinterpret_cast<const Vector*>(weight + begin),
                  reinterpret_cast<const Vector*>(bias + begin), reinterpret_cast<Vector*>(y + first),
                  mine / static_cast<int>(sizeof(Vector) / sizeof(float)), columns, epsilon,
                  [&](float value) {
                    const float sum = cluster_sum(value, &of_block[sums++]);
                    if (sums == 2) cluster.barrier_arrive();
                    return sum;
                  });
  cluster.barrier_wait();  // no block leaves while another may read its sums
#endif
}

/// Starts cluster_rows() with `blocks` blocks a row, `slice` columns and `shared_bytes` of dynamic shared
/// memory each. Clusters of more than 8 blocks are more than every such GPU promises.
template <class Vector>
void launch_cluster_rows(const float* x, const float* weight, const float* bias, float* y, int rows,
                         int columns, int blocks, int slice, int shared_bytes, float epsilon) {
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = rows * blocks;
  config.blockDim = kLongRowThreads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = cudaStreamPerThread;
  config.attrs = &cluster;
  config.numAttrs = 1;
  const auto kernel = cluster_rows<Vector>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  if (blocks > 8) check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  check(cudaLaunchKernelEx(&config, kernel, x, weight, bias, y, columns, slice, epsilon));
}

}  // namespace DEVICE::relu_layernorm

/// \file
/// Stage 12 with a thread-block cluster: the blocks of a row run side by side and read each other's shared
/// memory, so all of them know the row's mean while each still holds its slice. One kernel, one read. Compute
/// capability 9.0.
#pragma once
#include <cooperative_groups.h>

#include "row_slice.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

#if __CUDA_ARCH__ >= 900
/// The sum of `value` over the threads of the cluster, in all of them; every thread must call it.
/// `shared_sum` is a float in shared memory that nothing else uses.
__device__ inline float cluster_sum(float value, float* shared_sum) {
  const auto cluster = cooperative_groups::this_cluster();
  value = block_sum_by_warps(value);
  if (threadIdx.x == 0) *shared_sum = value;
  cluster.sync();
  const unsigned lane = threadIdx.x % 32;
  return warp_sum(lane < cluster.num_blocks() ? *cluster.map_shared_rank(shared_sum, lane) : 0.0f);
}
#endif

/// y = the normalised row of relu(x), one cluster per row, of blocks of kLongRowThreads threads. Each block
/// has the `slice` columns from its rank * slice on, or what is left. `Vector` and the dynamic shared
/// memory as in long_rows(). Traffic: that of one_read().
template <class Vector>
__global__ void __launch_bounds__(kLongRowThreads, 2)
    cluster_rows(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int columns, int slice,
                 float epsilon) {
#if __CUDA_ARCH__ >= 900
  __shared__ float block_sums[2];
  const auto cluster = cooperative_groups::this_cluster();
  const int begin = cluster.block_rank() * slice;
  const int mine = columns - begin < slice ? columns - begin : slice;
  const size_t first = static_cast<size_t>(blockIdx.x / cluster.num_blocks()) * columns + begin;
  int sums = 0;
  normalise_slice(reinterpret_cast<const Vector*>(x + first), reinterpret_cast<const Vector*>(weight + begin),
                  reinterpret_cast<const Vector*>(bias + begin), reinterpret_cast<Vector*>(y + first),
                  mine / kWidth<Vector>, columns, epsilon, [&](float value) {
                    const float sum = cluster_sum(value, &block_sums[sums++]);
                    if (sums == 2) cluster.barrier_arrive();
                    return sum;
                  });
  cluster.barrier_wait();  // no block exits while another may read its sums
#endif
}

// --- On the host ---

/// Blocks of a row's cluster: two, or what it takes to hold the row. Not every GPU with clusters supports
/// more than 8.
inline int cluster_blocks(int columns) {
  int count = 2;
  while (count < 16 && !fits_block(ceil_div(columns, 4 * count) * 4)) count *= 2;
  return count;
}

/// Columns of each block.
inline int cluster_slice(int columns) { return ceil_div(columns, 4 * cluster_blocks(columns)) * 4; }

struct Clusters {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    const int blocks = cluster_blocks(a.columns), slice = cluster_slice(a.columns);
    const int shared_bytes = staged_bytes(slice);
    const auto kernel = aligned_rows(a, a.y) ? cluster_rows<float4> : cluster_rows<float>;
    // [launch]
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = a.rows * blocks;
    config.blockDim = kLongRowThreads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = cudaStreamPerThread;
    config.attrs = &cluster;
    config.numAttrs = 1;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    if (blocks > 8) check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    check(cudaLaunchKernelEx(&config, kernel, a.x, a.weight, a.bias, a.y, a.columns, slice, kEpsilon));
    // [launch]
  }
  static Traffic traffic(const Shape& s) { return one_read_traffic(s); }
  static bool suits(const Shape& s) { return !fits_registers(s) && fits_block(cluster_slice(s.dims[1])); }
};

}  // namespace DEVICE::relu_layernorm

/// \file
/// Stage 22: stage 20 without its last, half empty wave. Pairs of tiles that do not come out even are not
/// given to some clusters whole: the steps of their products are shared out evenly among all, one pair after
/// the other ("stream-K"). Who has the first steps of a pair finishes it, with the sums of those who had the
/// others. Source of the idea: M. Osama, D. Merrill, C. Cecka, M. Garland, J. D. Owens, Stream-K:
/// Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU, 2023.
#pragma once
#include "21_ping_pong.sm90a.cuh"

namespace DEVICE::linear_gelu {

/// Of a block: warps that hand over sums, and how many floats each of them does.
constexpr int kConsumerWarps = 8, kWarpSums = 128 * 32;
/// Handing over takes about as long as so many steps: 10 to 20 thousand cycles, measured on an H200.
constexpr int kStepsToHandOver = 16;

/// What clusters do: `whole` pairs in turn, then an even share each of the steps of those that are left.
struct Work {
  int clusters, steps, whole, left;

  __device__ Work(int clusters, int steps, int pairs)
      : clusters(clusters), steps(steps), whole(pairs), left(0) {
    const int waves = pairs / clusters, over = pairs % clusters;
    const bool is_worth_it = (clusters - over) * steps > clusters * kStepsToHandOver;
    if (waves == 0 || over == 0 || !is_worth_it) return;
    // A share is of half a pair or more, for which one wave more may have to be shared out.
    whole = (2 * over < clusters ? waves - 1 : waves) * clusters;
    left = (pairs - whole) * steps;
  }

  /// The first step of a cluster's share, counted through the pairs that are left.
  __device__ int start_of(int cluster) const {
    return static_cast<int>(static_cast<long long>(left) * cluster / clusters);
  }

  /// Calls multiply(pair, first, last) for all that a cluster does: steps `first` to `last` of that pair.
  template <class Multiply>
  __device__ void for_each_part(int cluster, Multiply multiply) const {
    for (int pair = cluster; pair < whole; pair += clusters) multiply(pair, 0, steps);
    const int end = start_of(cluster + 1);
    for (int at = start_of(cluster), next; at < end; at = next) {
      const int pair = at / steps, first = at % steps;
      next = min(end, (pair + 1) * steps);
      multiply(whole + pair, first, first + next - at);
    }
  }
};

/// Leaves a warp's sums where another one will look for them.
template <int Sums>
__device__ void hand_over(const float (&sum)[1][Sums], float* sums, unsigned* flag) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < Sums; j += 4)
    *reinterpret_cast<float4*>(sums + j * 32 + lane * 4) =
        make_float4(sum[0][j], sum[0][j + 1], sum[0][j + 2], sum[0][j + 3]);
  __syncwarp();
  if (lane == 0) set_flag(flag);
}

/// Adds the sums that another warp hands over. They come by way of `place` in shared memory, all at a time:
/// for as many loads on their way a thread has no registers left.
template <int Sums>
__device__ void take_over(float (&sum)[1][Sums], const float* sums, unsigned* flag, float* place) {
  const int lane = threadIdx.x % 32;
  const unsigned mine = shared_address(place) + lane * 16;
  if (lane == 0) wait_for_flag(flag);
  __syncwarp();
#pragma unroll
  for (int j = 0; j < Sums; j += 4) copy_16_bytes(mine + j * 128, sums + j * 32 + lane * 4, 16);
  asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
  for (int j = 0; j < Sums; j += 4) {
    const float4 more = *reinterpret_cast<const float4*>(place + j * 32 + lane * 4);
    sum[0][j] += more.x;
    sum[0][j + 1] += more.y;
    sum[0][j + 2] += more.z;
    sum[0][j + 3] += more.w;
  }
}

/// y = gelu(x * w^T + bias) in bfloat16, inputs, blocks, grid and shared memory as in stage 20, but all
/// blocks must run at the same time. `sums` has kConsumerWarps * kWarpSums floats a block, `flags`
/// kConsumerWarps, which are 0 before and after.
template <class Gelu>
__global__ void __launch_bounds__(kThreadsWith<2>) __cluster_dims__(2)
    linear_stream_k(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y,
                    const float* bias, float* sums, unsigned* flags, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto& [ring, staged] = in_shared_memory<Shared20>();
  const int group = warpgroup(), rank = blockIdx.x % 2, number = blockIdx.x / 2;
  const Work work(gridDim.x / 2, pieces(k, kMmaDepth), pairs_of(m, n));
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) ring.make_barriers(2 * 2 * 4);
  cluster.sync();
  Turn<Ring17::kSlots> turn;
  if (group == 2) {
    if (threadIdx.x % 32 == 0)
      work.for_each_part(number, [&](int i, int first, int last) {
        produce_for_both(ring, turn, in, pair_of(i, m, n), rank, first, last);
      });
  } else {
    static_assert(sizeof ring.w == kConsumerWarps * kWarpSums * sizeof(float));
    auto* free_ring = reinterpret_cast<float*>(ring.w);
    work.for_each_part(number, [&](int i, int first, int last) {
      const Place pair = pair_of(i, m, n);
      float sum[1][128] = {};
      if (first == 0) begin_with_bias(sum, bias, pair.column, n);
      consume(ring, turn, sum, group * 64, last - first, ReleaseInBoth{});
      const int in_block = threadIdx.x / 32, warp = blockIdx.x * kConsumerWarps + in_block;
      if (first > 0) {
        hand_over(sum, sums + warp * kWarpSums, flags + warp);
        return;
      }
      if (last < work.steps) meet_consumers();  // the ring is free: this was the last that they multiply
      for (int next = number + 1; last < work.steps; ++next) {  // the clusters with the steps from `last` on
        const int there = warp + (next - number) * 2 * kConsumerWarps;
        take_over(sum, sums + there * kWarpSums, flags + there, free_ring + in_block * kWarpSums);
        last += work.start_of(next + 1) - work.start_of(next);
      }
      store_by_tma(sum, Gelu{}, staged[in_block], &y, pair.row + rank * Ring17::kRows + group * 64,
                   pair.column);
    });
  }
  wait_for_stores();  // what is staged must stay until it has been read
  cluster.sync();
#endif
}

}  // namespace DEVICE::linear_gelu

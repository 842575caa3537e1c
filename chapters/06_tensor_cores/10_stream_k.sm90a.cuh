/// \file
/// Stage 10: stage 8 without its last, partly empty wave ("stream-K"). Where the last wave would be partly
/// empty, its pairs of tiles are not assigned to clusters whole: the steps of their products are divided
/// evenly among all clusters, one pair after the other. The last cluster to finish its steps of a pair adds
/// the others' partial sums and completes the pair, so that nobody waits for a block that has not started.
/// Source of the idea: M. Osama, D. Merrill, C. Cecka, M. Garland, J. D. Owens, Stream-K: Work-Centric
/// Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU, 2023.
#pragma once
#include "08_tma_epilogue.sm90a.cuh"

namespace DEVICE::tensor_cores {

#ifdef WORKBOOK_GPU
// [shares]
/// Handing over partial sums takes about as long as this many steps: 10 to 20 thousand cycles, measured on an
/// H200.
constexpr int kHandOverSteps = 16;

/// The tile scheduler: clusters compute `whole` pairs in turn, then an even share each of the steps of the
/// other pairs, of which there are `shared_steps`.
struct StreamKScheduler {
  int clusters, steps, whole, shared_steps;

  __device__ StreamKScheduler(int clusters, int steps, int pairs)
      : clusters(clusters), steps(steps), whole(pairs), shared_steps(0) {
    const int waves = pairs / clusters, in_last_wave = pairs % clusters;
    const bool is_worth_it = (clusters - in_last_wave) * steps > clusters * kHandOverSteps;
    if (waves == 0 || in_last_wave == 0 || !is_worth_it) return;
    // A share is at least half a pair. Where the last wave has too few pairs for that, one more wave is
    // shared.
    whole = (2 * in_last_wave < clusters ? waves - 1 : waves) * clusters;
    shared_steps = (pairs - whole) * steps;
  }

  // [shares]
  // [parts]
  /// The first step of a cluster's share, counted through all shared pairs.
  __device__ int start_of(int cluster) const {
    return static_cast<int>(static_cast<long long>(shared_steps) * cluster / clusters);
  }
  /// The cluster whose share has that step.
  __device__ int owner_of(int step) const {
    return static_cast<int>((static_cast<long long>(step + 1) * clusters - 1) / shared_steps);
  }

  /// Calls multiply(pair, first, last) for all that a cluster computes: steps `first` to `last` of that pair.
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
  // [parts]
};

/// Sets a flag in global memory: a thread that finds it set also finds all that this warp wrote before its
/// last __syncwarp().
__device__ inline void set_flag(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

/// Returns when the flag has been set, and clears it.
__device__ inline void wait_for_flag(unsigned* flag) {
  unsigned is_set;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(is_set) : "l"(flag) : "memory");
  } while (!is_set);
  *flag = 0;
}

/// Returns when all threads of both consumers have called it: a named barrier, without the producer.
__device__ inline void sync_consumers() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

/// Stores a warp's accumulators in global memory, where another block will look for them.
template <int Accumulators>
__device__ void store_partial(const float (&acc)[1][Accumulators], float* partial, unsigned* flag) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < Accumulators; j += 4)
    *reinterpret_cast<float4*>(partial + j * 32 + lane * 4) =
        make_float4(acc[0][j], acc[0][j + 1], acc[0][j + 2], acc[0][j + 3]);
  __syncwarp();
  if (lane == 0) set_flag(flag);
}

/// Adds the accumulators that a warp of another block has stored. They are all copied through `buffer` in
/// shared memory at once, because a thread has no registers left for that many loads in flight. Null: they
/// are loaded a few at a time.
template <int Accumulators>
__device__ void add_partial(float (&acc)[1][Accumulators], const float* partial, unsigned* flag,
                            float* buffer) {
  const int lane = threadIdx.x % 32;
  if (lane == 0) wait_for_flag(flag);
  __syncwarp();
  const float* from = buffer ? buffer : partial;
  if (buffer) {
    const unsigned mine = shared_address(buffer) + lane * 16;
#pragma unroll
    for (int j = 0; j < Accumulators; j += 4) cp_async_16(mine + j * 128, partial + j * 32 + lane * 4, 16);
    cp_async_wait_all();
  }
#pragma unroll
  for (int j = 0; j < Accumulators; j += 4) {
    const float4 more = *reinterpret_cast<const float4*>(from + j * 32 + lane * 4);
    acc[0][j] += more.x;
    acc[0][j + 1] += more.y;
    acc[0][j + 2] += more.z;
    acc[0][j + 3] += more.w;
  }
}

// [last]
/// The next number of a counter in global memory, for the warp.
__device__ inline int take_ticket(unsigned* tickets) {
  const unsigned ticket = threadIdx.x % 32 == 0 ? atomicAdd(tickets, 1u) : 0;
  return __shfl_sync(0xffffffffu, static_cast<int>(ticket), 0);
}

/// Where the warps of a block leave partial sums, and how they find out who is last. A cluster stores at most
/// two parts of pairs: one that begins a pair, its head, and one that does not.
struct HandOver {
  float* partial_sums;
  unsigned *flags, *tickets;
  int rank, warp;  // of the block in its cluster, in the block

  __device__ int slot(int cluster, bool is_head) const {
    return ((cluster * 2 + rank) * 2 + is_head) * kConsumerWarps + warp;
  }

  /// Steps `first` to `last` of shared pair number `pair` have been multiplied by the cluster `number`.
  /// Returns whether this warp is the last of those that share its rows: `acc` then is their sum. Those that
  /// were not have taken their tickets, so they run and are about to store: to wait for them is safe.
  __device__ bool is_last(const StreamKScheduler& scheduler, float (&acc)[1][128], int number, int pair,
                          bool is_head, float* buffer) const {
    const int head = scheduler.owner_of(pair * scheduler.steps);
    const int tail = scheduler.owner_of((pair + 1) * scheduler.steps - 1);
    unsigned* ticket = tickets + (pair * 2 + rank) * kConsumerWarps + warp;
    if (take_ticket(ticket) < tail - head) {
      const int mine = slot(number, is_head);
      store_partial(acc, partial_sums + mine * kWarpAccumulators, flags + mine);
      return false;
    }
    *ticket = 0;
    for (int other = head; other <= tail; ++other) {
      const int there = slot(other, other == head);
      if (other != number) add_partial(acc, partial_sums + there * kWarpAccumulators, flags + there, buffer);
    }
    return true;
  }
};
// [last]

/// y = gelu(x * w^T + bias) in bfloat16; inputs, blocks, grid and shared memory as in stage 8. `partial_sums`
/// has 2 * kConsumerWarps * kWarpAccumulators floats per block, `flags` has 4 * kConsumerWarps, which are 0
/// before and after: a flag and a ticket for each of a warp's two parts.
template <class Gelu>
__global__ void __launch_bounds__(kBlockThreads<2>) __cluster_dims__(2)
    linear_stream_k(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y,
                    const float* bias, float* partial_sums, unsigned* flags, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = ClusterPipeline;
  auto& [pipeline, staging] = in_shared_memory<SharedStorage<P>>();
  const int group = warpgroup_index(), rank = blockIdx.x % 2, number = blockIdx.x / 2;
  const StreamKScheduler scheduler(gridDim.x / 2, ceil_div(k, P::BK), pair_count(m, n));
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) pipeline.init_barriers(2 * 2 * 4);
  cluster.sync();
  ClusterState state;
  if (group == 2) {
    if (threadIdx.x % 32 == 0)
      scheduler.for_each_part(number, [&](int i, int first, int last) {
        produce_multicast(pipeline, state, in, pair_at(i, m, n), rank, first, last);
      });
  } else {
    static_assert(sizeof pipeline.w == kConsumerWarps * kWarpAccumulators * sizeof(float));
    auto* free_tiles = reinterpret_cast<float*>(pipeline.w);
    const int in_block = threadIdx.x / 32;
    const HandOver hand_over = {partial_sums, flags, flags + gridDim.x * 2 * kConsumerWarps, rank, in_block};
    scheduler.for_each_part(number, [&](int i, int first, int last) {
      const Tile pair = pair_at(i, m, n);
      float acc[1][128] = {};
      if (first == 0) start_with_bias(acc, bias, pair.column, n);
      consume(pipeline, state, acc, group * 64, last - first, ReleaseInBoth{});
      const int pair_shared = i - scheduler.whole;
      if (last - first < scheduler.steps) {
        // After this block's last part nothing is left to multiply: the pipeline is free.
        const bool is_free = pair_shared * scheduler.steps + last == scheduler.start_of(number + 1);
        if (is_free) sync_consumers();
        if (!hand_over.is_last(scheduler, acc, number, pair_shared, first == 0,
                               is_free ? free_tiles + in_block * kWarpAccumulators : nullptr))
          return;
      }
      store_by_tma(acc, Gelu{}, staging[in_block], &y, pair.row + rank * P::BM + group * 64, pair.column);
    });
  }
  tma_store_wait_read();  // the staging buffers must stay until the TMA has read them
  cluster.sync();
#endif
}

// --- On the host ---

template <class Gelu>
void launch_stream_k(const Data& data, const __nv_bfloat16* y) {
  const Factors a = factors(data);
  launch_shared(linear_stream_k<Gelu>, cluster_blocks(a.m, a.n), kBlockThreads<2>,
                kSharedBytes<SharedStorage<ClusterPipeline>>, inputs_for_clusters(a.x, a.w, a.m, a.k, a.n),
                output_map(y, a.m, a.n), data[kBias], data[kPartialSums], data[kFlags], a.m, a.k, a.n);
}
#endif

struct StreamK {
  static constexpr Stage row =
      kOnHopper.with({.name = "10_stream_k", .idea = "the last wave's steps are divided evenly"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) { launch_stream_k<FastGelu>(data, data[kY]); }
  /// That of stage 8, without the partial sums: they depend on the number of multiprocessors. On an H200
  /// at most 17 MB are stored, and as much is read.
  static Traffic traffic(const Shape& s) { return tiled_bfloat16(s, 256, 256) + bias_traffic(s, 64, 2 * 4); }
  static bool suits(const Shape& s) { return of_eights(s); }
#endif
};

/// The same with the tanh form of GELU.
struct StreamKTanh : StreamK {
  static constexpr Stage row = kOnHopper.with({.name = "10_tanh",
                                               .idea = "the same with the tanh form of GELU",
                                               .output = {&kYTanh},
                                               .against = "01_tanh"});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) { launch_stream_k<FastGeluTanh>(data, data[kYTanh]); }
#endif
};

}  // namespace DEVICE::tensor_cores

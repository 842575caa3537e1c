/// \file
/// Stage 9: the Linear and the sum over the GPUs in one kernel, that of chapter 06's stage 8. Each GPU
/// computes the rows of the others first and sends a tile when it has finished it, while other blocks
/// multiply. Its own rows come last: the others' tiles of them have arrived by then, and are added to the
/// accumulators. (GEMM and reduce-scatter in one kernel, as in L.-W. Chang and others, FLUX: Fast
/// Software-based Communication Overlap On GPUs Through Kernel Fusion, 2024.)
#pragma once
#include "03_release.cuh"
#include "08_linear.gpu.cuh"
#ifdef WORKBOOK_GPU
#include "../06_tensor_cores/08_tma_epilogue.sm90a.cuh"
#endif

namespace DEVICE::several_gpus {

#ifdef WORKBOOK_GPU
using tensor_cores::ClusterPipeline;
using tensor_cores::kBlockThreads;
using tensor_cores::Tile;

/// What a GPU computes as number i: pair of tiles number `pair` of the rows of GPU `of`. Its own rows are the
/// last, and all GPUs come to those of one GPU at different times.
struct Turn {
  int of, pair;
  __device__ Turn(int i, int pairs_each, int gpus, int me)
      : of((me + 1 + i / pairs_each) % gpus), pair(i % pairs_each) {}
};

/// What a warp sends of a tile: for each of 16 steps a piece of each lane, eight of its accumulators rounded.
/// The warp that gets them has the same place in the tile, so they stay in this order and are sent 512 bytes
/// at a time.
constexpr int kSteps = 16, kPiecesOfWarp = 32 * kSteps;

__device__ inline uint4 rounded_piece(const float* acc) {
  uint4 piece;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&piece);
#pragma unroll
  for (int e = 0; e < 4; ++e) pairs[e] = __floats2bfloat162_rn(acc[2 * e], acc[2 * e + 1]);
  return piece;
}

// [send]
/// Stores a warp's accumulators at `there`, in another GPU's memory, and sets the flag `arrived` beside it.
struct SendByStores {
  using P = ClusterPipeline;
  using Storage = tensor_cores::SharedStorage<P>;

  __device__ explicit SendByStores(Storage&) {}
  __device__ void send(const float (&acc)[1][128], uint4* there, unsigned* arrived) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kSteps; ++j) there[j * 32 + lane] = rounded_piece(&acc[0][8 * j]);
    __syncwarp();
    if (lane == 0) Flag(*arrived).store(1, cuda::std::memory_order_release);
  }
  __device__ void finish() {}
};
// [send]

/// Waits for what a warp of another GPU sends, adds it to the accumulators, and clears the flag.
__device__ inline void add_arrived(float (&acc)[1][128], const uint4* here, unsigned* arrived) {
  const int lane = threadIdx.x % 32;
  if (lane == 0) {
    for (const Deadline deadline; Flag(*arrived).load(cuda::std::memory_order_acquire) == 0;)
      deadline.check();
    *arrived = 0;
  }
  __syncwarp();
#pragma unroll
  for (int j = 0; j < kSteps; ++j) {
    const uint4 piece = here[j * 32 + lane];
    const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&piece);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      acc[0][8 * j + 2 * e] += __low2float(pairs[e]);
      acc[0][8 * j + 2 * e + 1] += __high2float(pairs[e]);
    }
  }
}

struct Unchanged {
  __device__ float operator()(float v) const { return v; }
};

/// own_sum = the sum of a * w^T over all GPUs, for the own_rows rows from me * own_rows on. a is
/// (gpus * own_rows) x k, w is n x k; k and n are multiples of 8. Clusters of two blocks, at most one block
/// per multiprocessor. `mailed` and `arrived` have, for each GPU that sends, each pair of tiles and each of
/// its 16 warps, kPiecesOfWarp pieces and a flag, which is 0 before and after. It may not begin before the
/// launch ahead of it has ended, so it is not launched as stage 6 is.
template <class Sender>
__global__ void __launch_bounds__(kBlockThreads<2>) __cluster_dims__(2)
    linear_reduced(const __grid_constant__ tensor_cores::Inputs in,
                   const __grid_constant__ CUtensorMap own_sum, const __grid_constant__ OnGpus<uint4> mailed,
                   const __grid_constant__ OnGpus<unsigned> arrived,
                   const __grid_constant__ OnGpus<unsigned> flags, int gpus, int me, int own_rows, int k,
                   int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = typename Sender::P;
  static_assert(kPairRows == 2 * P::BM && kPairColumns == P::BN && kWarpsOfPair == 2 * 8 &&
                kWarpsOfPair * kPiecesOfWarp * 8 == kPairRows * kPairColumns);
  auto& storage = in_shared_memory<typename Sender::Storage>();
  P& pipeline = storage.pipeline;
  const int steps = ceil_div(k, P::BK), group = warpgroup_index(), rank = blockIdx.x % 2;
  const int pairs_each = tensor_cores::pair_count(own_rows, n), turns = gpus * pairs_each;
  const int cluster = blockIdx.x / 2, clusters = gridDim.x / 2;
  if (threadIdx.x == 0) pipeline.init_barriers(2 * 2 * 4);
  ByRelease::meet_others(flags, gpus, me);  // the others have read what the last launch has sent
  cooperative_groups::this_cluster().sync();
  PipelineState<P::kStages> state;
  if (group == 2) {
    for (int i = cluster; i < turns && threadIdx.x % 32 == 0; i += clusters) {
      const Turn turn(i, pairs_each, gpus, me);
      Tile pair = tensor_cores::pair_at(turn.pair, own_rows, n);
      pair.row += turn.of * own_rows;
      tensor_cores::produce_multicast(pipeline, state, in, pair, rank, 0, steps);
    }
  } else {
    // [consumer]
    Sender sender(storage);
    for (int i = cluster; i < turns; i += clusters) {
      const Turn turn(i, pairs_each, gpus, me);
      float acc[1][128] = {};
      tensor_cores::consume(pipeline, state, acc, group * 64, steps, tensor_cores::ReleaseInBoth{});
      sender.finish();
      const int warp = threadIdx.x / 32;
      const auto place = [&](int from) { return ((from * pairs_each + turn.pair) * 2 + rank) * 8 + warp; };
      if (turn.of != me) {
        sender.send(acc, mailed.of[turn.of] + place(me) * kPiecesOfWarp, &arrived.of[turn.of][place(me)]);
        continue;
      }
      for (int from = 0; from < gpus; ++from)
        if (from != me)
          add_arrived(acc, mailed.of[me] + place(from) * kPiecesOfWarp, &arrived.of[me][place(from)]);
      const Tile pair = tensor_cores::pair_at(turn.pair, own_rows, n);
      tensor_cores::store_by_tma(acc, Unchanged{}, storage.staging[warp], &own_sum,
                                 pair.row + rank * P::BM + group * 64, pair.column);
    }
    sender.finish();
    // [consumer]
  }
  tma_store_wait_read();  // the staging buffers must stay until the TMA has read them
  cooperative_groups::this_cluster().sync();
#endif
}

// --- On the host ---

template <class Sender>
struct LinearReduced {
  static void run(const Data& data) {
    using P = typename Sender::P;
    using Storage = typename Sender::Storage;
    const Shape& s = data.shape;
    const OnGpus<uint4> mailed = on_gpus<uint4>(data, kMailed);
    const OnGpus<unsigned> arrived = on_gpus<unsigned>(data, kArrived),
                           flags = on_gpus<unsigned>(data, kFlags);
    const int rows = s.dims[1], own = rows / gpus(s), k = features(s), n = s.dims[2];
    const int blocks = tensor_cores::blocks_for_pairs(gpus(s) * tensor_cores::pair_count(own, n));
    on_each_gpu(gpus(s), [&](int gpu) {
      launch_shared(linear_reduced<Sender>, blocks, kBlockThreads<2>, kSharedBytes<Storage>,
                    tensor_cores::inputs_for_clusters<P>(data.of(kA, gpu), data.of(kW, gpu), rows, k, n),
                    tensor_cores::output_map(data.of(kOwnSum, gpu), own, n), mailed, arrived, flags, gpus(s),
                    gpu, own, k, n);
    });
  }
  /// The products of others' rows are sent, and read again where they arrive. Exact where the tiles cover the
  /// rows of each GPU; without flags.
  static Traffic traffic(const Shape& s) {
    const long long products = gpus(s) * sector_bytes(elements(s), 2), sent = products - products / gpus(s);
    const Traffic tiles = tensor_cores::tiled_bfloat16({{s.dims[1], features(s), s.dims[2]}}, 256, 256);
    Traffic traffic = {gpus(s) * tiles.read_bytes + sent, products, gpus(s) * tiles.repeated_bytes};
    traffic.peer_write_bytes = sent;
    return traffic;
  }
  static bool suits(const Shape& s) { return suits_linear(s); }
};
#endif

struct Tiles {
  static constexpr Stage row = kOfLinearOnHopper.with(
      {.name = "09_tiles", .idea = "one kernel: a tile is sent when it is finished, own rows come last"});
#ifdef WORKBOOK_GPU
  using Runs = LinearReduced<SendByStores>;
#endif
};

}  // namespace DEVICE::several_gpus

/// \file
/// Stage 2: one kernel. Each GPU reads a row of x from all of them, adds the residual, normalises, and stores
/// h and y for itself: the sum never goes to memory. (One-shot all-reduce: all data comes in one step.)
#pragma once
#include "01_unfused.cuh"

namespace DEVICE::several_gpus {

/// h = residual + x of all GPUs, y = h / sqrt(mean of h^2 of its row + epsilon) * weight; on each GPU. The
/// order in which x is added up is that of the GPUs' numbers, so that all get the same bits. Traffic of each
/// GPU: reads x of all and residual, writes h and y.
template <class T, class Blocks, int Pieces>
__global__ void __launch_bounds__(1024)
    one_shot(const __grid_constant__ OnGpus<const T> x, const T* __restrict__ residual,
             const T* __restrict__ weight, T* __restrict__ h, T* __restrict__ y,
             const __grid_constant__ OnGpus<unsigned> flags, int gpus, int me, int rows, int columns) {
  Blocks::meet_others(flags, gpus, me);  // x is there on all of them
  const int pieces = columns / Pack<T>::kCount;
  // [row]
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    const long long first = static_cast<long long>(r) * pieces;
    HeldRow<T, Pieces> row;
#pragma unroll
    for (int j = 0; j < Pieces; ++j) {
      const int i = threadIdx.x + j * blockDim.x;
      if (i >= pieces) continue;
      Pack<T> of_gpu[kMostGpus];
#pragma unroll
      for (int gpu = 0; gpu < kMostGpus; ++gpu)
        if (gpu < gpus) of_gpu[gpu].bits = pieces_of(x.of[gpu])[first + i];
      float sum[Pack<T>::kCount] = {};
#pragma unroll
      for (int gpu = 0; gpu < kMostGpus; ++gpu)
        if (gpu < gpus) add(sum, of_gpu[gpu]);
      row.keep(j, sum, Pack<T>(pieces_of(residual)[first + i]));
      pieces_of(h)[first + i] = row.h[j].bits;
    }
    const float inverse = row.inverse_rms(columns);
#pragma unroll
    for (int j = 0; j < Pieces; ++j) {
      const int i = threadIdx.x + j * blockDim.x;
      if (i < pieces) pieces_of(y)[first + i] = row.normalised(j, inverse, Pack<T>(pieces_of(weight)[i]));
    }
  }
  // [row]
  Blocks::meet_others(flags, gpus, me);  // all have read x
}

// --- On the host ---

/// Blocks says how blocks wait for those of other GPUs.
template <class T, class Blocks>
struct OneShot {
  static int grid(const Shape& s) { return blocks_for<T>(rows(s), s.dims[2]); }
  static void run(const Data& data) {
    const OnGpus<const T> x = on_gpus<const T>(data, kX<T>);
    const OnGpus<unsigned> flags = on_gpus<unsigned>(data, kFlags);
    const int rows = data.shape.dims[1], columns = data.shape.dims[2];
    on_each_gpu(gpus(data.shape), [&](int gpu) {
      with_pieces<T>(columns, [&](auto pieces) {
        launch(one_shot<T, Blocks, pieces.value>, grid(data.shape), threads_of_row<T>(columns), x,
               data.of(kResidual<T>, gpu), data.of(kWeight<T>, gpu), data.of(kH<T>, gpu), data.of(kY<T>, gpu),
               flags, gpus(data.shape), gpu, rows, columns);
      });
    });
  }
  static Traffic traffic(const Shape& s) {
    const long long once = gpus(s) * bytes_of_rows<T>(s, rows(s));
    const long long weight = gpus(s) * sector_bytes(columns(s), sizeof(T));
    Traffic traffic = {(gpus(s) + 1) * once + rows(s) * weight, 2 * once, (rows(s) - 1) * weight};
    traffic.peer_read_bytes = (gpus(s) - 1) * once;
    return traffic + meetings_traffic(s, grid(s), 2);
  }
  static bool suits(const Shape& s) { return suits_rows<T>(s); }
};

struct ByFence : OneShot<BFloat16, ByFences> {
  static constexpr Stage row = kNormalises<BFloat16>.with(
      {.name = "02_one_shot", .idea = "one kernel: each GPU reads a row from all and normalises it"});
};

}  // namespace DEVICE::several_gpus

/// \file
/// Stage 4: in two steps. Each GPU has a part of the rows: it adds up and normalises these alone, and stores
/// their y on all GPUs. No GPU repeats another one's work, and with more than two GPUs fewer bytes go over
/// NVLink: 2 (N - 1) / N of the array to and from each GPU, not N - 1. h stays where its row is. (Two-shot
/// all-reduce: reduce-scatter, then all-gather, with the norm between the two.)
#pragma once
#include "03_release.cuh"

namespace DEVICE::several_gpus {

/// The rows from me * rows / gpus on are this GPU's: own_h = residual + x of all GPUs, and on all of them
/// y = h / sqrt(mean of h^2 of its row + epsilon) * weight. Traffic of each GPU, for 1 / gpus of the rows:
/// reads x of all and residual, writes h, and y to all.
template <class T, int Pieces>
__global__ void __launch_bounds__(1024)
    two_shot(const __grid_constant__ OnGpus<const T> x, const T* __restrict__ residual,
             const T* __restrict__ weight, T* __restrict__ own_h, const __grid_constant__ OnGpus<T> y,
             const __grid_constant__ OnGpus<unsigned> flags, int gpus, int me, int rows, int columns) {
  ByRelease::meet_others(flags, gpus, me);  // x is there on all of them
  const int pieces = columns / Pack<T>::kCount, own_rows = rows / gpus;
  // [row]
  for (int r = blockIdx.x; r < own_rows; r += gridDim.x) {
    const long long first = static_cast<long long>(me * own_rows + r) * pieces;
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
      pieces_of(own_h)[static_cast<long long>(r) * pieces + i] = row.h[j].bits;
    }
    const float inverse = row.inverse_rms(columns);
#pragma unroll
    for (int j = 0; j < Pieces; ++j) {
      const int i = threadIdx.x + j * blockDim.x;
      if (i >= pieces) continue;
      const uint4 piece = row.normalised(j, inverse, Pack<T>(pieces_of(weight)[i]));
      for (int gpu = 0; gpu < gpus; ++gpu) pieces_of(y.of[gpu])[first + i] = piece;
    }
  }
  // [row]
  ByRelease::meet_others(flags, gpus, me);  // all have read x, and y is there
}

// --- On the host ---

template <class T>
struct TwoShot {
  static constexpr Stage row =
      kNormalises<T>.with({.name = kIsFloat<T> ? "04_float32" : "04_two_shot",
                           .idea = kIsFloat<T> ? "the same in float32"
                                               : "each GPU normalises a part of the rows and sends y to all",
                           .output = {&kOwnH<T>, &kY<T>},
                           .needs = "as many rows for each GPU, and rows of whole 16 bytes, up to 64 KiB",
                           .against = kIsFloat<T> ? "03_float32" : nullptr});
  static int grid(const Shape& s) { return blocks_for<T>(own_rows(s), s.dims[2]); }
  static void run(const Data& data) {
    const OnGpus<const T> x = on_gpus<const T>(data, kX<T>);
    const OnGpus<T> y = on_gpus<T>(data, kY<T>);
    const OnGpus<unsigned> flags = on_gpus<unsigned>(data, kFlags);
    const int rows = data.shape.dims[1], columns = data.shape.dims[2];
    on_each_gpu(gpus(data.shape), [&](int gpu) {
      with_pieces<T>(columns, [&](auto pieces) {
        launch(two_shot<T, pieces.value>, grid(data.shape), threads_of_row<T>(columns), x,
               data.of(kResidual<T>, gpu), data.of(kWeight<T>, gpu), data.of(kOwnH<T>, gpu), y, flags,
               gpus(data.shape), gpu, rows, columns);
      });
    });
  }
  /// The rows of all GPUs together are all rows.
  static Traffic traffic(const Shape& s) {
    const long long once = bytes_of_rows<T>(s, rows(s)), h = gpus(s) * bytes_of_rows<T>(s, own_rows(s));
    const long long weight = sector_bytes(columns(s), sizeof(T));
    Traffic traffic = {(gpus(s) + 1) * once + rows(s) * weight, h + gpus(s) * once,
                       (rows(s) - gpus(s)) * weight};
    traffic.peer_read_bytes = traffic.peer_write_bytes = (gpus(s) - 1) * once;
    return traffic + meetings_traffic(s, grid(s), 2);
  }
  static bool suits(const Shape& s) { return suits_rows<T>(s) && rows(s) % gpus(s) == 0; }
};

}  // namespace DEVICE::several_gpus

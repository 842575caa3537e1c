/// \file
/// Stage 1: two kernels. The first adds up x over all GPUs, whose memory it reads as if it were its own; the
/// second adds the residual and normalises. Between the two, each GPU waits until the others have read its x.
#pragma once
#include "meet.hpp"
#include "rows.cuh"

namespace DEVICE::several_gpus {

/// How blocks wait for those of other GPUs: by the flags and fences of common/kernels/meet.hpp, which the
/// exercises use as well.
struct ByFences {
  static __device__ void meet_others(const OnGpus<unsigned>& flags, int gpus, int me) {
    meet(flags, gpus, me);
  }
};

/// sum = x of all GPUs added up, rounded to T; on each GPU. Traffic of each GPU: reads x of all and writes
/// the sum.
template <class T>
__global__ void all_reduce(const __grid_constant__ OnGpus<const T> x, T* __restrict__ sum,
                           const __grid_constant__ OnGpus<unsigned> flags, int gpus, int me,
                           long long elements) {
  // [reduce]
  ByFences::meet_others(flags, gpus, me);  // x is there on all of them
  const long long pieces = elements / Pack<T>::kCount, step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < pieces; i += step) {
    float total[Pack<T>::kCount] = {};
    for (int gpu = 0; gpu < gpus; ++gpu) add(total, Pack<T>(pieces_of(x.of[gpu])[i]));
    Pack<T> rounded;
    for (int e = 0; e < Pack<T>::kCount; ++e) rounded.element[e] = from_float<T>(total[e]);
    pieces_of(sum)[i] = rounded.bits;
  }
  ByFences::meet_others(flags, gpus, me);  // all have read x
  // [reduce]
}

/// h = sum + residual and y = h / sqrt(mean of h^2 of its row + epsilon) * weight: one block per row.
/// Traffic: reads 2 and writes 2 elements per element, and weight once per row.
template <class T, int Pieces>
__global__ void __launch_bounds__(1024)
    residual_rms(const T* __restrict__ sum, const T* __restrict__ residual, const T* __restrict__ weight,
                 T* __restrict__ h, T* __restrict__ y, int columns) {
  const int pieces = columns / Pack<T>::kCount;
  const long long first = static_cast<long long>(blockIdx.x) * pieces;
  HeldRow<T, Pieces> row;
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
    float total[Pack<T>::kCount] = {};
    add(total, Pack<T>(pieces_of(sum)[first + i]));
    row.keep(j, total, Pack<T>(pieces_of(residual)[first + i]));
    pieces_of(h)[first + i] = row.h[j].bits;
  }
  const float inverse = row.inverse_rms(columns);
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i < pieces) pieces_of(y)[first + i] = row.normalised(j, inverse, Pack<T>(pieces_of(weight)[i]));
  }
}

// --- On the host ---

template <class T>
void launch_residual_rms(const Data& data, int gpu) {
  const int columns = data.shape.dims[2];
  with_pieces<T>(columns, [&](auto pieces) {
    launch(residual_rms<T, pieces.value>, data.shape.dims[1], threads_of_row<T>(columns),
           data.of(kSum<T>, gpu), data.of(kResidual<T>, gpu), data.of(kWeight<T>, gpu), data.of(kH<T>, gpu),
           data.of(kY<T>, gpu), columns);
  });
}

template <class T>
Traffic residual_rms_traffic(const Shape& s) {
  const long long once = gpus(s) * bytes_of_rows<T>(s, rows(s));
  const long long weight = gpus(s) * sector_bytes(columns(s), sizeof(T));
  return {2 * once + rows(s) * weight, 2 * once, (rows(s) - 1) * weight};
}

struct Unfused {
  static constexpr Stage row =
      kNormalises<BFloat16>.with({.name = "01_unfused",
                                  .idea = "two kernels: the sum over all GPUs, then residual and norm",
                                  .kernels = 2,
                                  .roundings = roundings_of_stored_sum});
  using T = __nv_bfloat16;
  static constexpr int kThreads = 1024;

  static int grid(const Shape& s) {
    const long long needed = ceil_div(elements(s) / Pack<T>::kCount, kThreads), most = multiprocessors();
    return static_cast<int>(needed < most ? needed : most);
  }
  static void run(const Data& data) {
    const OnGpus<const T> x = on_gpus<const T>(data, kX<T>);
    const OnGpus<unsigned> flags = on_gpus<unsigned>(data, kFlags);
    on_each_gpu(gpus(data.shape), [&](int gpu) {
      launch(all_reduce<T>, grid(data.shape), kThreads, x, data.of(kSum<T>, gpu), flags, gpus(data.shape),
             gpu, elements(data.shape));
      launch_residual_rms<T>(data, gpu);
    });
  }
  static Traffic traffic(const Shape& s) {
    const long long once = gpus(s) * sector_bytes(elements(s), sizeof(T));
    Traffic reduce = {gpus(s) * once, once};
    reduce.peer_read_bytes = (gpus(s) - 1) * once;
    return reduce + meetings_traffic(s, grid(s), 2) + residual_rms_traffic<T>(s);
  }
  static bool suits(const Shape& s) { return suits_rows<T>(s); }
};

}  // namespace DEVICE::several_gpus

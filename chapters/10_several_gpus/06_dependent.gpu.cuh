/// \file
/// Stage 6: few rows again. The launch may begin while the kernel ahead of it in the stream ends; until then
/// it loads what that one does not write, here the weight. Compute capability 9.0 and newer.
#pragma once
#include "05_mail.cuh"

namespace DEVICE::several_gpus {

#ifdef WORKBOOK_GPU
/// by_mail(), but for a launch that may begin early, with x, residual and weight in registers.
template <class T, int Pieces>
__global__ void __launch_bounds__(1024)
    by_early_mail(const T* x, const T* residual, const T* __restrict__ weight, T* __restrict__ h,
                  T* __restrict__ y, const __grid_constant__ OnGpus<uint4> mail, unsigned* sent, int gpus,
                  int me, int columns) {
#if __CUDA_ARCH__ >= 900
  const int pieces = columns / Pack<T>::kCount;
  const long long first = static_cast<long long>(blockIdx.x) * pieces;
  const long long box = (static_cast<long long>(gridDim.x) * pieces + 1) / 2 * 2;
  // [early]
  Pack<T> held_weight[Pieces];
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i < pieces) held_weight[j].bits = pieces_of(weight)[i];
  }
  cudaGridDependencySynchronize();  // from here on what the launch before has written can be seen
  // [early]
  const unsigned turn = sent[blockIdx.x];
  const long long now = turn * gpus * box, last = (turn + 2) % 3 * gpus * box;
  Pack<T> own[Pieces], held_residual[Pieces];
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
    own[j].bits = pieces_of(x)[first + i];
    const uint4 letter = {as_mail(own[j].bits.x), as_mail(own[j].bits.y), as_mail(own[j].bits.z),
                          as_mail(own[j].bits.w)};
    for (int gpu = 0; gpu < gpus; ++gpu)
      if (gpu != me) __stwt(&mail.of[gpu][now + me * box + first + i], letter);
    held_residual[j].bits = pieces_of(residual)[first + i];
    for (int gpu = 0; gpu < gpus; ++gpu)
      if (gpu != me) mail.of[me][last + gpu * box + first + i] = {};
  }
  HeldRow<T, Pieces> row;
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
    float sum[Pack<T>::kCount] = {};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      Pack<T> piece(gpu == me ? own[j].bits : uint4{});
      for (const Deadline deadline; gpu != me && !is_mail(piece.bits); deadline.check())
        piece.bits = __ldcv(&mail.of[me][now + gpu * box + first + i]);
      add(sum, piece);
    }
    row.keep(j, sum, held_residual[j]);
    pieces_of(h)[first + i] = row.h[j].bits;
  }
  const float inverse = row.inverse_rms(columns);
  __syncthreads();  // all threads have read `sent`
  if (threadIdx.x == 0) sent[blockIdx.x] = (turn + 1) % 3;
  cudaTriggerProgrammaticLaunchCompletion();
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i < pieces) pieces_of(y)[first + i] = row.normalised(j, inverse, held_weight[j]);
  }
#endif
}

#endif

// --- On the host ---

struct Dependent {
  static constexpr Stage row =
      kNormalises<BFloat16>.with({.name = "06_dependent",
                                  .idea = "the same, launched while the kernel before it ends",
                                  .needs = "a GPU of compute capability 9.0, and up to 512 rows",
                                  .capability = 90});
#ifdef WORKBOOK_GPU
  using T = __nv_bfloat16;

  static void run(const Data& data) {
    const OnGpus<const T> x = on_gpus<const T>(data, kX<T>);
    const OnGpus<uint4> mail = on_gpus<uint4>(data, kMail);
    const int rows = data.shape.dims[1], columns = data.shape.dims[2];
    on_each_gpu(gpus(data.shape), [&](int gpu) {
      auto* sent = data.of(kSent, gpu);
      with_pieces<T>(columns, [&](auto pieces) {
        launch_dependent(by_early_mail<T, pieces.value>, rows, threads_of_row<T>(columns), x.of[gpu],
                         data.of(kResidual<T>, gpu), data.of(kWeight<T>, gpu), data.of(kH<T>, gpu),
                         data.of(kY<T>, gpu), mail, sent, gpus(data.shape), gpu, columns);
      });
    });
  }
  /// Stage 5's, but x is loaded once.
  static Traffic traffic(const Shape& s) {
    Traffic traffic = ByMail::traffic(s);
    const long long once = gpus(s) * bytes_of_rows<T>(s, rows(s));
    traffic.read_bytes -= once;
    traffic.repeated_bytes -= once;
    return traffic;
  }
  static bool suits(const Shape& s) { return ByMail::suits(s); }
#endif
};

}  // namespace DEVICE::several_gpus

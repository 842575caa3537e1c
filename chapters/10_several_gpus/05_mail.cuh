/// \file
/// Stage 5: few rows, where the time is that of the flags. Each GPU sends its x to the others, which look for
/// the data itself: a mailbox is empty where it is 0, so that no flag and no fence is needed, and a row
/// crosses the link once, where a load is sent over it and answered. Three mailboxes take turns: one is being
/// filled, one may still be filled by a GPU that is a launch ahead, and the one that was read last is
/// emptied. (The idea is that of NCCL's LL protocol; TensorRT-LLM's all-reduce calls it Lamport style.)
#pragma once
#include "deadline.hpp"
#include "rows.cuh"

namespace DEVICE::several_gpus {

/// A mailbox holds no word that is 0: two bfloat16 zeros are sent as -0 and 0, a float32 zero as -0.
__device__ inline unsigned as_mail(unsigned word) { return word == 0 ? 0x80000000u : word; }
__device__ inline bool is_mail(const uint4& piece) { return piece.x && piece.y && piece.z && piece.w; }

/// The same as one_shot(), for one block per row. mail: on each GPU, three times for each GPU that sends, so
/// many rows, zeros at first; sent[b] is whose turn it is of block b's three, 0 at first. All launches that
/// share a mail have the same shape. Traffic of each GPU: reads x and residual, writes x to the others;
/// empties a mailbox and reads one; writes h and y.
template <class T, int Pieces>
__global__ void __launch_bounds__(1024)
    by_mail(const T* __restrict__ x, const T* __restrict__ residual, const T* __restrict__ weight,
            T* __restrict__ h, T* __restrict__ y, const __grid_constant__ OnGpus<uint4> mail, unsigned* sent,
            int gpus, int me, int columns) {
  const int pieces = columns / Pack<T>::kCount;
  const long long first = static_cast<long long>(blockIdx.x) * pieces;
  const long long box = (static_cast<long long>(gridDim.x) * pieces + 1) / 2 * 2;  // of one sender
  const unsigned turn = sent[blockIdx.x];
  const long long now = turn * gpus * box, last = (turn + 2) % 3 * gpus * box;
  // [send]
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
    const uint4 own = pieces_of(x)[first + i];
    const uint4 letter = {as_mail(own.x), as_mail(own.y), as_mail(own.z), as_mail(own.w)};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (gpu == me) continue;
      __stwt(&mail.of[gpu][now + me * box + first + i], letter);
      mail.of[me][last + gpu * box + first + i] = {};
    }
  }
  // [send]

  // [receive]
  HeldRow<T, Pieces> row;
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i >= pieces) continue;
    float sum[Pack<T>::kCount] = {};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      Pack<T> piece(gpu == me ? pieces_of(x)[first + i] : uint4{});
      for (const Deadline deadline; gpu != me && !is_mail(piece.bits); deadline.check())
        piece.bits = __ldcv(&mail.of[me][now + gpu * box + first + i]);
      add(sum, piece);
    }
    row.keep(j, sum, Pack<T>(pieces_of(residual)[first + i]));
    pieces_of(h)[first + i] = row.h[j].bits;
  }
  // [receive]
  const float inverse = row.inverse_rms(columns);
#pragma unroll
  for (int j = 0; j < Pieces; ++j) {
    const int i = threadIdx.x + j * blockDim.x;
    if (i < pieces) pieces_of(y)[first + i] = row.normalised(j, inverse, Pack<T>(pieces_of(weight)[i]));
  }
  __syncthreads();  // all threads have read it
  if (threadIdx.x == 0) sent[blockIdx.x] = (turn + 1) % 3;
}

// --- On the host ---

struct ByMail {
  static constexpr Stage row = kNormalises<BFloat16>.with(
      {.name = "05_mail", .idea = "few rows: x is sent, and is its own flag", .needs = "up to 512 rows"});
  using T = __nv_bfloat16;

  static void run(const Data& data) {
    const OnGpus<const T> x = on_gpus<const T>(data, kX<T>);
    const OnGpus<uint4> mail = on_gpus<uint4>(data, kMail);
    const int rows = data.shape.dims[1], columns = data.shape.dims[2];
    on_each_gpu(gpus(data.shape), [&](int gpu) {
      auto* sent = data.of(kSent, gpu);
      with_pieces<T>(columns, [&](auto pieces) {
        launch(by_mail<T, pieces.value>, rows, threads_of_row<T>(columns), x.of[gpu],
               data.of(kResidual<T>, gpu), data.of(kWeight<T>, gpu), data.of(kH<T>, gpu), data.of(kY<T>, gpu),
               mail, sent, gpus(data.shape), gpu, columns);
      });
    });
  }
  /// Each warp reads whose turn it is.
  static Traffic traffic(const Shape& s) {
    const long long once = gpus(s) * bytes_of_rows<T>(s, rows(s)), others = gpus(s) - 1;
    const long long weight = gpus(s) * sector_bytes(columns(s), sizeof(T));
    const long long blocks = gpus(s) * rows(s), warps = blocks * threads_of_row<T>(s.dims[2]) / 32;
    Traffic traffic = {(3 + others) * once + rows(s) * weight + 32 * warps,
                       (2 + 2 * others) * once + 32 * blocks, once + (rows(s) - 1) * weight};
    traffic.peer_write_bytes = others * once;
    return traffic;
  }
  static bool suits(const Shape& s) { return suits_rows<T>(s) && fits_mail(s); }
};

}  // namespace DEVICE::several_gpus

/// \file
/// Chapter 06: y = gelu(x * w^T + b) on tensor cores, in bfloat16, from wmma to wgmma and the TMA.
/// The ladder; compiled once for each device.
#include "01_tf32.cuh"
#include "01_then_finish.cuh"
#include "01_wmma.cuh"
#include "02_mma.gpu.cuh"
#include "03_wgmma.sm90a.cuh"
#include "04_producer.sm90a.cuh"
#include "05_two_groups.sm90a.cuh"
#include "06_persistent.sm90a.cuh"
#include "07_multicast.sm90a.cuh"
#include "08_tma_epilogue.sm90a.cuh"
#include "09_ping_pong.sm90a.cuh"
#include "09_wide.sm90a.cuh"
#include "10_stream_k.sm90a.cuh"
#include "11_cublas.gpu.cuh"
#include "problem.cuh"

namespace DEVICE::tensor_cores {
namespace {

constexpr auto& kStages = kLadder<Wmma, WmmaTanh, ThenFinish, Tf32, Mma, Wgmma, Producer, TwoGroups,
                                  Persistent, Multicast, TmaEpilogue, TmaEpilogueTanh, PingPong, PingPongTanh,
                                  Wide, WideTanh, StreamK, StreamKTanh, Gemm, Cublas, CublasLt>;

/// The same m and n with growing k: the epilogue saves the same, and the product costs more. The last two are
/// large enough for the fastest stages.
const Shape kSweep[] = {{{2048, 2048, 2048}}, {{4096, 256, 4096}},  {{4096, 512, 4096}},
                        {{4096, 1024, 4096}}, {{4096, 2048, 4096}}, {{4096, 4096, 4096}},
                        {{4096, 8192, 4096}}, {{8192, 256, 8192}},  {{8192, 8192, 8192}},
                        {{8192, 4096, 16384}}};

}  // namespace

Chapter chapter() {
  return {.name = "06_tensor_cores",
          .formula = "y = gelu(x * w^T + b) in bfloat16",
          .dims = "MxKxN",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {256, 64, 256},
          .gpu_shape = {4096, 1024, 4096},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::tensor_cores

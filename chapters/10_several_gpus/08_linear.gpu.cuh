/// \file
/// Stage 8: the Linear before the sum. Each GPU multiplies its part of the input features by its part of the
/// weights (row-parallel), and the sum of these products over the GPUs is the Linear's result, of which each
/// GPU keeps a part of the rows. What one would call: cuBLAS, then ncclReduceScatter.
#pragma once
#include "07_nccl.gpu.cuh"
#if defined WORKBOOK_HAS_NCCL && defined WORKBOOK_HAS_CUBLAS
#include "gpu/cublas.hpp"
#define WITH_CUBLAS_AND_NCCL
#endif

namespace DEVICE::several_gpus {

// --- On the host ---

/// Rows of a, w and the result that start at multiples of 16 bytes.
inline bool suits_linear(const Shape& s) {
  return gpus(s) <= kMostGpus && rows(s) % gpus(s) == 0 && columns(s) % (8 * gpus(s)) == 0;
}

/// The row that the stages share whose x is a Linear's.
constexpr Stage kOfLinear = {.output = {&kOwnSum},
                             .roundings = roundings_of_own_sum,
                             .exact_roundings = exact_roundings,
                             .against = "08_linear"};
/// The same on H100s or H200s.
constexpr Stage kOfLinearOnHopper =
    kOfLinear.with({.needs = "H100s or H200s (sm_90a); equal parts of rows and features",
                    .capability = 90,
                    .no_other_capability = true});

struct Linear {
  static constexpr Stage row =
      kOfLinear.with({.name = "08_linear",
                      .idea = "library: x = a w^T by cuBLAS, then ncclReduceScatter",
                      .kernels = kAnyNumber,
                      .needs = "GPUs, cuBLAS and NCCL; equal parts of rows and features",
                      .exchanged_by_library = true});
#ifdef WITH_CUBLAS_AND_NCCL
  static void run(const Data& data) {
    const Shape& s = data.shape;
    on_each_gpu(gpus(s), [&](int gpu) {
      cublas_product(data.of(kA, gpu), data.of(kW, gpu), data.of(kSum<BFloat16>, gpu), s.dims[1], features(s),
                     s.dims[2], gpu);
    });
    const std::vector<ncclComm_t>& all = communicators(gpus(s));
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    on_each_gpu(gpus(s), [&](int gpu) {
      check_nccl(ncclReduceScatter(data.of(kSum<BFloat16>, gpu), data.of(kOwnSum, gpu),
                                   static_cast<size_t>(own_elements(s)), ncclBfloat16, ncclSum,
                                   all[static_cast<size_t>(gpu)], gpu::launch_stream),
                 "ncclReduceScatter");
    });
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }
  /// At the least: a, w and the products once, and the products of others' rows over NVLink.
  static Traffic traffic(const Shape& s) {
    const long long products = gpus(s) * sector_bytes(elements(s), 2), own = products / gpus(s);
    Traffic traffic = {gpus(s) * sector_bytes(a_elements(s) + w_elements(s), 2) + products, products + own};
    traffic.peer_read_bytes = products - own;
    return traffic;
  }
  static bool suits(const Shape& s) { return suits_linear(s); }
#endif
};

}  // namespace DEVICE::several_gpus

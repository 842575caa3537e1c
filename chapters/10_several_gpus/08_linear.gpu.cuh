/// \file
/// Stage 8: the Linear before the sum. Each GPU multiplies its part of the input features by its part of the
/// weights (row-parallel), and the sum of these products over the GPUs is the Linear's result, of which each
/// GPU keeps a part of the rows. What one would call: cuBLAS, then ncclReduceScatter.
#pragma once
#include "07_nccl.gpu.cuh"

namespace DEVICE::several_gpus {

// --- On the host ---

/// The arrays of one GPU: a, rows x features, and w, columns x features.
struct LinearArrays {
  __nv_bfloat16 *a, *w, *sum, *own_sum;
};
inline LinearArrays linear_arrays(const Data& data, int gpu) {
  const auto array = [&](const char* name) {
    return static_cast<__nv_bfloat16*>(data.array(name, Type::kBFloat16, gpu));
  };
  return {array("a"), array("w"), array("sum"), array("own_sum")};
}

/// Rows of a, w and the result that start at multiples of 16 bytes.
inline bool suits_linear(const Shape& s) {
  return gpus(s) <= kMostGpus && rows(s) % gpus(s) == 0 && columns(s) % (8 * gpus(s)) == 0;
}

}  // namespace DEVICE::several_gpus

#if defined WORKBOOK_HAS_NCCL && defined WORKBOOK_HAS_CUBLAS
#include "gpu/cublas.hpp"

namespace DEVICE::several_gpus {

struct Linear {
  static void run(const Data& data) {
    const Shape& s = data.shape;
    on_each_gpu(gpus(s), [&](int gpu) {
      const LinearArrays l = linear_arrays(data, gpu);
      cublas_product(l.a, l.w, l.sum, s.dims[1], features(s), s.dims[2], gpu);
    });
    const std::vector<ncclComm_t>& all = communicators(gpus(s));
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    on_each_gpu(gpus(s), [&](int gpu) {
      const LinearArrays l = linear_arrays(data, gpu);
      check_nccl(ncclReduceScatter(l.sum, l.own_sum, static_cast<size_t>(own_elements(s)), ncclBfloat16,
                                   ncclSum, all[static_cast<size_t>(gpu)], gpu::launch_stream),
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
};

}  // namespace DEVICE::several_gpus
#endif

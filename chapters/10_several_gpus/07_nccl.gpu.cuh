/// \file
/// Stage 7: what one would call instead of writing the sum over the GPUs: ncclAllReduce, which stores it,
/// rounded; residual and norm are stage 1's second kernel.
#pragma once
#include "01_unfused.cuh"
#ifdef WORKBOOK_HAS_NCCL
#include <vector>

#include "gpu/communicators.hpp"
#endif

namespace DEVICE::several_gpus {

#ifdef WORKBOOK_HAS_NCCL
/// A communicator of the GPUs 0 to count - 1 for each of them.
inline const std::vector<ncclComm_t>& communicators(int count) {
  std::vector<ncclComm_t>& all = made_communicators();
  if (static_cast<int>(all.size()) == count) return all;
  for (ncclComm_t one : all) ncclCommDestroy(one);
  all.resize(static_cast<size_t>(count));
  check_nccl(ncclCommInitAll(all.data(), count, nullptr), "ncclCommInitAll");
  gpu::CurrentGpu first(0);  // ncclCommInitAll leaves the last one
  return all;
}

#endif

// --- On the host ---

struct Nccl {
  static constexpr Stage row =
      kNormalises<BFloat16>.with({.name = "07_nccl",
                                  .idea = "library: ncclAllReduce, then residual and norm",
                                  .kernels = kAnyNumber,
                                  .roundings = roundings_of_stored_sum,
                                  .needs = "GPUs and NCCL",
                                  .exchanged_by_library = true});
#ifdef WORKBOOK_HAS_NCCL
  using T = __nv_bfloat16;

  static void run(const Data& data) {
    const OnGpus<const T> x = on_gpus<const T>(data, kX<T>);
    const std::vector<ncclComm_t>& all = communicators(gpus(data.shape));
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    on_each_gpu(gpus(data.shape), [&](int gpu) {
      check_nccl(ncclAllReduce(x.of[gpu], data.of(kSum<T>, gpu), static_cast<size_t>(elements(data.shape)),
                               ncclBfloat16, ncclSum, all[static_cast<size_t>(gpu)], gpu::launch_stream),
                 "ncclAllReduce");
    });
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
    on_each_gpu(gpus(data.shape), [&](int gpu) { launch_residual_rms<T>(data, gpu); });
  }
  /// NCCL chooses the algorithm: this is what a reduce-scatter and an all-gather move.
  static Traffic traffic(const Shape& s) {
    const long long of_one = sector_bytes(elements(s), sizeof(T)), of_all = gpus(s) * of_one;
    Traffic reduce = {of_all, of_all};
    reduce.peer_read_bytes = reduce.peer_write_bytes = (gpus(s) - 1) * of_one;
    return reduce + residual_rms_traffic<T>(s);
  }
  static bool suits(const Shape& s) { return suits_rows<T>(s); }
#endif
};

}  // namespace DEVICE::several_gpus

/// \file
/// Chapter 08: o = softmax(q * k^T / sqrt(d)) * v. The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_one_kernel.cuh"
#include "04_three_kernels.cuh"
#include "05_two_kernels.cuh"
#include "06_online.cuh"
#include "07_flash.cuh"
#include "08_exp2.cuh"
#include "09_causal.cuh"
#include "10_wmma.cuh"
#include "11_paged.cuh"
#include "11_split.cuh"
#include "12_mma.gpu.cuh"
#include "13_weights.gpu.cuh"
#include "14_wgmma.sm90a.cuh"
#include "15_overlap.sm90a.cuh"
#include "16_three_groups.sm90a.cuh"
#include "17_persistent.sm90a.cuh"
#include "18_cluster.gpu.cuh"
#include "problem.cuh"

namespace DEVICE::attention {
namespace {

constexpr auto& kStages =
    kLadder<Unfused, OneKernel<Full>, OneKernel<Causal>, ThreeKernels, TwoKernels, Online, Flash, Exp2,
            Masked, SkippedTiles, Wmma<Full>, Wmma<Causal>, Split, Paged, Mma, MmaCausal, MmaWeights, Wgmma,
            Overlap, Groups, GroupsCausal, Persistent, PersistentCausal, Cluster>;

const Shape kSweep[] = {{{4, 4, 256, 256, 64}},       {{128, 128, 1024, 1024, 64}},
                        {{128, 128, 4096, 4096, 64}}, {{64, 64, 4096, 4096, 128}},
                        {{32, 32, 1, 131072, 128}},   {{16, 16, 16384, 16384, 128}}};

}  // namespace

Chapter chapter() {
  return {.name = "08_attention",
          .formula = "o = softmax(q * k^T / sqrt(d)) * v",
          .dims = "HxGxQxKxD",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {{1, 1, 256, 256, 64}},
          .gpu_shape = {{128, 128, 1024, 1024, 64}},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .unit = "score",
          .units = all_scores};
}

}  // namespace DEVICE::attention

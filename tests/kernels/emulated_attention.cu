// Chapter 08 with those of its stages alone that need a GPU's instructions: emulated/ has stand-ins for them.
#define WORKBOOK_GPU
#include "../../chapters/08_attention/12_mma.gpu.cuh"
#include "../../chapters/08_attention/13_weights.gpu.cuh"

namespace DEVICE::attention {
namespace {

constexpr auto& kStages = kLadder<Mma, MmaCausal, MmaWeights>;

}  // namespace

Chapter chapter() {
  return {.name = "08_attention",
          .formula = "",
          .dims = "HxGxQxKxD",
          .arrays = kArrays,
          .stages = kStages,
          .cpu_shape = {},
          .gpu_shape = {},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::attention

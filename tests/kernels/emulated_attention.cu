// Chapter 08 with those of its stages alone that need a GPU's instructions: emulated/ has stand-ins for them.
#include "../../chapters/08_attention/12_mma.gpu.cuh"
#include "../../chapters/08_attention/13_weights.gpu.cuh"

namespace DEVICE::attention {
namespace {

template <class Host>
constexpr Stage stage_of(const char* name, const char* output) {
  return stage<Host>({.name = name,
                      .idea = "",
                      .output = output,
                      .roundings = tensor_roundings,
                      .exact_roundings = exact_roundings,
                      .needs = "see the chapter"});
}

const Stage kStages[] = {stage_of<Mma>("12_mma", "o_bfloat16"),
                         stage_of<MmaCausal>("12_causal", "o_causal_bfloat16"),
                         stage_of<MmaWeights>("13_weights", "p_bfloat16")};

}  // namespace

Chapter chapter() {
  return {.name = "08_attention",
          .formula = "",
          .dims = "HxGxQxKxD",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = nullptr,
          .sweep_count = 0,
          .cpu_shape = {},
          .gpu_shape = {},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::attention

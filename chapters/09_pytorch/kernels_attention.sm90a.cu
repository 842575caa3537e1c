/// \file
/// Attention on compute capability 9.0: 16_three_groups and 16_causal, and for short rows 17_persistent and
/// 17_causal; for the weights in float32, 18_cluster. Compiled for sm_90a alone.
#include "../08_attention/17_persistent.sm90a.cuh"
#include "../08_attention/18_cluster.gpu.cuh"
#include "kernels.gpu.cuh"
#include "on_hopper.hpp"

namespace DEVICE::operators {

namespace stages = attention;

void attend(const stages::Operands<__nv_bfloat16>& a, bool causal, __nv_bfloat16* o, unsigned* drawn) {
  const bool narrow = a.sizes.d <= stages::NarrowGroups::D;
  using Loop = stages::Overlapped;
  if (drawn)
    stages::launch_persistent<stages::Causal>(a, o, drawn);
  else if (causal)
    narrow ? stages::launch_wgmma<stages::NarrowGroups, stages::Causal, Loop>(a, o)
           : stages::launch_wgmma<stages::WideGroups, stages::Causal, Loop>(a, o);
  else if (a.sizes.keys <= workbook_ops::kShortRows)
    stages::launch_persistent<stages::Full>(a, o, nullptr);
  else
    narrow ? stages::launch_wgmma<stages::NarrowGroups, stages::Full, Loop>(a, o)
           : stages::launch_wgmma<stages::WideGroups, stages::Full, Loop>(a, o);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

void workbook_ops::launch_attention_on_hopper(const WorkbookAttention& task) {
  const auto array = [](const void* start) { return static_cast<const __nv_bfloat16*>(start); };
  const stages::Operands<__nv_bfloat16> operands = {
      .sizes = {task.heads, task.key_heads, task.queries, task.keys, task.d},
      .scale = task.scale,
      .q = array(task.q),
      .k = array(task.k),
      .v = array(task.v)};
  make_context_current();
  auto* const drawn = static_cast<unsigned*>(task.scratch);
  if (drawn) gpu::check(cudaMemsetAsync(drawn, 0, sizeof(unsigned), gpu::launch_stream));
  attend(operands, task.causal && task.queries > 1, static_cast<__nv_bfloat16*>(task.out), drawn);
}

void workbook_ops::launch_weights_on_hopper(const WorkbookAttention& task) {
  const auto array = [](const void* start) { return static_cast<const float*>(start); };
  stages::launch_cluster(array(task.q), array(task.k), static_cast<float*>(task.out),
                         {task.heads, task.key_heads, task.queries, task.keys, task.d}, task.scale);
}

/// \file
/// Attention on compute capability 9.0: 16_three_groups, 16_causal, and 17_persistent where rows are short.
/// Compiled for sm_90a alone.
#include "../08_attention/17_persistent.sm90a.cuh"
#include "kernels.gpu.cuh"
#include "on_hopper.hpp"

namespace DEVICE::operators {

namespace stages = attention;

/// Up to here a persistent block gains by loading its next queries early (docs/attention_hopper.md).
constexpr int kShort = 2048;

/// 17_causal is not among them: its counter serves one launch at a time, and PyTorch may have several
/// streams.
void attend(const stages::Halves& a, bool causal, __nv_bfloat16* o) {
  const bool narrow = a.sizes.d <= stages::NarrowGroups::D;
  using Loop = stages::Overlapped;
  if (causal)
    narrow ? stages::launch_wgmma<stages::NarrowGroups, stages::Causal, Loop>(a, o)
           : stages::launch_wgmma<stages::WideGroups, stages::Causal, Loop>(a, o);
  else if (a.sizes.keys <= kShort)
    stages::launch_persistent<stages::Full>(a, o);
  else
    narrow ? stages::launch_wgmma<stages::NarrowGroups, stages::Full, Loop>(a, o)
           : stages::launch_wgmma<stages::WideGroups, stages::Full, Loop>(a, o);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

void workbook_ops::launch_attention_on_hopper(const WorkbookAttention& task) {
  const auto array = [](const void* start) { return static_cast<const __nv_bfloat16*>(start); };
  const stages::Halves arrays = {.sizes = {task.heads, task.key_heads, task.queries, task.keys, task.d},
                                 .scale = task.scale,
                                 .q = array(task.q),
                                 .k = array(task.k),
                                 .v = array(task.v)};
  make_context_current();
  attend(arrays, task.causal && task.queries > 1, static_cast<__nv_bfloat16*>(task.out));
}

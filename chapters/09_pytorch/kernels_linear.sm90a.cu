/// \file
/// Linear and GELU on tensor cores of compute capability 9.0: 09_ping_pong and 09_wide of chapter 06.
/// Compiled for sm_90a alone.
#include "../06_tensor_cores/09_ping_pong.sm90a.cuh"
#include "../06_tensor_cores/09_wide.sm90a.cuh"
#include "kernels.gpu.cuh"
#include "on_hopper.hpp"

namespace DEVICE::operators {

/// 09_wide is faster where its larger tiles fill many waves, so that the last one hardly counts, and where k
/// is long beside the epilogue (table "Ping-pong and wider tiles" of docs/tensor_cores_measured.md).
bool is_for_wide(const tensor_cores::Factors& a) {
  constexpr int kManyWaves = 16, kLong = 1024;
  const int clusters = multiprocessors() / 2;
  return a.k >= kLong && tensor_cores::wide_pairs(a.m, a.n) >= kManyWaves * clusters;
}

template <class Gelu>
void launch_gelu(const tensor_cores::Factors& a, const __nv_bfloat16* bias, const __nv_bfloat16* y) {
  if (is_for_wide(a))
    tensor_cores::launch_wide<Gelu>(a, bias, y);
  else
    tensor_cores::launch_ping_pong<Gelu>(a, bias, y);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

void workbook_ops::launch_linear_on_hopper(const WorkbookLinearGelu& task) {
  const auto array = [](const void* start) { return static_cast<const __nv_bfloat16*>(start); };
  const DEVICE::tensor_cores::Factors factors = {array(task.x), array(task.weight), task.rows, task.inputs,
                                                 task.outputs};
  make_context_current();
  if (task.use_tanh)
    launch_gelu<DEVICE::FastGeluTanh>(factors, array(task.bias), array(task.y));
  else
    launch_gelu<DEVICE::FastGelu>(factors, array(task.bias), array(task.y));
}

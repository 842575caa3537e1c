/// \file
/// Linear and GELU in one kernel: 10_epilogue of chapter 05 for float32, and chapter 06 on tensor cores for
/// bfloat16. There it is 01_wmma, or on compute capability 9.0, where the shape suits it, a kernel of
/// kernels_linear.sm90a.cu. The epilogues of the chapters take a float32 bias; here it has the type of all
/// arrays.
#include <stdexcept>

#include "../05_linear_gelu/10_epilogue.cuh"
#include "../06_tensor_cores/01_wmma.cuh"
#include "formulas.hpp"
#include "kernels.gpu.cuh"
#include "on_hopper.hpp"

namespace DEVICE::operators {

/// GELU(product + bias), as one of epilogues.hpp.
template <class Formula, class T>
struct Epilogue {
  const T* bias;
  __device__ float of_column(int column) const { return to_float(bias[column]); }
  __device__ float operator()(float product, float shift) const {
    const float in[] = {product, shift};
    float out[1];
    Formula::compute(in, out);
    return out[0];
  }
};

// --- On the host ---

/// The factors as a chapter's stages have them.
template <class Factors, class T>
Factors factors_of(const WorkbookLinearGelu& task) {
  return {static_cast<const T*>(task.x), static_cast<const T*>(task.weight), task.rows, task.inputs,
          task.outputs};
}

/// Both stages have tiles of 128 rows, and a grid has at most 65535 blocks along y.
constexpr int kMostRows = 65535 * 128;

void check_rows(int rows) {
  if (rows > kMostRows) throw std::runtime_error("x has more than 8388480 rows: split it");
}

#ifdef WORKBOOK_OPS_HOPPER
/// Whether the TMA can copy the matrices: their rows must be whole multiples of 16 bytes.
bool suits_hopper(const WorkbookLinearGelu& task) {
  return task.inputs > 0 && task.inputs % 8 == 0 && task.outputs % 8 == 0 &&
         are_aligned(task.x, task.weight, task.y);
}
#endif

template <class Formula>
void run_bfloat16(const WorkbookLinearGelu& task) {
  need_bfloat16();
#ifdef WORKBOOK_OPS_HOPPER
  if (compute_capability() == 90 && suits_hopper(task)) return workbook_ops::launch_linear_on_hopper(task);
#endif
  check_rows(task.rows);
  using T = __nv_bfloat16;
  launch_wmma(factors_of<tensor_cores::Factors, T>(task), static_cast<T*>(task.y),
              Epilogue<Formula, T>{static_cast<const T*>(task.bias)});
}

template <class Formula>
void run_linear_gelu(const WorkbookLinearGelu& task) {
  if (task.type != kFloat32) return run_bfloat16<Formula>(task);
  check_rows(task.rows);
  launch_warp_tiles(factors_of<linear_gelu::Factors, float>(task), static_cast<float*>(task.y),
                    linear_gelu::AsItIs{}, Epilogue<Formula, float>{static_cast<const float*>(task.bias)});
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_linear_gelu_cuda(const WorkbookLinearGelu* task, void* stream) {
  return guarded(stream, [&] {
    if (task->use_tanh)
      run_linear_gelu<workbook_ops::BiasGeluTanh>(*task);
    else
      run_linear_gelu<workbook_ops::BiasGelu>(*task);
  });
}

/// \file
/// Linear and GELU in one kernel: 10_epilogue of chapter 05 for float32, on tensor cores 1_wmma of chapter 06
/// for bfloat16. Their epilogues take a float32 bias; here it has the type of all arrays.
#include <stdexcept>

#include "../05_linear_gelu/10_epilogue.cuh"
#include "../06_tensor_cores/1_wmma.cuh"
#include "formulas.hpp"
#include "kernels.gpu.cuh"

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

/// The arrays of a chapter's stages, as far as these launches read them.
template <class Arrays, class T>
Arrays arrays_of(const WorkbookLinearGelu& task) {
  const auto read_only = [](const void* array) { return const_cast<T*>(static_cast<const T*>(array)); };
  Arrays arrays = {};
  arrays.m = task.rows, arrays.k = task.inputs, arrays.n = task.outputs;
  arrays.x = read_only(task.x), arrays.w = read_only(task.weight);
  return arrays;
}

/// Both stages have tiles of 128 rows, and a grid has at most 65535 blocks along y.
constexpr int kMostRows = 65535 * 128;

void check_rows(int rows) {
  if (rows > kMostRows) throw std::runtime_error("x has more than 8388480 rows: split it");
}

void check_tensor_cores() {
  int device = 0, major = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 8) throw std::runtime_error("bfloat16 needs a GPU of compute capability 8.0 or newer");
}

template <class Formula>
void run_linear_gelu(const WorkbookLinearGelu& task) {
  check_rows(task.rows);
  if (task.type == kFloat32) {
    launch_warp_tiles(arrays_of<linear_gelu::Arrays, float>(task), static_cast<float*>(task.y),
                      linear_gelu::AsItIs{}, Epilogue<Formula, float>{static_cast<const float*>(task.bias)});
  } else {
    check_tensor_cores();
    using T = __nv_bfloat16;
    launch_wmma(arrays_of<tensor_cores::Arrays, T>(task), static_cast<T*>(task.y),
                Epilogue<Formula, T>{static_cast<const T*>(task.bias)});
  }
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

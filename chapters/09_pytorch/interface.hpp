/// \file
/// The C layer between the operators (operators.cpp) and the code that computes (cpu_loops.cpp, kernels.cu).
/// Pointers are raw, and no PyTorch header is needed, so a C++ program or ctypes can call it too. Arrays are
/// contiguous. Sizes are below 2^31. Functions of the GPU side return 0, or 1 with a message in
/// workbook_error(); they only start kernels on `stream`, a cudaStream_t, and wait for nothing.
#pragma once

extern "C" {

/// The element type of all arrays of a call. 16-bit elements are computed in float32 and rounded once.
enum WorkbookType { kFloat64, kFloat32, kFloat16, kBFloat16 };

/// What is computed of each element: formulas.hpp has a struct for each.
enum WorkbookFormula {
  kMultiplyAdd,
  kMultiplyAddBackward,
  kAddMulExp,
  kAddMulExpBackward,
  kAddRelu,
  kAddReluBackward,
  kMulTanh,
  kMulTanhBackward,
  kGelu,
  kGeluBackward,
  kGeluTanh,
  kGeluTanhBackward,
  kBiasGelu,
  kBiasGeluTanh,
};

/// The formula at the elements [begin, end) of all arrays, by the calling thread. The last input of kBiasGelu
/// and kBiasGeluTanh has `period` elements and is read again and again; other formulas ignore `period`.
void workbook_elementwise_cpu(int formula, int type, const void* const* in, void* const* out, int period,
                              int begin, int end);

/// The formula at n elements of all arrays.
int workbook_elementwise_cuda(int formula, int type, const void* const* in, void* const* out, int period,
                              int n, void* stream);

/// The backward pass of GELU(x + bias) over the last dimension: grad, x and dx are rows x columns, bias and
/// dbias have one element per column, dx = grad * slope(x + bias), and dbias is the sum of each column of dx.
/// `partial` is scratch memory, parts x columns, of float64 for float64 arrays and of float32 for all others:
/// part p of the rows leaves its sums in row p.
struct WorkbookBiasGelu {
  int use_tanh, type, rows, columns, parts;
  const void *grad, *x, *bias;
  void *dx, *dbias, *partial;
};

/// The rows of part `part`, by the calling thread.
void workbook_bias_gelu_part_cpu(const struct WorkbookBiasGelu* task, int part);
/// dbias from the sums of all parts.
void workbook_bias_gelu_sum_cpu(const struct WorkbookBiasGelu* task);

/// Everything, in two kernels.
int workbook_bias_gelu_backward_cuda(const struct WorkbookBiasGelu* task, void* stream);
/// How many parts fill the current device.
int workbook_bias_gelu_parts_cuda(int rows, int columns);

/// 1 if the library was built with its GPU side.
int workbook_has_cuda();

/// The message of this thread's last error.
const char* workbook_error();

}  // extern "C"

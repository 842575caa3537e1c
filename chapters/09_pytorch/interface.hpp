/// \file
/// The C layer between the operators (operators*.cpp) and the code that computes (cpu_*.cpp, kernels*.cu).
/// Pointers are raw, and no PyTorch header is needed, so a C++ program or ctypes can call it too. Arrays are
/// contiguous. Sizes are below 2^31. Functions of the GPU side return 0, or 1 with a message in
/// workbook_error(); they only start kernels on `stream`, a cudaStream_t, and wait for nothing. Functions
/// without a stream, of numbers of parts and of floats, ask the current device, and throw gpu::Error where it
/// has none.
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

/// How many parts of so many rows fill the current device, where columns are summed.
int workbook_parts_cuda(int type, int rows, int columns);

/// Dropout of GELU(x): out = GELU(x) * factor, or where there is a `grad`, out = grad * slope(x) * factor.
/// The factors are 0 with the probability p, rounded to a multiple of 2^-16, and else 1 / (1 - p); the same
/// seed gives the same ones for arrays of the same type. `seed` is in the memory of the device. Not for
/// float64. On a GPU, where workbook_gelu_dropout_scratch() is not 0, `scratch` has so many floats; else it
/// is null.
struct WorkbookGeluDropout {
  int use_tanh, type, n;
  double p;
  const unsigned long long* seed;
  const void *grad, *x;
  void *out, *scratch;
};

/// The elements [begin, end), by the calling thread.
void workbook_gelu_dropout_cpu(const struct WorkbookGeluDropout* task, int begin, int end);
int workbook_gelu_dropout_cuda(const struct WorkbookGeluDropout* task, void* stream);
long long workbook_gelu_dropout_scratch(const struct WorkbookGeluDropout* task);

/// How rows are normalised; norms.hpp has a struct for each. Not for float64.
enum WorkbookNormKind { kLayerNormRelu, kReluLayerNorm, kResidualRmsNorm };

/// y = the normalised rows of x. For kResidualRmsNorm it is those of sum = x + residual, rounded to the type,
/// and there is no bias; the other kinds have neither residual nor sum. x, residual, sum and y are rows x
/// columns, weight and bias have one element per column.
struct WorkbookNorm {
  int kind, type, rows, columns;
  float epsilon;
  const void *x, *residual, *weight, *bias;
  void *y, *sum;
};

/// The rows [begin, end), by the calling thread.
void workbook_norm_cpu(const struct WorkbookNorm* task, int begin, int end);
int workbook_norm_cuda(const struct WorkbookNorm* task, void* stream);

/// The backward pass: dx from grad, the gradient of y, and from x, which for kResidualRmsNorm is the sum;
/// dweight and dbias are sums of columns. grad_sum, which is added to dx, is the gradient of the sum or null;
/// only kLayerNormRelu reads bias, and kResidualRmsNorm has no dbias. Scratch memory, of float32: `partial`
/// is parts x 2 x columns and begins at a multiple of 32 bytes; `moments`, for the GPU side alone, is rows
/// x 2.
struct WorkbookNormBackward {
  int kind, type, rows, columns, parts;
  float epsilon;
  const void *grad, *grad_sum, *x, *weight, *bias;
  void *dx, *dweight, *dbias, *partial, *moments;
};

/// The rows of part `part`, by the calling thread.
void workbook_norm_backward_part_cpu(const struct WorkbookNormBackward* task, int part);
/// dweight and dbias from the sums of all parts.
void workbook_norm_backward_sum_cpu(const struct WorkbookNormBackward* task);
/// Everything.
int workbook_norm_backward_cuda(const struct WorkbookNormBackward* task, void* stream);
/// How many parts fill the current device. Only the sizes and the type are read.
int workbook_norm_parts_cuda(const struct WorkbookNormBackward* task);

/// q = x in steps of `scale`, to int8: x / scale + zero_point in float32, rounded to the nearest, to even in
/// the middle, and clamped to [-128, 127]; a NaN becomes 0. Not for float64.
struct WorkbookQuantize {
  int type, n;
  float scale, zero_point;
  const void* x;
  signed char* q;
};

/// The elements [begin, end), by the calling thread.
void workbook_quantize_cpu(const struct WorkbookQuantize* task, int begin, int end);
int workbook_quantize_cuda(const struct WorkbookQuantize* task, void* stream);

/// The same with a scale for each row, which maps the largest absolute value of the row to 127; a NaN is
/// ignored, and a row of zeros has the scale 1. x and q are rows x columns. Not for float64.
struct WorkbookQuantizeRows {
  int type, rows, columns;
  const void* x;
  signed char* q;
  float* scales;
};

/// The rows [begin, end), by the calling thread.
void workbook_quantize_rows_cpu(const struct WorkbookQuantizeRows* task, int begin, int end);
int workbook_quantize_rows_cuda(const struct WorkbookQuantizeRows* task, void* stream);

/// How each line of an array is reduced; reductions.hpp has a struct for each.
enum WorkbookReductionKind { kSumOfSquares, kMeanAbs };

/// x is outer x size x inner, and its lines have `size` elements, `inner` apart: out = the reduced lines,
/// outer x inner. Where `parts` is more than 1, each line is summed in so many parts, whose sums part p
/// leaves in row p of the scratch memory `partial`, parts x outer x inner, of float64 for float64 arrays and
/// of float32 for all others. No size may be 0.
struct WorkbookReduction {
  int kind, type, outer, size, inner, parts;
  const void* x;
  void *out, *partial;
};

/// Sums [begin, end) of those of part 0, then part 1 and so on, by the calling thread.
void workbook_reduction_cpu(const struct WorkbookReduction* task, int begin, int end);
/// out from the sums of all parts, if there are several.
void workbook_reduction_sum_cpu(const struct WorkbookReduction* task);
/// Everything.
int workbook_reduction_cuda(const struct WorkbookReduction* task, void* stream);

/// How many parts fill the current device. Only the sizes and the type are read.
int workbook_reduction_parts_cuda(const struct WorkbookReduction* task);

/// The backward pass: dx = grad, repeated along each line, * slope(x). grad is outer x inner.
struct WorkbookReductionBackward {
  int kind, type, outer, size, inner;
  const void *grad, *x;
  void* dx;
};

/// The elements [begin, end) of dx, by the calling thread.
void workbook_reduction_backward_cpu(const struct WorkbookReductionBackward* task, int begin, int end);
int workbook_reduction_backward_cuda(const struct WorkbookReductionBackward* task, void* stream);

/// y = GELU(x * weight^T + bias): x is rows x inputs, weight outputs x inputs, y rows x outputs, and bias has
/// one element per output. For float32 and bfloat16, whose product is added up in float32 and not rounded.
struct WorkbookLinearGelu {
  int use_tanh, type, rows, inputs, outputs;
  const void *x, *weight, *bias;
  void* y;
};

int workbook_linear_gelu_cuda(const struct WorkbookLinearGelu* task, void* stream);

/// Attention: out = softmax(q * k^T * scale) * v, or without v the softmax alone. q is heads x queries x d, k
/// and v are key_heads x keys x d; heads that share a key head stand side by side. With `causal`, the last
/// query sees all keys, and each query before it one key less; a query that sees none has zeros. For float32
/// and bfloat16, with sums in float32 and d of at most 128; without v for at most 1024 keys, and for bfloat16
/// d of at most 64. Where workbook_attention_scratch() is not 0, `scratch` has so many floats; else it is
/// null.
struct WorkbookAttention {
  int causal, type, heads, key_heads, queries, keys, d;
  float scale;
  const void *q, *k, *v;
  void *out, *scratch;
};

int workbook_attention_cuda(const struct WorkbookAttention* task, void* stream);
long long workbook_attention_scratch(const struct WorkbookAttention* task);

/// What its GPU side was built for, as nvcc names it, with spaces between: sm_90 is machine code for that
/// compute capability, compute_80 is PTX, which the driver compiles for it and newer ones; sm_90a has the
/// kernels of linear_gelu and attention with wgmma and the TMA. Empty without a GPU side.
const char* workbook_built_for();

/// The message of this thread's last error.
const char* workbook_error();

}  // extern "C"

/// \file
/// Chapter 05: y = gelu(x * w^T + b), PyTorch's Linear and what follows it. Stages, inputs and reference;
/// compiled once for each device.
#include <math.h>

#include "10_epilogue.cuh"
#include "12_late_gelu.cuh"
#include "13_wmma.cuh"
#include "1_unfused.cuh"
#include "2_coalesced.cuh"
#include "3_fused_naive.cuh"
#include "4_tiles.cuh"
#include "5_column.cuh"
#include "6_square.cuh"
#include "7_vectorised.cuh"
#include "8_pipelined.cuh"
#include "9_warp_tiles.cuh"
#include "chapter.hpp"
#ifdef WORKBOOK_HAS_CUBLAS
#include "11_cublas.gpu.cuh"
#endif

namespace DEVICE::linear_gelu {
namespace {

using workbook::Array;
using workbook::blocks;
using workbook::Chapter;
using workbook::Data;
using workbook::Role;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::Traffic;
using workbook::Type;

// --- Arrays ---

long long m(const Shape& s) { return s.dims[0]; }
long long k(const Shape& s) { return s.dims[1]; }
long long n(const Shape& s) { return s.dims[2]; }

long long x_elements(const Shape& s) { return m(s) * k(s); }
long long w_elements(const Shape& s) { return n(s) * k(s); }
long long y_elements(const Shape& s) { return m(s) * n(s); }

struct Arrays {
  int m, k, n;
  float *x, *w, *bias, *v, *product, *biased, *y, *y_tanh, *z;
};

Arrays arrays(const Data& d) {
  return {d.shape.dims[0],    d.shape.dims[1],  d.shape.dims[2],    d.floats("x"),
          d.floats("w"),      d.floats("bias"), d.floats("v"),      d.floats("product"),
          d.floats("biased"), d.floats("y"),    d.floats("y_tanh"), d.floats("z")};
}

/// x, w and y in 16 bits.
struct Bfloat16 {
  __nv_bfloat16 *x, *w, *y, *y_tanh;
};

Bfloat16 bfloat16_arrays(const Data& d) {
  const auto array = [&](const char* name) {
    return static_cast<__nv_bfloat16*>(d.array(name, Type::kBFloat16));
  };
  return {array("x_bfloat16"), array("w_bfloat16"), array("y_bfloat16"), array("y_bfloat16_tanh")};
}

// --- Inputs and reference ---

/// The elements of the product have a variance of about 1, whatever k is: GELU is curved there.
void fill(const Data& host) {
  const float reach = 3.0f / sqrtf(static_cast<float>(host.shape.dims[1]));
  workbook::fill_uniform(host.floats("x"), x_elements(host.shape), -1.0f, 1.0f, 51);
  workbook::fill_uniform(host.floats("w"), w_elements(host.shape), -reach, reach, 52);
  workbook::fill_uniform(host.floats("bias"), n(host.shape), -0.5f, 1.0f, 53);
  workbook::fill_uniform(host.floats("v"), w_elements(host.shape), -0.5f, 1.0f, 54);
  const Arrays a = arrays(host);
  const Bfloat16 rounded = bfloat16_arrays(host);
  for (long long i = 0; i < x_elements(host.shape); ++i) rounded.x[i] = from_float<__nv_bfloat16>(a.x[i]);
  for (long long i = 0; i < w_elements(host.shape); ++i) rounded.w[i] = from_float<__nv_bfloat16>(a.w[i]);
}

void reference_product(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  workbook::product_of_rows(a.x, a.w, a.m, a.k, a.n, expected, magnitude);
}

/// What comes of the product with bias and GELU. GELU is nowhere steeper than 1.13, so an error of its
/// argument grows by no more.
template <class Gelu>
void finish_reference(const Data& host, Gelu of, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (long long i = 0; i < y_elements(host.shape); ++i) {
    const double bias = a.bias[i % a.n];
    expected[i] = of(expected[i] + bias);
    magnitude[i] = 1.13 * (magnitude[i] + fabs(bias));
  }
}
double exact_gelu(double v) { return 0.5 * v * (1 + erf(v / sqrt(2.0))); }
double exact_gelu_tanh(double v) {
  return 0.5 * v * (1 + tanh(sqrt(2 / acos(-1.0)) * (v + 0.044715 * v * v * v)));
}
void reference_y(const Data& host, double* expected, double* magnitude) {
  reference_product(host, expected, magnitude);
  finish_reference(host, exact_gelu, expected, magnitude);
}
void reference_y_tanh(const Data& host, double* expected, double* magnitude) {
  reference_product(host, expected, magnitude);
  finish_reference(host, exact_gelu_tanh, expected, magnitude);
}

float* widened(const __nv_bfloat16* elements, long long count) {
  auto* out = new float[static_cast<size_t>(count)];
  for (long long i = 0; i < count; ++i) out[i] = to_float(elements[i]);
  return out;
}
void reference_bfloat16_product(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  const float* x = widened(bfloat16_arrays(host).x, x_elements(host.shape));
  const float* w = widened(bfloat16_arrays(host).w, w_elements(host.shape));
  workbook::product_of_rows(x, w, a.m, a.k, a.n, expected, magnitude);
  delete[] w;
  delete[] x;
}
void reference_y_bfloat16(const Data& host, double* expected, double* magnitude) {
  reference_bfloat16_product(host, expected, magnitude);
  finish_reference(host, exact_gelu, expected, magnitude);
}
void reference_y_bfloat16_tanh(const Data& host, double* expected, double* magnitude) {
  reference_bfloat16_product(host, expected, magnitude);
  finish_reference(host, exact_gelu_tanh, expected, magnitude);
}

/// The second product, whose first matrix is y. Its terms are those of a product of y, which is rounded here
/// as it is there, and what the errors of y come to.
void reference_z(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  const auto y_count = static_cast<size_t>(y_elements(host.shape));
  const auto z_count = static_cast<size_t>(x_elements(host.shape));
  auto *y = new double[y_count], *y_magnitude = new double[y_count], *errors = new double[z_count];
  auto* as_float = new float[y_count];
  reference_y(host, y, y_magnitude);
  for (size_t i = 0; i < y_count; ++i) as_float[i] = static_cast<float>(y_magnitude[i]);
  workbook::product_of_rows(as_float, a.v, a.m, a.n, a.k, expected, errors);
  for (size_t i = 0; i < y_count; ++i) as_float[i] = static_cast<float>(y[i]);
  workbook::product_of_rows(as_float, a.v, a.m, a.n, a.k, expected, magnitude);
  for (size_t i = 0; i < z_count; ++i) magnitude[i] += errors[i];
  delete[] as_float;
  delete[] errors;
  delete[] y_magnitude;
  delete[] y;
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, x_elements, nullptr},
    {"w", Type::kFloat32, Role::kInput, w_elements, nullptr},
    {"bias", Type::kFloat32, Role::kInput, n, nullptr},
    {"v", Type::kFloat32, Role::kInput, w_elements, nullptr},
    {"biased", Type::kFloat32, Role::kScratch, y_elements, nullptr},
    {"product", Type::kFloat32, Role::kOutput, y_elements, reference_product, "x w "},
    {"y", Type::kFloat32, Role::kOutput, y_elements, reference_y, "x w bias "},
    {"y_tanh", Type::kFloat32, Role::kOutput, y_elements, reference_y_tanh, "x w bias "},
    {"z", Type::kFloat32, Role::kOutput, x_elements, reference_z, "x w bias v "},
    {"x_bfloat16", Type::kBFloat16, Role::kInput, x_elements, nullptr},
    {"w_bfloat16", Type::kBFloat16, Role::kInput, w_elements, nullptr},
    {"y_bfloat16", Type::kBFloat16, Role::kOutput, y_elements, reference_y_bfloat16,
     "x_bfloat16 w_bfloat16 bias "},
    {"y_bfloat16_tanh", Type::kBFloat16, Role::kOutput, y_elements, reference_y_bfloat16_tanh,
     "x_bfloat16 w_bfloat16 bias "},
};

// --- Stages ---

constexpr int kRowThreads = 256;

/// Blocks of `threads` columns for each row.
dim3 by_rows(const Arrays& a, int columns) {
  return dim3(static_cast<unsigned>(a.m), static_cast<unsigned>(blocks(a.n, columns)));
}
dim3 by_tiles(const Arrays& a, int tile_rows, int tile_columns) {
  return dim3(static_cast<unsigned>(blocks(a.n, tile_columns)),
              static_cast<unsigned>(blocks(a.m, tile_rows)));
}

void launch_bias_and_gelu(const Arrays& a) {
  launch(add_bias, by_rows(a, kRowThreads), kRowThreads, a.product, a.bias, a.biased, a.n);
  launch(apply_gelu, by_rows(a, kRowThreads), kRowThreads, a.biased, a.y, a.n);
}

void run_unfused(const Data& data) {
  const Arrays a = arrays(data);
  const dim3 grid(static_cast<unsigned>(blocks(a.m, 32)), static_cast<unsigned>(blocks(a.n, 8)));
  launch(product_down_columns, grid, dim3(32, 8), a.x, a.w, a.product, a.m, a.k, a.n);
  launch_bias_and_gelu(a);
}
void run_coalesced(const Data& data) {
  const Arrays a = arrays(data);
  launch(product_along_rows, by_rows(a, 8), dim3(32, 8), a.x, a.w, a.product, a.k, a.n);
  launch_bias_and_gelu(a);
}
void run_fused_naive(const Data& data) {
  const Arrays a = arrays(data);
  launch(linear_along_rows, by_rows(a, 8), dim3(32, 8), a.x, a.w, a.bias, a.y, a.k, a.n);
}
void run_tiles(const Data& data) {
  const Arrays a = arrays(data);
  launch(product_by_tiles, by_tiles(a, kTile, kTile), dim3(kTile, kTile), a.x, a.w, a.product, a.m, a.k, a.n);
}
void run_columns(const Data& data) {
  const Arrays a = arrays(data);
  launch(product_by_columns, by_tiles(a, kSide5, kSide5), kThreads5, a.x, a.w, a.product, a.m, a.k, a.n);
}
void run_squares(const Data& data) {
  const Arrays a = arrays(data);
  launch(product_by_squares, by_tiles(a, kSide, kSide), kThreads, a.x, a.w, a.product, a.m, a.k, a.n);
}

bool starts_vector(const float* array) { return reinterpret_cast<size_t>(array) % 16 == 0; }
bool rows_of_vectors(const Arrays& a) { return a.k % 4 == 0 && starts_vector(a.x) && starts_vector(a.w); }
bool of_whole_tiles(const Arrays& a, const float* result) {
  return a.m % kSide == 0 && a.n % kSide == 0 && a.k % (2 * kDepth) == 0 && rows_of_vectors(a) &&
         starts_vector(result);
}

void run_vectorised(const Data& data) {
  const Arrays a = arrays(data);
  launch(rows_of_vectors(a) ? product_by_vectors<true, AsItIs> : product_by_vectors<false, AsItIs>,
         by_tiles(a, kSide, kSide), kThreads, a.x, a.w, a.product, a.m, a.k, a.n, AsItIs{});
}
void run_pipelined(const Data& data) {
  const Arrays a = arrays(data);
  launch(of_whole_tiles(a, a.product) ? product_pipelined<true> : product_pipelined<false>,
         by_tiles(a, kSide, kSide), kThreads, a.x, a.w, a.product, a.m, a.k, a.n);
}

template <class Epilogue>
void launch_warp_tiles(const Arrays& a, float* y, Epilogue epilogue) {
  launch(of_whole_tiles(a, y) ? linear_by_warp_tiles<true, Epilogue> : linear_by_warp_tiles<false, Epilogue>,
         by_tiles(a, kSide, kSide), kThreads, a.x, a.w, y, a.m, a.k, a.n, epilogue);
}
void run_warp_tiles(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.product, NoEpilogue{});
}
void launch_finish(const Arrays& a) {
  const dim3 grid(static_cast<unsigned>(blocks(a.m, kFinishRows)),
                  static_cast<unsigned>(blocks(a.n, 4 * kFinishThreads)));
  launch(finish<BiasGelu>, grid, kFinishThreads, a.product, a.y, a.m, a.n, BiasGelu{a.bias});
}
void run_then_finish(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.product, NoEpilogue{});
  launch_finish(a);
}
void run_epilogue(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.y, BiasGelu{a.bias});
}
void run_epilogue_tanh(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.y_tanh, BiasGeluTanh{a.bias});
}

/// z = load(y) * v^T by stage 7.
template <class Load>
void launch_second(const Arrays& a, const float* y, Load load) {
  const bool aligned = a.n % 4 == 0 && starts_vector(y) && starts_vector(a.v);
  const dim3 grid(static_cast<unsigned>(blocks(a.k, kSide)), static_cast<unsigned>(blocks(a.m, kSide)));
  launch(aligned ? product_by_vectors<true, Load> : product_by_vectors<false, Load>, grid, kThreads, y, a.v,
         a.z, a.m, a.n, a.k, load);
}
void run_early_gelu(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.y, BiasGelu{a.bias});
  launch_second(a, a.y, AsItIs{});
}
void run_late_gelu(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.biased, BiasAlone{a.bias});
  launch_second(a, a.biased, GeluOnLoad{});
}

template <class Epilogue>
void launch_wmma(const Data& data, __nv_bfloat16* y) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  launch(linear_by_wmma<Epilogue>, by_tiles(a, kSide, kSide), kThreads, b.x, b.w, y, a.m, a.k, a.n,
         Epilogue{a.bias});
}
void run_wmma(const Data& data) { launch_wmma<BiasGelu>(data, bfloat16_arrays(data).y); }
void run_wmma_tanh(const Data& data) { launch_wmma<BiasGeluTanh>(data, bfloat16_arrays(data).y_tanh); }

#ifdef WORKBOOK_HAS_CUBLAS
void run_cublas_product(const Data& data) {
  const Arrays a = arrays(data);
  cublas_product(a.x, a.w, a.product, a.m, a.k, a.n);
}
void run_cublas(const Data& data) {
  const Arrays a = arrays(data);
  cublas_product(a.x, a.w, a.product, a.m, a.k, a.n);
  launch_finish(a);
}
void run_cublaslt(const Data& data) {
  const Arrays a = arrays(data);
  cublaslt_linear(a.x, a.w, a.bias, a.y_tanh, a.m, a.k, a.n);
}
#else
constexpr void (*run_cublas_product)(const Data&) = nullptr;
constexpr void (*run_cublas)(const Data&) = nullptr;
constexpr void (*run_cublaslt)(const Data&) = nullptr;
#endif

// --- The bytes that each stage should move, for k and n that are multiples of 8 ---

/// Read once: of what is asked for more often, a cache holds the rest, unless it does not.
long long inputs(const Shape& s) { return 4 * (x_elements(s) + w_elements(s)); }

/// What a product asks for that moves `read` bytes of x and w and writes `written` of the result.
Traffic product_traffic(const Shape& s, long long read, long long written) {
  return {read, written, read - inputs(s)};
}

/// 4mnk(1/rows + 1/columns) bytes, where the tiles fill the result.
long long tiles_read(const Shape& s, int rows, int columns) {
  return 4 * k(s) * (m(s) * blocks(s.dims[2], columns) + n(s) * blocks(s.dims[0], rows));
}
Traffic tiled(const Shape& s, int rows, int columns) {
  return product_traffic(s, tiles_read(s, rows, columns), 4 * y_elements(s));
}

/// One pass over the result, and `bias` bytes of bias, which are in a cache but for the first time.
Traffic pass(const Shape& s, long long bias) {
  return {4 * y_elements(s) + bias, 4 * y_elements(s), bias == 0 ? 0 : bias - 4 * n(s)};
}

Traffic operator+(const Traffic& a, const Traffic& b) {
  return {a.read_bytes + b.read_bytes, a.write_bytes + b.write_bytes, a.repeated_bytes + b.repeated_bytes};
}

Traffic unfused_traffic(const Shape& s) {
  const long long read = 32 * y_elements(s) * k(s) + 32 * n(s) * blocks(s.dims[0], 32) * k(s);
  return product_traffic(s, read, 32 * y_elements(s)) + pass(s, 4 * y_elements(s)) + pass(s, 0);
}
Traffic coalesced_product(const Shape& s) {
  return product_traffic(s, 8 * y_elements(s) * k(s), 32 * y_elements(s));
}
Traffic coalesced_traffic(const Shape& s) {
  return coalesced_product(s) + pass(s, 4 * y_elements(s)) + pass(s, 0);
}
Traffic fused_naive_traffic(const Shape& s) {
  return coalesced_product(s) + Traffic{32 * y_elements(s), 0, 32 * y_elements(s) - 4 * n(s)};
}
Traffic tiles_traffic(const Shape& s) { return tiled(s, kTile, kTile); }
Traffic columns_traffic(const Shape& s) { return tiled(s, kSide5, kSide5); }
/// Each thread's eight results lie side by side: a request for every eighth is a sector each.
Traffic squares_traffic(const Shape& s) {
  return product_traffic(s, tiles_read(s, kSide, kSide), 32 * y_elements(s));
}
Traffic vectorised_traffic(const Shape& s) { return tiled(s, kSide, kSide); }
/// Who asks for the bias of every fourth column at a time asks for each sector four times: each warp of
/// stage 10 does, and each slice of finish().
Traffic finish_traffic(const Shape& s) { return pass(s, 16 * n(s) * blocks(s.dims[0], kFinishRows)); }
Traffic then_finish_traffic(const Shape& s) { return vectorised_traffic(s) + finish_traffic(s); }
Traffic epilogue_traffic(const Shape& s) {
  const long long bias = 16 * n(s) * blocks(s.dims[0], kSide) * (kSide / kWarpRows);
  return vectorised_traffic(s) + Traffic{bias, 0, bias - 4 * n(s)};
}

/// Stage 10, then a product whose k is n and whose n is k.
Traffic two_products_traffic(const Shape& s) {
  const Shape second = {{s.dims[0], s.dims[2], s.dims[1]}};
  return epilogue_traffic(s) + tiled(second, kSide, kSide);
}

/// Half the bytes of stage 7, and for each sector of the bias eight requests.
Traffic wmma_traffic(const Shape& s) {
  const long long bias = 32 * n(s) * blocks(s.dims[0], kSide) * (kSide / kTensorWarpRows);
  return {tiles_read(s, kSide, kSide) / 2 + bias, 2 * y_elements(s),
          (tiles_read(s, kSide, kSide) - inputs(s)) / 2 + bias - 4 * n(s)};
}

/// Of a library: what must be moved.
Traffic least_product(const Shape& s) { return product_traffic(s, inputs(s), 4 * y_elements(s)); }
Traffic least_then_finish(const Shape& s) { return least_product(s) + finish_traffic(s); }
Traffic least_linear(const Shape& s) { return least_product(s) + Traffic{4 * n(s), 0, 0}; }

// --- How far results may be off ---

/// Errors of additions in a row are as often up as down: 6 times the root of k bounds them with a probability
/// close to 1 (N. Higham, T. Mary, A new approach to probabilistic rounding error analysis, 2019).
int product_roundings(const Shape& s) {
  return 6 * static_cast<int>(ceil(sqrt(static_cast<double>(s.dims[1])))) + 4;
}
int linear_roundings(const Shape& s) { return product_roundings(s) + 12; }

/// Tensor cores cut off what they add up, always towards zero, so that errors add up too (M. Fasi, N. Higham,
/// M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, 2021).
int tensor_roundings(const Shape& s) { return s.dims[1] + 16; }

int two_products_roundings(const Shape& s) {
  const Shape second = {{s.dims[0], s.dims[2], s.dims[1]}};
  return linear_roundings(s) + product_roundings(second);
}

double product_flops(const Shape& s) {
  return 2.0 * static_cast<double>(y_elements(s)) * static_cast<double>(k(s));
}

double two_products_flops(const Shape& s) { return 2 * product_flops(s); }

constexpr const char* kCublas = "a GPU and cuBLAS";
constexpr const char* kTensorCores = "a GPU of compute capability 8.0";

bool up_to_2_34(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 34); }
bool up_to_2_36(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 36); }

const Stage kStages[] = {
    {.name = "1_unfused",
     .idea = "three kernels; the product's lanes are in different rows",
     .output = "y",
     .kernels = 3,
     .run = run_unfused,
     .traffic = unfused_traffic,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = "at most 2^34 multiplications: it is slow",
     .suits = up_to_2_34},
    {.name = "2_coalesced",
     .idea = "lanes along k: a warp an element",
     .output = "y",
     .kernels = 3,
     .run = run_coalesced,
     .traffic = coalesced_traffic,
     .roundings = linear_roundings,
     .flops = product_flops},
    {.name = "3_fused_naive",
     .idea = "bias and GELU in the same kernel",
     .output = "y",
     .kernels = 1,
     .run = run_fused_naive,
     .traffic = fused_naive_traffic,
     .roundings = linear_roundings,
     .flops = product_flops},
    {.name = "4_tiles",
     .idea = "the product alone: tiles of 32 x 32 in shared memory",
     .output = "product",
     .kernels = 1,
     .run = run_tiles,
     .traffic = tiles_traffic,
     .roundings = product_roundings,
     .flops = product_flops},
    {.name = "5_column",
     .idea = "eight elements a thread, one below the other",
     .output = "product",
     .kernels = 1,
     .run = run_columns,
     .traffic = columns_traffic,
     .roundings = product_roundings,
     .flops = product_flops},
    {.name = "6_square",
     .idea = "8 x 8 elements a thread",
     .output = "product",
     .kernels = 1,
     .run = run_squares,
     .traffic = squares_traffic,
     .roundings = product_roundings,
     .flops = product_flops},
    {.name = "7_vectorised",
     .idea = "16 bytes a load, tiles transposed",
     .output = "product",
     .kernels = 1,
     .run = run_vectorised,
     .traffic = vectorised_traffic,
     .roundings = product_roundings,
     .flops = product_flops},
    {.name = "8_pipelined",
     .idea = "the next tile is copied while this one is multiplied",
     .output = "product",
     .kernels = 1,
     .run = run_pipelined,
     .traffic = vectorised_traffic,
     .roundings = product_roundings,
     .flops = product_flops},
    {.name = "9_warp_tiles",
     .idea = "a warp's threads close together, all loads ahead",
     .output = "product",
     .kernels = 1,
     .run = run_warp_tiles,
     .traffic = vectorised_traffic,
     .roundings = product_roundings,
     .flops = product_flops},
    {.name = "9_then_finish",
     .idea = "the same, then bias and GELU in one pass",
     .output = "y",
     .kernels = 2,
     .run = run_then_finish,
     .traffic = then_finish_traffic,
     .roundings = linear_roundings,
     .flops = product_flops},
    {.name = "10_epilogue",
     .idea = "bias and GELU in the epilogue: one kernel",
     .output = "y",
     .kernels = 1,
     .run = run_epilogue,
     .traffic = epilogue_traffic,
     .roundings = linear_roundings,
     .flops = product_flops},
    {.name = "10_tanh",
     .idea = "the same with the tanh form of GELU",
     .output = "y_tanh",
     .kernels = 1,
     .run = run_epilogue_tanh,
     .traffic = epilogue_traffic,
     .roundings = linear_roundings,
     .flops = product_flops},
    {.name = "11_sgemm",
     .idea = "library: cuBLAS, the product alone",
     .output = "product",
     .kernels = workbook::kAnyNumber,
     .run = run_cublas_product,
     .traffic = least_product,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kCublas},
    {.name = "11_cublas",
     .idea = "library: cuBLAS, then bias and GELU in one pass",
     .output = "y",
     .kernels = workbook::kAnyNumber,
     .run = run_cublas,
     .traffic = least_then_finish,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kCublas},
    {.name = "11_cublaslt",
     .idea = "library: cuBLASLt with bias and GELU, tanh, as its epilogue",
     .output = "y_tanh",
     .kernels = workbook::kAnyNumber,
     .run = run_cublaslt,
     .traffic = least_linear,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kCublas},
    {.name = "12_early_gelu",
     .idea = "two products: GELU where the first is finished",
     .output = "z",
     .kernels = 2,
     .run = run_early_gelu,
     .traffic = two_products_traffic,
     .roundings = two_products_roundings,
     .flops = two_products_flops,
     .needs = "at most 2^36 multiplications: checking takes long",
     .suits = up_to_2_36,
     .against = "12_early_gelu"},
    {.name = "12_late_gelu",
     .idea = "two products: GELU where the second one reads it",
     .output = "z",
     .kernels = 2,
     .run = run_late_gelu,
     .traffic = two_products_traffic,
     .roundings = two_products_roundings,
     .flops = two_products_flops,
     .needs = "at most 2^36 multiplications: checking takes long",
     .suits = up_to_2_36,
     .against = "12_early_gelu"},
    {.name = "13_wmma",
     .idea = "tensor cores: bfloat16, float32 sums, bias and GELU",
     .output = "y_bfloat16",
     .kernels = 1,
     .run = run_wmma,
     .traffic = wmma_traffic,
     .roundings = tensor_roundings,
     .flops = product_flops,
     .needs = kTensorCores,
     .capability = 80},
    {.name = "13_tanh",
     .idea = "the same with the tanh form of GELU",
     .output = "y_bfloat16_tanh",
     .kernels = 1,
     .run = run_wmma_tanh,
     .traffic = wmma_traffic,
     .roundings = tensor_roundings,
     .flops = product_flops,
     .needs = kTensorCores,
     .capability = 80},
};

/// Of one m and n with growing k: what the epilogue saves is the same, what the product costs grows.
const Shape kSweep[] = {{{2048, 2048, 2048}}, {{4096, 256, 4096}},  {{4096, 512, 4096}},
                        {{4096, 1024, 4096}}, {{4096, 2048, 4096}}, {{4096, 4096, 4096}},
                        {{4096, 8192, 4096}}, {{8192, 256, 8192}}};

}  // namespace

Chapter chapter() {
  return {.name = "05_linear_gelu",
          .formula = "y = gelu(x * w^T + b)",
          .dims = "MxKxN",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {256, 64, 256},
          .gpu_shape = {4096, 1024, 4096},
          .fill = fill};
}

}  // namespace DEVICE::linear_gelu

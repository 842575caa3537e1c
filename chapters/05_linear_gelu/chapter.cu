/// \file
/// Chapter 05: y = gelu(x * w^T + b), PyTorch's Linear and what follows it. Stages, inputs and reference;
/// compiled once for each device.
#include <math.h>
#include <string.h>

#include "10_epilogue.cuh"
#include "12_late_gelu.cuh"
#include "13_tf32.cuh"
#include "13_then_finish.cuh"
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
#ifdef __CUDACC__
#include "14_mma.gpu.cuh"
#include "15_wgmma.sm90a.cuh"
#include "16_producer.sm90a.cuh"
#include "17_two_groups.sm90a.cuh"
#include "18_persistent.sm90a.cuh"
#include "19_multicast.sm90a.cuh"
#include "20_tma_epilogue.sm90a.cuh"
#include "21_ping_pong.sm90a.cuh"
#include "22_stream_k.sm90a.cuh"
#endif
#ifdef WORKBOOK_HAS_CUBLAS
#include "11_cublas.gpu.cuh"
#endif

namespace DEVICE::linear_gelu {
namespace {

using workbook::Array;
using workbook::ceil_div;
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
#ifdef __CUDACC__
/// Of stage 22: a flag, and as many sums, for each warp that multiplies.
long long flag_elements(const Shape&) { return kConsumerWarps * multiprocessors(); }
long long sum_elements(const Shape& s) { return kWarpSums * flag_elements(s); }
#endif

struct Arrays {
  int m, k, n;
  float *x, *w, *bias, *v, *product, *biased, *y, *y_tanh, *y_tf32, *z;
};

Arrays arrays(const Data& d) {
  return {d.shape.dims[0],    d.shape.dims[1],    d.shape.dims[2],     d.floats("x"),      d.floats("w"),
          d.floats("bias"),   d.floats("v"),      d.floats("product"), d.floats("biased"), d.floats("y"),
          d.floats("y_tanh"), d.floats("y_tf32"), d.floats("z")};
}

/// The same in 16 bits.
struct Bfloat16 {
  __nv_bfloat16 *x, *w, *bias, *product, *y, *y_tanh;
};

Bfloat16 bfloat16_arrays(const Data& d) {
  const auto array = [&](const char* name) {
    return static_cast<__nv_bfloat16*>(d.array(name, Type::kBFloat16));
  };
  return {array("x_bfloat16"),       array("w_bfloat16"), array("bias_bfloat16"),
          array("product_bfloat16"), array("y_bfloat16"), array("y_bfloat16_tanh")};
}

// --- Inputs and reference ---

void round_to(__nv_bfloat16* to, const float* from, long long count) {
  for (long long i = 0; i < count; ++i) to[i] = from_float<__nv_bfloat16>(from[i]);
}

/// The elements of the product have a variance of about 1, whatever k is: GELU is curved there. The bias is
/// one that bfloat16 can hold: cuBLASLt wants it so.
void fill(const Data& host) {
  const float reach = 3.0f / sqrtf(static_cast<float>(host.shape.dims[1]));
  workbook::fill_uniform(host.floats("x"), x_elements(host.shape), -1.0f, 1.0f, 51);
  workbook::fill_uniform(host.floats("w"), w_elements(host.shape), -reach, reach, 52);
  workbook::fill_uniform(host.floats("bias"), n(host.shape), -0.5f, 1.0f, 53);
  workbook::fill_uniform(host.floats("v"), w_elements(host.shape), -0.5f, 1.0f, 54);
  const Arrays a = arrays(host);
  const Bfloat16 rounded = bfloat16_arrays(host);
  round_to(rounded.x, a.x, x_elements(host.shape));
  round_to(rounded.w, a.w, w_elements(host.shape));
  round_to(rounded.bias, a.bias, n(host.shape));
  for (int i = 0; i < a.n; ++i) a.bias[i] = to_float(rounded.bias[i]);
#ifdef __CUDACC__
  memset(host.floats("flags"), 0, sizeof(float) * static_cast<size_t>(flag_elements(host.shape)));
#endif
}

void reference_product(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  workbook::product_of_rows(a.x, a.w, a.m, a.k, a.n, expected, magnitude);
}

double exact_gelu(double v) { return 0.5 * v * (1 + erf(v / sqrt(2.0))); }
double exact_gelu_tanh(double v) {
  return 0.5 * v * (1 + tanh(sqrt(2 / acos(-1.0)) * (v + 0.044715 * v * v * v)));
}

/// What comes of the product with bias and GELU. GELU is nowhere steeper than 1.13, so an error of its
/// argument grows by no more.
template <double (*Gelu)(double)>
void finish_reference(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (long long i = 0; i < y_elements(host.shape); ++i) {
    const double bias = a.bias[i % a.n];
    expected[i] = Gelu(expected[i] + bias);
    magnitude[i] = 1.13 * (magnitude[i] + fabs(bias));
  }
}

/// `count` elements as round(element) makes floats of them; the caller deletes them.
template <class T, class Round>
float* floats_of(const T* elements, long long count, Round round) {
  auto* out = new float[static_cast<size_t>(count)];
  for (long long i = 0; i < count; ++i) out[i] = round(elements[i]);
  return out;
}
template <class T, class Round>
void rounded_product(const Shape& s, const T* x, const T* w, Round round, double* expected,
                     double* magnitude) {
  const float* of_x = floats_of(x, x_elements(s), round);
  const float* of_w = floats_of(w, w_elements(s), round);
  workbook::product_of_rows(of_x, of_w, s.dims[0], s.dims[1], s.dims[2], expected, magnitude);
  delete[] of_w;
  delete[] of_x;
}

void reference_bfloat16_product(const Data& host, double* expected, double* magnitude) {
  const Bfloat16 b = bfloat16_arrays(host);
  rounded_product(
      host.shape, b.x, b.w, [](__nv_bfloat16 v) { return to_float(v); }, expected, magnitude);
}
/// To the nearest float of which the last 13 bits are zeros, away from zero in the middle, as __float_to_tf32
/// does.
float to_tf32(float v) {
  unsigned bits;
  memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x1000) & ~0x1fffu;
  memcpy(&v, &bits, sizeof v);
  return v;
}
void reference_y_tf32(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  rounded_product(host.shape, a.x, a.w, to_tf32, expected, magnitude);
  finish_reference<exact_gelu>(host, expected, magnitude);
}

/// The second product, whose first matrix is y. Its terms are those of a product of y, which is rounded here
/// as it is there, and what the errors of y come to.
void reference_z(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  const auto y_count = static_cast<size_t>(y_elements(host.shape));
  const auto z_count = static_cast<size_t>(x_elements(host.shape));
  auto *y = new double[y_count], *y_magnitude = new double[y_count], *errors = new double[z_count];
  auto* as_float = new float[y_count];
  reference_product(host, y, y_magnitude);
  finish_reference<exact_gelu>(host, y, y_magnitude);
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
    {"x_bfloat16", Type::kBFloat16, Role::kInput, x_elements, nullptr},
    {"w_bfloat16", Type::kBFloat16, Role::kInput, w_elements, nullptr},
    {"bias_bfloat16", Type::kBFloat16, Role::kInput, n, nullptr},
    {"biased", Type::kFloat32, Role::kScratch, y_elements, nullptr},
    {"product", Type::kFloat32, Role::kOutput, y_elements, reference_product, "x w "},
    {"y", Type::kFloat32, Role::kOutput, y_elements, finish_reference<exact_gelu>, "x w bias ", "product"},
    {"y_tanh", Type::kFloat32, Role::kOutput, y_elements, finish_reference<exact_gelu_tanh>, "x w bias ",
     "product"},
    {"z", Type::kFloat32, Role::kOutput, x_elements, reference_z, "x w bias v "},
    {"y_tf32", Type::kFloat32, Role::kOutput, y_elements, reference_y_tf32, "x w bias "},
    {"product_bfloat16", Type::kBFloat16, Role::kOutput, y_elements, reference_bfloat16_product,
     "x_bfloat16 w_bfloat16 "},
    {"y_bfloat16", Type::kBFloat16, Role::kOutput, y_elements, finish_reference<exact_gelu>,
     "x_bfloat16 w_bfloat16 bias ", "product_bfloat16"},
    {"y_bfloat16_tanh", Type::kBFloat16, Role::kOutput, y_elements, finish_reference<exact_gelu_tanh>,
     "x_bfloat16 w_bfloat16 bias ", "product_bfloat16"},
#ifdef __CUDACC__
    {"flags", Type::kFloat32, Role::kInput, flag_elements, nullptr},
    {"partial_sums", Type::kFloat32, Role::kScratch, sum_elements, nullptr},
#endif
};

// --- Stages ---

constexpr int kRowThreads = 256;

/// Blocks of `columns` columns for each row.
dim3 by_rows(const Arrays& a, int columns) {
  return dim3(static_cast<unsigned>(a.m), static_cast<unsigned>(ceil_div(a.n, columns)));
}
dim3 by_tiles(const Arrays& a, int tile_rows, int tile_columns) {
  return dim3(static_cast<unsigned>(ceil_div(a.n, tile_columns)),
              static_cast<unsigned>(ceil_div(a.m, tile_rows)));
}

void launch_bias_and_gelu(const Arrays& a) {
  launch(add_bias, by_rows(a, kRowThreads), kRowThreads, a.product, a.bias, a.biased, a.n);
  launch(apply_gelu, by_rows(a, kRowThreads), kRowThreads, a.biased, a.y, a.n);
}

void run_unfused(const Data& data) {
  const Arrays a = arrays(data);
  const dim3 grid(static_cast<unsigned>(ceil_div(a.m, 32)), static_cast<unsigned>(ceil_div(a.n, 8)));
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
  launch(rows_of_vectors(a) ? product_by_vectors<true> : product_by_vectors<false>, by_tiles(a, kSide, kSide),
         kThreads, a.x, a.w, a.product, a.m, a.k, a.n);
}
void run_pipelined(const Data& data) {
  const Arrays a = arrays(data);
  launch(of_whole_tiles(a, a.product) ? product_pipelined<true> : product_pipelined<false>,
         by_tiles(a, kSide, kSide), kThreads, a.x, a.w, a.product, a.m, a.k, a.n);
}

template <class Load, class Epilogue>
void launch_warp_tiles(const Arrays& a, float* y, Load load, Epilogue epilogue) {
  const auto kernel = of_whole_tiles(a, y) ? linear_by_warp_tiles<true, Load, Epilogue>
                                           : linear_by_warp_tiles<false, Load, Epilogue>;
  launch(kernel, by_tiles(a, kSide, kSide), kThreads, a.x, a.w, y, a.m, a.k, a.n, load, epilogue);
}
template <class Epilogue>
void launch_warp_tiles(const Arrays& a, float* y, Epilogue epilogue) {
  launch_warp_tiles(a, y, AsItIs{}, epilogue);
}
void run_warp_tiles(const Data& data) {
  const Arrays a = arrays(data);
  launch_warp_tiles(a, a.product, NoEpilogue{});
}
void launch_finish(const Arrays& a) {
  const dim3 grid(static_cast<unsigned>(ceil_div(a.m, kFinishRows)),
                  static_cast<unsigned>(ceil_div(a.n, 4 * kFinishThreads)));
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

/// z = load(y) * v^T by stage 9.
template <class Load>
void launch_second(const Arrays& a, float* y, Load load) {
  Arrays second = a;
  second.k = a.n, second.n = a.k;
  second.x = y, second.w = a.v;
  launch_warp_tiles(second, a.z, load, NoEpilogue{});
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
void launch_wmma(const Data& data, __nv_bfloat16* y, Epilogue epilogue) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  launch(linear_by_wmma<Epilogue>, by_tiles(a, kSide, kSide), kThreads, b.x, b.w, y, a.m, a.k, a.n, epilogue);
}
void run_wmma(const Data& data) { launch_wmma(data, bfloat16_arrays(data).y, BiasGelu{arrays(data).bias}); }
void run_wmma_tanh(const Data& data) {
  launch_wmma(data, bfloat16_arrays(data).y_tanh, BiasGeluTanh{arrays(data).bias});
}
template <class Gelu>
void launch_finish_bfloat16(const Data& data, Gelu gelu_of) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  const dim3 grid(static_cast<unsigned>(ceil_div(a.m, kFinishRows)),
                  static_cast<unsigned>(ceil_div(a.n, 8 * kFinishThreads)));
  launch(finish_bfloat16<Gelu>, grid, kFinishThreads, b.product, a.bias, b.y, a.m, a.n, gelu_of);
}
void run_wmma_then_finish(const Data& data) {
  launch_wmma(data, bfloat16_arrays(data).product, NoEpilogue{});
  launch_finish_bfloat16(data, ExactGelu{});
}
void run_tf32(const Data& data) {
  const Arrays a = arrays(data);
  launch(linear_by_tf32<BiasGelu>, by_tiles(a, kSide, kSide), kThreads, a.x, a.w, a.y_tf32, a.m, a.k, a.n,
         BiasGelu{a.bias});
}

#ifdef __CUDACC__
void run_mma(const Data& data) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  launch_shared(product_by_mma, tiles_of(a.m, a.n, kSide, kSide), kMmaThreads, kMmaBytes, b.x, b.w, b.product,
                a.m, a.k, a.n);
}

/// Starts a kernel that has a block for each tile of the result.
template <class R, class Kernel>
void launch_tile_by_tile(const Data& data, Kernel kernel, int threads) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  launch_shared(kernel, tiles_of(a.m, a.n, R::kRows, R::kColumns), threads, kSharedBytes<R>,
                inputs_of<R>(b.x, b.w, a.m, a.k, a.n), b.product, a.m, a.k, a.n);
}
void run_wgmma(const Data& data) { launch_tile_by_tile<Ring15>(data, product_by_wgmma, 128); }
void run_producer(const Data& data) {
  launch_tile_by_tile<Ring16>(data, product_with_producer<1, Ring16>, kThreadsWith<1>);
}
void run_two_groups(const Data& data) {
  launch_tile_by_tile<Ring17>(data, product_with_producer<2, Ring17>, kThreadsWith<2>);
}

/// A block for each multiprocessor, if there are as many tiles.
template <class R>
int persistent_blocks(const Arrays& a) {
  return min(multiprocessors(), tiles_of(a.m, a.n, R::kRows, R::kColumns));
}
void run_persistent(const Data& data) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  launch_shared(product_persistent, persistent_blocks<Ring17>(a), kThreadsWith<2>, kSharedBytes<Ring17>,
                inputs_of<Ring17>(b.x, b.w, a.m, a.k, a.n), b.product, a.m, a.k, a.n);
}

/// For clusters of two blocks, whose tiles lie one below the other.
Inputs inputs_for_pairs(const Data& data) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  return {tensor_map(b.x, a.m, a.k, Ring17::kRows), tensor_map(b.w, a.n, a.k, Ring17::kColumns / 2)};
}
int blocks_in_pairs(const Arrays& a) { return 2 * min(multiprocessors() / 2, pairs_of(a.m, a.n)); }
void run_multicast(const Data& data) {
  const Arrays a = arrays(data);
  launch_shared(product_multicast, blocks_in_pairs(a), kThreadsWith<2>, kSharedBytes<Ring17>,
                inputs_for_pairs(data), bfloat16_arrays(data).product, a.m, a.k, a.n);
}
template <class Gelu>
void launch_tma_epilogue(const Data& data, const __nv_bfloat16* y) {
  const Arrays a = arrays(data);
  launch_shared(linear_multicast<Gelu>, blocks_in_pairs(a), kThreadsWith<2>, kSharedBytes<Shared20>,
                inputs_for_pairs(data), output_of(y, a.m, a.n), a.bias, a.m, a.k, a.n);
}
void run_tma_epilogue(const Data& data) { launch_tma_epilogue<FastGelu>(data, bfloat16_arrays(data).y); }
void run_tma_tanh(const Data& data) { launch_tma_epilogue<FastGeluTanh>(data, bfloat16_arrays(data).y_tanh); }
template <class Gelu>
void launch_ping_pong(const Data& data, const __nv_bfloat16* y) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  launch_shared(linear_by_turns<Gelu>, persistent_blocks<Ring21>(a), kThreadsWith<2>, kSharedBytes<Shared21>,
                inputs_of<Ring21>(b.x, b.w, a.m, a.k, a.n), output_of(y, a.m, a.n), a.bias, a.m, a.k, a.n);
}
void run_ping_pong(const Data& data) { launch_ping_pong<FastGelu>(data, bfloat16_arrays(data).y); }
void run_ping_pong_tanh(const Data& data) {
  launch_ping_pong<FastGeluTanh>(data, bfloat16_arrays(data).y_tanh);
}
template <class Gelu>
void launch_stream_k(const Data& data, const __nv_bfloat16* y) {
  const Arrays a = arrays(data);
  launch_shared(linear_stream_k<Gelu>, blocks_in_pairs(a), kThreadsWith<2>, kSharedBytes<Shared20>,
                inputs_for_pairs(data), output_of(y, a.m, a.n), a.bias, data.floats("partial_sums"),
                reinterpret_cast<unsigned*>(data.floats("flags")), a.m, a.k, a.n);
}
void run_stream_k(const Data& data) { launch_stream_k<FastGelu>(data, bfloat16_arrays(data).y); }
void run_stream_k_tanh(const Data& data) {
  launch_stream_k<FastGeluTanh>(data, bfloat16_arrays(data).y_tanh);
}
#else
constexpr void (*run_mma)(const Data&) = nullptr;
constexpr void (*run_wgmma)(const Data&) = nullptr;
constexpr void (*run_producer)(const Data&) = nullptr;
constexpr void (*run_two_groups)(const Data&) = nullptr;
constexpr void (*run_persistent)(const Data&) = nullptr;
constexpr void (*run_multicast)(const Data&) = nullptr;
constexpr void (*run_tma_epilogue)(const Data&) = nullptr;
constexpr void (*run_tma_tanh)(const Data&) = nullptr;
constexpr void (*run_ping_pong)(const Data&) = nullptr;
constexpr void (*run_ping_pong_tanh)(const Data&) = nullptr;
constexpr void (*run_stream_k)(const Data&) = nullptr;
constexpr void (*run_stream_k_tanh)(const Data&) = nullptr;
#endif

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
void run_cublas_bfloat16_product(const Data& data) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  cublas_product(b.x, b.w, b.product, a.m, a.k, a.n);
}
void run_cublas_bfloat16(const Data& data) {
  run_cublas_bfloat16_product(data);
  launch_finish_bfloat16(data, FastGelu{});
}
void run_cublaslt_bfloat16(const Data& data) {
  const Arrays a = arrays(data);
  const Bfloat16 b = bfloat16_arrays(data);
  cublaslt_linear(b.x, b.w, b.bias, b.y_tanh, a.m, a.k, a.n);
}
#else
constexpr void (*run_cublas_bfloat16_product)(const Data&) = nullptr;
constexpr void (*run_cublas_bfloat16)(const Data&) = nullptr;
constexpr void (*run_cublaslt_bfloat16)(const Data&) = nullptr;
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
  return 4 * k(s) * (m(s) * ceil_div(s.dims[2], columns) + n(s) * ceil_div(s.dims[0], rows));
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
  const long long read = 32 * y_elements(s) * k(s) + 32 * n(s) * ceil_div(s.dims[0], 32) * k(s);
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
Traffic finish_traffic(const Shape& s) { return pass(s, 16 * n(s) * ceil_div(s.dims[0], kFinishRows)); }
Traffic then_finish_traffic(const Shape& s) { return vectorised_traffic(s) + finish_traffic(s); }
Traffic epilogue_traffic(const Shape& s) {
  const long long bias = 16 * n(s) * ceil_div(s.dims[0], kSide) * (kSide / kWarpRows);
  return vectorised_traffic(s) + Traffic{bias, 0, bias - 4 * n(s)};
}

/// Stage 10, then a product whose k is n and whose n is k.
Traffic two_products_traffic(const Shape& s) {
  const Shape second = {{s.dims[0], s.dims[2], s.dims[1]}};
  return epilogue_traffic(s) + tiled(second, kSide, kSide);
}

/// What a product in bfloat16 asks for, in tiles of rows x columns.
Traffic tensor_tiled(const Shape& s, int rows, int columns) {
  return {tiles_read(s, rows, columns) / 2, 2 * y_elements(s),
          (tiles_read(s, rows, columns) - inputs(s)) / 2};
}
/// What is asked of the bias, `times` a sector for each warp's rows of a tile.
Traffic tensor_bias(const Shape& s, int times) {
  const long long bias = 4 * times * n(s) * ceil_div(s.dims[0], kSide) * (kSide / kTensorWarpRows);
  return {bias, 0, bias - 4 * n(s)};
}
/// One pass over a product in bfloat16; of the bias each sector is asked for twice.
Traffic finish_bfloat16_traffic(const Shape& s) {
  const long long bias = 8 * n(s) * ceil_div(s.dims[0], kFinishRows);
  return {2 * y_elements(s) + bias, 2 * y_elements(s), bias - 4 * n(s)};
}
Traffic wmma_traffic(const Shape& s) { return tensor_tiled(s, kSide, kSide) + tensor_bias(s, 8); }
Traffic wmma_then_finish_traffic(const Shape& s) {
  return tensor_tiled(s, kSide, kSide) + finish_bfloat16_traffic(s);
}
Traffic tf32_traffic(const Shape& s) { return vectorised_traffic(s) + tensor_bias(s, 4); }

/// What is asked of the L2 cache, by the TMA too.
Traffic small_tensor_traffic(const Shape& s) { return tensor_tiled(s, 128, 128); }
Traffic large_tensor_traffic(const Shape& s) { return tensor_tiled(s, 128, 256); }
Traffic multicast_traffic(const Shape& s) { return tensor_tiled(s, 256, 256); }
/// And the bias: of each sector two requests by each of the four warps that have `rows` rows.
Traffic begun_with_bias(const Shape& s, int rows) {
  const long long bias = 2 * 4 * 4 * n(s) * ceil_div(s.dims[0], rows);
  return {bias, 0, bias - 4 * n(s)};
}
/// Without what stage 22 hands over, which depends on the multiprocessors: 17 MB at most on an H200.
Traffic tma_epilogue_traffic(const Shape& s) { return multicast_traffic(s) + begun_with_bias(s, 64); }
Traffic ping_pong_traffic(const Shape& s) { return small_tensor_traffic(s) + begun_with_bias(s, 128); }

/// Of a library: what must be moved.
Traffic least_product(const Shape& s) { return product_traffic(s, inputs(s), 4 * y_elements(s)); }
Traffic least_then_finish(const Shape& s) { return least_product(s) + finish_traffic(s); }
Traffic least_linear(const Shape& s) { return least_product(s) + Traffic{4 * n(s), 0, 0}; }

Traffic least_bfloat16_product(const Shape& s) { return {inputs(s) / 2, 2 * y_elements(s), 0}; }
Traffic least_bfloat16_then_finish(const Shape& s) {
  return least_bfloat16_product(s) + finish_bfloat16_traffic(s);
}
Traffic least_bfloat16_linear(const Shape& s) { return least_bfloat16_product(s) + Traffic{2 * n(s), 0, 0}; }

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

/// With the hardware's tanh.
int tensor_roundings_tanh(const Shape& s) { return tensor_roundings(s) + (1 << 12); }

/// With a product that was rounded to bfloat16 on its way, by 2^-8 at most.
int tensor_roundings_twice(const Shape& s) { return tensor_roundings(s) + (1 << 16); }

int two_products_roundings(const Shape& s) {
  const Shape second = {{s.dims[0], s.dims[2], s.dims[1]}};
  return linear_roundings(s) + product_roundings(second);
}

double product_flops(const Shape& s) {
  return 2.0 * static_cast<double>(y_elements(s)) * static_cast<double>(k(s));
}

double two_products_flops(const Shape& s) { return 2 * product_flops(s); }

constexpr const char* kCublas = "a GPU and cuBLAS";
constexpr const char* kCublasFloat = "a GPU and cuBLAS; at most 2^38 multiplications";
constexpr const char* kTf32 = "compute capability 8.0; at most 2^38 multiplications";
constexpr const char* kCublasLt = "a GPU and cuBLAS; k and n multiples of 8";  // else it rounds twice
constexpr const char* kTensorCores = "a GPU of compute capability 8.0";
constexpr const char* kMma = "a GPU of compute capability 8.0; k and n multiples of 8";
constexpr const char* kHopper = "sm_90a: an H100 or H200; k and n multiples of 8";
constexpr const char* kSlow = "at most 2^38 multiplications: it is slow";

bool of_eights(const Shape& s) { return k(s) % 8 == 0 && n(s) % 8 == 0; }
bool up_to_2_34(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 34); }
bool up_to_2_36(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 36); }
bool up_to_2_38(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 38); }

/// A stage for an H100 or H200, of k and n that are multiples of 8.
constexpr Stage on_hopper(Stage stage) {
  stage.flops = product_flops;
  stage.needs = kHopper;
  stage.suits = of_eights;
  stage.against = "13_wmma";
  stage.capability = 90;
  stage.no_other_capability = true;
  return stage;
}

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
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "3_fused_naive",
     .idea = "bias and GELU in the same kernel",
     .output = "y",
     .kernels = 1,
     .run = run_fused_naive,
     .traffic = fused_naive_traffic,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "4_tiles",
     .idea = "the product alone: tiles of 32 x 32 in shared memory",
     .output = "product",
     .kernels = 1,
     .run = run_tiles,
     .traffic = tiles_traffic,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "5_column",
     .idea = "eight elements a thread, one below the other",
     .output = "product",
     .kernels = 1,
     .run = run_columns,
     .traffic = columns_traffic,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "6_square",
     .idea = "8 x 8 elements a thread",
     .output = "product",
     .kernels = 1,
     .run = run_squares,
     .traffic = squares_traffic,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "7_vectorised",
     .idea = "16 bytes a load, tiles transposed",
     .output = "product",
     .kernels = 1,
     .run = run_vectorised,
     .traffic = vectorised_traffic,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "8_pipelined",
     .idea = "the next tile is copied while this one is multiplied",
     .output = "product",
     .kernels = 1,
     .run = run_pipelined,
     .traffic = vectorised_traffic,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "9_warp_tiles",
     .idea = "a warp's threads close together, all loads ahead",
     .output = "product",
     .kernels = 1,
     .run = run_warp_tiles,
     .traffic = vectorised_traffic,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "9_then_finish",
     .idea = "the same, then bias and GELU in one pass",
     .output = "y",
     .kernels = 2,
     .run = run_then_finish,
     .traffic = then_finish_traffic,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "10_epilogue",
     .idea = "bias and GELU in the epilogue: one kernel",
     .output = "y",
     .kernels = 1,
     .run = run_epilogue,
     .traffic = epilogue_traffic,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "10_tanh",
     .idea = "the same with the tanh form of GELU",
     .output = "y_tanh",
     .kernels = 1,
     .run = run_epilogue_tanh,
     .traffic = epilogue_traffic,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kSlow,
     .suits = up_to_2_38},
    {.name = "11_sgemm",
     .idea = "library: cuBLAS, the product alone",
     .output = "product",
     .kernels = workbook::kAnyNumber,
     .run = run_cublas_product,
     .traffic = least_product,
     .roundings = product_roundings,
     .flops = product_flops,
     .needs = kCublasFloat,
     .suits = up_to_2_38},
    {.name = "11_cublas",
     .idea = "library: cuBLAS, then bias and GELU in one pass",
     .output = "y",
     .kernels = workbook::kAnyNumber,
     .run = run_cublas,
     .traffic = least_then_finish,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kCublasFloat,
     .suits = up_to_2_38},
    {.name = "11_cublaslt",
     .idea = "library: cuBLASLt with bias and GELU, tanh, as its epilogue",
     .output = "y_tanh",
     .kernels = workbook::kAnyNumber,
     .run = run_cublaslt,
     .traffic = least_linear,
     .roundings = linear_roundings,
     .flops = product_flops,
     .needs = kCublasFloat,
     .suits = up_to_2_38},
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
     .against = "13_wmma",
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
     .against = "13_wmma",
     .capability = 80},
    {.name = "13_then_finish",
     .idea = "the same unfused: bias and GELU in one pass",
     .output = "y_bfloat16",
     .kernels = 2,
     .run = run_wmma_then_finish,
     .traffic = wmma_then_finish_traffic,
     .roundings = tensor_roundings_twice,
     .flops = product_flops,
     .needs = kTensorCores,
     .against = "13_wmma",
     .capability = 80},
    {.name = "13_tf32",
     .idea = "float32 in memory, TF32 in the tensor cores",
     .output = "y_tf32",
     .kernels = 1,
     .run = run_tf32,
     .traffic = tf32_traffic,
     .roundings = tensor_roundings,
     .flops = product_flops,
     .needs = kTf32,
     .suits = up_to_2_38,
     .capability = 80},
    {.name = "14_mma",
     .idea = "the product alone: mma.sync, ldmatrix, a swizzled tile",
     .output = "product_bfloat16",
     .kernels = 1,
     .run = run_mma,
     .traffic = small_tensor_traffic,
     .roundings = tensor_roundings,
     .flops = product_flops,
     .needs = kMma,
     .suits = of_eights,
     .against = "13_wmma",
     .capability = 80},
    on_hopper({.name = "15_wgmma",
               .idea = "wgmma on tiles that the TMA copies",
               .output = "product_bfloat16",
               .kernels = 1,
               .run = run_wgmma,
               .traffic = small_tensor_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "16_producer",
               .idea = "a warp that copies, a warpgroup that multiplies",
               .output = "product_bfloat16",
               .kernels = 1,
               .run = run_producer,
               .traffic = small_tensor_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "17_two_groups",
               .idea = "tiles of 128 x 256, two warpgroups",
               .output = "product_bfloat16",
               .kernels = 1,
               .run = run_two_groups,
               .traffic = large_tensor_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "18_persistent",
               .idea = "a block a multiprocessor goes from tile to tile",
               .output = "product_bfloat16",
               .kernels = 1,
               .run = run_persistent,
               .traffic = large_tensor_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "19_multicast",
               .idea = "two blocks share what they copy of w",
               .output = "product_bfloat16",
               .kernels = 1,
               .run = run_multicast,
               .traffic = multicast_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "20_tma_epilogue",
               .idea = "bias and GELU in the epilogue, stored by the TMA",
               .output = "y_bfloat16",
               .kernels = 1,
               .run = run_tma_epilogue,
               .traffic = tma_epilogue_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "20_tanh",
               .idea = "the same with the tanh form of GELU",
               .output = "y_bfloat16_tanh",
               .kernels = 1,
               .run = run_tma_tanh,
               .traffic = tma_epilogue_traffic,
               .roundings = tensor_roundings_tanh}),
    on_hopper({.name = "21_ping_pong",
               .idea = "one warpgroup multiplies, the other computes GELU",
               .output = "y_bfloat16",
               .kernels = 1,
               .run = run_ping_pong,
               .traffic = ping_pong_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "21_tanh",
               .idea = "the same with the tanh form of GELU",
               .output = "y_bfloat16_tanh",
               .kernels = 1,
               .run = run_ping_pong_tanh,
               .traffic = ping_pong_traffic,
               .roundings = tensor_roundings_tanh}),
    on_hopper({.name = "22_stream_k",
               .idea = "the last wave's steps are shared out evenly",
               .output = "y_bfloat16",
               .kernels = 1,
               .run = run_stream_k,
               .traffic = tma_epilogue_traffic,
               .roundings = tensor_roundings}),
    on_hopper({.name = "22_tanh",
               .idea = "the same with the tanh form of GELU",
               .output = "y_bfloat16_tanh",
               .kernels = 1,
               .run = run_stream_k_tanh,
               .traffic = tma_epilogue_traffic,
               .roundings = tensor_roundings_tanh}),
    {.name = "23_gemm",
     .idea = "library: cuBLAS in bfloat16, the product alone",
     .output = "product_bfloat16",
     .kernels = workbook::kAnyNumber,
     .run = run_cublas_bfloat16_product,
     .traffic = least_bfloat16_product,
     .roundings = tensor_roundings,
     .flops = product_flops,
     .needs = kCublas,
     .against = "13_wmma",
     .capability = 80},
    {.name = "23_cublas",
     .idea = "library: cuBLAS in bfloat16, then one pass",
     .output = "y_bfloat16",
     .kernels = workbook::kAnyNumber,
     .run = run_cublas_bfloat16,
     .traffic = least_bfloat16_then_finish,
     .roundings = tensor_roundings_twice,
     .flops = product_flops,
     .needs = kCublas,
     .against = "13_wmma",
     .capability = 80},
    {.name = "23_cublaslt",
     .idea = "library: cuBLASLt in bfloat16 with bias and GELU, tanh",
     .output = "y_bfloat16_tanh",
     .kernels = workbook::kAnyNumber,
     .run = run_cublaslt_bfloat16,
     .traffic = least_bfloat16_linear,
     .roundings = tensor_roundings,
     .flops = product_flops,
     .needs = kCublasLt,
     .suits = of_eights,
     .against = "13_wmma",
     .capability = 80},
};

/// Of one m and n with growing k: what the epilogue saves is the same, what the product costs grows. The last
/// two are for the tensor cores.
const Shape kSweep[] = {{{2048, 2048, 2048}}, {{4096, 256, 4096}},  {{4096, 512, 4096}},
                        {{4096, 1024, 4096}}, {{4096, 2048, 4096}}, {{4096, 4096, 4096}},
                        {{4096, 8192, 4096}}, {{8192, 256, 8192}},  {{8192, 8192, 8192}},
                        {{8192, 4096, 16384}}};

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

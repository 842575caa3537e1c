/// \file
/// Exercise 02.2, chain, four functions in four types: what it asks for, and how the file that is judged is
/// called.
#include "../chain.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

double number(float a) { return a; }
double number(double a) { return a; }
double number(__half a) { return __half2float(a); }
double number(__nv_bfloat16 a) { return __bfloat162float(a); }
void assign(float* to, float a) { *to = a; }
void assign(double* to, float a) { *to = static_cast<double>(a) * (1 + 0x1p-30); }  // no float
void assign(__half* to, float a) { *to = __float2half(a); }
void assign(__nv_bfloat16* to, float a) { *to = __float2bfloat16(a); }

// --- Inputs and references ---

template <class T>
void fill_kind(const Data& host) {
  const int n = host.shape.dims[0];
  T *a = host[kA<T>], *b = host[kB<T>];
  float value = 0;
  for (int i = 0; i < n; ++i) {
    fill_uniform(&value, 1, -3.0f, 2.5f, 1000u + static_cast<unsigned>(i));
    assign(&a[i], value);
    fill_uniform(&value, 1, -1.0f, 1.5f, 2000000u + static_cast<unsigned>(i));
    assign(&b[i], value);
  }
}

void fill(const Data& host) {
  fill_kind<float>(host);
  fill_kind<double>(host);
  fill_kind<__half>(host);
  fill_kind<__nv_bfloat16>(host);
}

struct AddRelu {
  static double value(double a, double b) { return a + b > 0 ? a + b : 0; }
  static double size(double a, double b) { return fabs(a) + fabs(b); }
};
struct MultiplyTanh {
  static double value(double a, double b) { return tanh(a * b); }
  static double size(double a, double b) { return fabs(a * b); }
};
struct BiasGelu {
  static double value(double a, double b) { return 0.5 * (a + b) * (1 + erf((a + b) * 0.70710678118654752)); }
  static double size(double a, double b) { return fabs(a) + fabs(b); }
};
struct BiasGeluTanh {
  static double value(double a, double b) {
    const double sum = a + b;
    return 0.5 * sum * (1 + tanh(0.79788456080286536 * (sum + 0.044715 * sum * sum * sum)));
  }
  static double size(double a, double b) { return fabs(a) + fabs(b); }
};

/// None of the functions is steeper than 1.13. What cancels in 1 + erf and 1 + tanh is off by roundings of 1,
/// times half of a + b.
template <class T, class Function>
void reference(const Data& host, double* expected, double* magnitude) {
  const T *a = host[kA<T>], *b = host[kB<T>];
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = Function::value(number(a[i]), number(b[i]));
    magnitude[i] = Function::size(number(a[i]), number(b[i]));
  }
}

template <class T, class Function>
constexpr ArrayOf<T> result(const char* name) {
  return output<T>(name, elements, reference<T, Function>, {&kA<T>, &kB<T>});
}
template <class T>
constexpr auto kAddRelu = result<T, AddRelu>(name_of_four<T>("add_relu_float32", "add_relu_float64",
                                                             "add_relu_float16", "add_relu_bfloat16"));
template <class T>
constexpr auto kMultiplyTanh = result<T, MultiplyTanh>(name_of_four<T>(
    "multiply_tanh_float32", "multiply_tanh_float64", "multiply_tanh_float16", "multiply_tanh_bfloat16"));
template <class T>
constexpr auto kBiasGelu = result<T, BiasGelu>(name_of_four<T>("bias_gelu_float32", "bias_gelu_float64",
                                                               "bias_gelu_float16", "bias_gelu_bfloat16"));
template <class T>
constexpr auto kBiasGeluTanh = result<T, BiasGeluTanh>(name_of_four<T>(
    "bias_gelu_tanh_float32", "bias_gelu_tanh_float64", "bias_gelu_tanh_float16", "bias_gelu_tanh_bfloat16"));

using BFloat16 = __nv_bfloat16;
constexpr const Array* kArrays[] = {&kA<float>,
                                    &kB<float>,
                                    &kA<double>,
                                    &kB<double>,
                                    &kA<__half>,
                                    &kB<__half>,
                                    &kA<BFloat16>,
                                    &kB<BFloat16>,
                                    &kAddRelu<float>,
                                    &kAddRelu<double>,
                                    &kAddRelu<__half>,
                                    &kAddRelu<BFloat16>,
                                    &kMultiplyTanh<float>,
                                    &kMultiplyTanh<double>,
                                    &kMultiplyTanh<__half>,
                                    &kMultiplyTanh<BFloat16>,
                                    &kBiasGelu<float>,
                                    &kBiasGelu<double>,
                                    &kBiasGelu<__half>,
                                    &kBiasGelu<BFloat16>,
                                    &kBiasGeluTanh<float>,
                                    &kBiasGeluTanh<double>,
                                    &kBiasGeluTanh<__half>,
                                    &kBiasGeluTanh<BFloat16>};

/// The sum or product (1), the argument of erf or tanh (5), that (2.5 ulps: 5), 1 + it (1), and two products.
int roundings(const Shape&) { return 14; }

/// The bytes of an array of each type.
long long types_bytes(const Shape& s) {
  const long long n = elements(s);
  return sector_bytes(n, 4) + sector_bytes(n, 8) + 2 * sector_bytes(n, 2);
}
long long read_bytes(const Shape& s) { return 4 * 2 * types_bytes(s); }
long long written_bytes(const Shape& s) { return 4 * types_bytes(s); }

const Limit kLimits[] = {
    {.cost = Cost::kReadBytes,
     .allowed = read_bytes,
     .excess = "a chain needs a and b once each: is something read again?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = written_bytes,
     .excess = "a chain stores one value per element: does another go through memory?",
     .scattered = kScatteredStores},
};

const Shape kShapes[] = {{{1, 1, 1}}, {{33, 1, 1}}, {{255, 1, 1}}, {{1023, 1, 1}}, {{49999, 1, 1}}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A fused kernel is a composition of functions, which a compiler can write: with the same "
              "instructions as by hand, once for each type.",
          .lesson = "docs/02_add_mul_exp.md, stage 5",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kAddRelu<float>, &kMultiplyTanh<float>, &kBiasGelu<float>, &kBiasGeluTanh<float>,
                     &kAddRelu<double>, &kMultiplyTanh<double>, &kBiasGelu<double>, &kBiasGeluTanh<double>,
                     &kAddRelu<__half>, &kMultiplyTanh<__half>, &kBiasGelu<__half>, &kBiasGeluTanh<__half>,
                     &kAddRelu<BFloat16>, &kMultiplyTanh<BFloat16>, &kBiasGelu<BFloat16>,
                     &kBiasGeluTanh<BFloat16>},
          .roundings = roundings,
          .limits = kLimits,
          .shapes = kShapes,
          .timed_shape = {{1 << 22, 1, 1}}};
}

// --- How the file that is judged is called ---

namespace {

template <class T>
void run_kind(const Data& d) {
  constexpr int kThreads = 256;
  const int n = d.shape.dims[0], blocks = ceil_div(n, kThreads);
  const T *a = d[kA<T>], *b = d[kB<T>];
  namespace chain = add_mul_exp_chain;
  launch(chain::elementwise<chain::AddRelu, T>, blocks, kThreads, a, b, d[kAddRelu<T>], n);
  launch(chain::elementwise<chain::MultiplyTanh, T>, blocks, kThreads, a, b, d[kMultiplyTanh<T>], n);
  launch(chain::elementwise<chain::BiasGelu, T>, blocks, kThreads, a, b, d[kBiasGelu<T>], n);
  launch(chain::elementwise<chain::BiasGeluTanh, T>, blocks, kThreads, a, b, d[kBiasGeluTanh<T>], n);
}

void run(const Data& d) {
  run_kind<float>(d);
  run_kind<double>(d);
  run_kind<__half>(d);
  run_kind<__nv_bfloat16>(d);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE

/// \file
/// Specification of exercise 02.2, chain: four functions in four types.
#include "chain.hpp"

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
  T *a = array<T>(host, kA), *b = array<T>(host, kB);
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

double reference_value(Place place, double a, double b) {
  const double sum = a + b;
  switch (place) {
    case kAddRelu:
      return sum > 0 ? sum : 0;
    case kMultiplyTanh:
      return tanh(a * b);
    case kBiasGelu:
      return 0.5 * sum * (1 + erf(sum * 0.70710678118654752));
    default:
      return 0.5 * sum * (1 + tanh(0.79788456080286536 * (sum + 0.044715 * sum * sum * sum)));
  }
}

/// None of the functions is steeper than 1.13. What cancels in 1 + erf and 1 + tanh is off by roundings of 1,
/// times half of a + b.
template <class T, Place place>
void reference(const Data& host, double* expected, double* magnitude) {
  const T *a = array<T>(host, kA), *b = array<T>(host, kB);
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double x = number(a[i]), y = number(b[i]);
    expected[i] = reference_value(place, x, y);
    magnitude[i] = place == kMultiplyTanh ? fabs(x * y) : fabs(x) + fabs(y);
  }
}

template <class T, Place place>
constexpr Array output() {
  return {Kind<T>::kNames[place], Kind<T>::kType, Role::kOutput, elements, reference<T, place>};
}
template <class T>
constexpr Array input(Place place) {
  return {Kind<T>::kNames[place], Kind<T>::kType, Role::kInput, elements, nullptr};
}

const Array kArrays[] = {
    input<float>(kA),
    input<float>(kB),
    input<double>(kA),
    input<double>(kB),
    input<__half>(kA),
    input<__half>(kB),
    input<__nv_bfloat16>(kA),
    input<__nv_bfloat16>(kB),
    output<float, kAddRelu>(),
    output<double, kAddRelu>(),
    output<__half, kAddRelu>(),
    output<__nv_bfloat16, kAddRelu>(),
    output<float, kMultiplyTanh>(),
    output<double, kMultiplyTanh>(),
    output<__half, kMultiplyTanh>(),
    output<__nv_bfloat16, kMultiplyTanh>(),
    output<float, kBiasGelu>(),
    output<double, kBiasGelu>(),
    output<__half, kBiasGelu>(),
    output<__nv_bfloat16, kBiasGelu>(),
    output<float, kBiasGeluTanh>(),
    output<double, kBiasGeluTanh>(),
    output<__half, kBiasGeluTanh>(),
    output<__nv_bfloat16, kBiasGeluTanh>(),
};

constexpr const char* kOutputs =
    "add_relu_float32 multiply_tanh_float32 bias_gelu_float32 bias_gelu_tanh_float32 "
    "add_relu_float64 multiply_tanh_float64 bias_gelu_float64 bias_gelu_tanh_float64 "
    "add_relu_float16 multiply_tanh_float16 bias_gelu_float16 bias_gelu_tanh_float16 "
    "add_relu_bfloat16 multiply_tanh_bfloat16 bias_gelu_bfloat16 bias_gelu_tanh_bfloat16";

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = kOutputs,
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .shapes = kShapes,
          .shape_count = sizeof kShapes / sizeof kShapes[0],
          .timed_shape = {{1 << 22, 1, 1}}};
}

}  // namespace DEVICE

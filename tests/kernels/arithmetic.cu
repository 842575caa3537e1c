#include <math.h>
#include <string.h>

#include "arithmetic.hpp"
#include "device.hpp"

namespace DEVICE::test_kernels {
namespace {

// Bits of operands, and results as bits. Every NaN of float counts as the same.
template <class T>
__device__ inline T of_bits(unsigned bits);
template <>
__device__ inline float of_bits(unsigned bits) {
  return __uint_as_float(bits);
}
template <>
__device__ inline int of_bits(unsigned bits) {
  return static_cast<int>(bits);
}
template <>
__device__ inline __half of_bits(unsigned bits) {
  return __ushort_as_half(static_cast<unsigned short>(bits));
}
template <>
__device__ inline __nv_bfloat16 of_bits(unsigned bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
template <>
__device__ inline __half2 of_bits(unsigned bits) {
  return __halves2half2(of_bits<__half>(bits), of_bits<__half>(bits >> 16));
}
template <>
__device__ inline __nv_bfloat162 of_bits(unsigned bits) {
  return __halves2bfloat162(of_bits<__nv_bfloat16>(bits), of_bits<__nv_bfloat16>(bits >> 16));
}

__device__ inline unsigned to_bits(unsigned a) { return a; }
__device__ inline unsigned to_bits(int a) { return static_cast<unsigned>(a); }
__device__ inline unsigned to_bits(float a) { return a != a ? 0x7fffffffu : __float_as_uint(a); }
__device__ inline unsigned to_bits(__half a) { return __half_as_ushort(a); }
__device__ inline unsigned to_bits(__nv_bfloat16 a) { return __bfloat16_as_ushort(a); }
__device__ inline unsigned to_bits(__half2 a) { return to_bits(a.x) | to_bits(a.y) << 16; }
__device__ inline unsigned to_bits(__nv_bfloat162 a) { return to_bits(a.x) | to_bits(a.y) << 16; }

#if defined(__CUDACC__) && __CUDACC_VER_MAJOR__ < 13  // earlier toolkits do not name the instruction
__device__ inline float __tanhf(float a) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}
#endif

__device__ inline float2 sine_and_cosine(float a) {
  float2 both;
  __sincosf(a, &both.x, &both.y);
  return both;
}

// An operation's number: its line in its table, and 1000 or 2000 for the 16-bit types.
__global__ void evaluate_each(int number, const unsigned* words_a, const unsigned* words_b,
                              const unsigned* words_c, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned word_a = words_a[i], word_b = words_b[i], word_c = words_c[i];
  unsigned result = 0;
  switch (number) {
#define OPERATION(T, bound, ...)                     \
  case kFirst + __LINE__: {                          \
    [[maybe_unused]] const T a = of_bits<T>(word_a); \
    [[maybe_unused]] const T b = of_bits<T>(word_b); \
    [[maybe_unused]] const T c = of_bits<T>(word_c); \
    result = to_bits(__VA_ARGS__);                   \
    break;                                           \
  }
#define kFirst 0
#include "arithmetic_float.inc"
#undef kFirst
#define kFirst 1000
#define NUMBER __half
#define PAIR __half2
#include "arithmetic_16bit.inc"
#undef kFirst
#undef NUMBER
#undef PAIR
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // earlier GPUs have no __hfma of bfloat16
#define kFirst 2000
#define NUMBER __nv_bfloat16
#define PAIR __nv_bfloat162
#include "arithmetic_16bit.inc"
#undef kFirst
#undef NUMBER
#undef PAIR
#endif
#undef OPERATION
  }
  out[i] = result;
}

constexpr Bound (*exact)(float, float) = nullptr;

template <int kCount>
Bound units(float, float) {
  return {kCount};
}

const Bound kNone = {INFINITY, INFINITY};  // the guide gives none

Bound unbounded(float, float) { return kNone; }
Bound exp_bound(float a, float) { return {3 + floorf(fabsf(1.173f * a))}; }
Bound exp10_bound(float a, float) { return {3 + floorf(fabsf(2.97f * a))}; }
/// An absolute bound of 2^exponent, and half a unit of this machine's result, which is at most 1.
Bound absolute(double exponent) { return {1, exp2(exponent) + 0x1p-25}; }
bool near_one(float a) { return a >= 0.5f && a <= 2.0f; }
Bound log_bound(float a, float) { return near_one(a) ? absolute(-21.41) : Bound{4}; }
Bound log2_bound(float a, float) { return near_one(a) ? absolute(-22) : Bound{3}; }
Bound log10_bound(float a, float) { return near_one(a) ? absolute(-24) : Bound{4}; }
Bound sin_bound(float a, float) { return fabsf(a) <= 3.1415927f ? absolute(-21.41) : kNone; }
Bound cos_bound(float a, float) { return fabsf(a) <= 3.1415927f ? absolute(-21.19) : kNone; }
Bound tanh_bound(float, float) { return {0x1p13}; }  // relative 2^-11
Bound divide_bound(float, float b) {
  return fabsf(b) >= 0x1p-126f && fabsf(b) <= 0x1p126f ? Bound{3} : kNone;
}

constexpr Kind kind(const float*) { return Kind::kFloat; }
constexpr Kind kind(const int*) { return Kind::kInt; }
constexpr Kind kind(const __half*) { return Kind::kHalf; }
constexpr Kind kind(const __half2*) { return Kind::kHalf2; }
constexpr Kind kind(const __nv_bfloat16*) { return Kind::kBfloat16; }
constexpr Kind kind(const __nv_bfloat162*) { return Kind::kBfloat162; }

#define TEXT(...) #__VA_ARGS__
#define NAME(T) TEXT(T)
#define OPERATION(T, bound, ...) \
  {#__VA_ARGS__, NAME(T), kind(static_cast<const T*>(nullptr)), kFirst + __LINE__, bound},
const Operation kOperations[] = {
#define kFirst 0
#include "arithmetic_float.inc"
#undef kFirst
#define kFirst 1000
#define NUMBER __half
#define PAIR __half2
#include "arithmetic_16bit.inc"
#undef kFirst
#undef NUMBER
#undef PAIR
#define kFirst 2000
#define NUMBER __nv_bfloat16
#define PAIR __nv_bfloat162
#include "arithmetic_16bit.inc"
};

}  // namespace

Operations operations() { return {kOperations, sizeof kOperations / sizeof kOperations[0]}; }

void evaluate(int number, const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n) {
  launch(evaluate_each, (n + 255) / 256, 256, number, a, b, c, out, n);
}

}  // namespace DEVICE::test_kernels

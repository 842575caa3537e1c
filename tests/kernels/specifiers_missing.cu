#include "device.hpp"
#include "specifiers.hpp"

// Not for nvcc, which rejects it.

namespace DEVICE::test_kernels {
namespace {

// --- Helpers ---

float plain(float x) { return x * 2; }
__host__ float host_only(float x) { return x * 3; }
static inline float static_inline(float x) { return x * 4; }
template <class T>
T of_template(T x) {
  return x * 5;
}
constexpr float square(float x) { return x * x; }
const float&  // the smaller one
on_a_line_of_its_own(const float& x, const float& y) {
  return x < y ? x : y;
}
__noinline__ float not_inlined(float x) { return x * 7; }
float called_by_not_inlined(float x) { return x * 8; }
__noinline__ __device__ float marked_not_inlined(float x) { return called_by_not_inlined(x) + x; }
float inner(float x) { return x * 9; }
float outer(float x) { return inner(x) + x; }
template <float (*f)(float)>
__device__ float apply_argument(float x) {
  return f(x);
}
float argument(float x) { return x * 10; }

enum class Case {
  kPlain,
  kHost,
  kStatic,
  kTemplate,
  kConstexpr,
  kLine,
  kNotInlined,
  kInner,
  kTwo,
  kArgument
};

template <Case which>
__global__ void helper_kernel(float* x) {
  if constexpr (which == Case::kPlain) x[0] += plain(x[1]);
  if constexpr (which == Case::kHost) x[0] += host_only(x[1]);
  if constexpr (which == Case::kStatic) x[0] += static_inline(x[1]);
  if constexpr (which == Case::kTemplate) x[0] += of_template(x[1]);
  if constexpr (which == Case::kConstexpr) x[0] += square(x[1]);
  if constexpr (which == Case::kLine) x[0] += on_a_line_of_its_own(x[0], x[1]);
  if constexpr (which == Case::kNotInlined) x[0] += not_inlined(x[1]);
  if constexpr (which == Case::kInner) x[0] += marked_not_inlined(x[1]);
  if constexpr (which == Case::kTwo) x[0] += outer(x[1]);
  if constexpr (which == Case::kArgument) x[0] += apply_argument<argument>(x[1]);
}
template <Case which>
void run_helper(float* x) {
  launch(helper_kernel<which>, 1, 1, x);
}

// --- Members ---

template <class F>
__global__ void apply_kernel(F f, float* x) {
  x[0] += f(x[1]);
}
template <class F>
__device__ float apply(F f, float x) {
  return f(x);
}
template <class F>
__global__ void apply_twice_kernel(float* x) {
  x[0] += apply(F{}, x[1]);
}

struct Functor {
  __device__ float operator()(float x, float y) const { return x * y; }
  float operator()(float x) const { return x * 11; }
};
template <int N>
struct FunctorTemplate {
  float operator()(float x) const { return x * N; }
};
struct Pair {
  float a, b;
  __device__ Pair(float x) : a(x), b(x) {}
  Pair(float x, float y) : a(x / y), b(y / x) {}
  operator float() const { return a * b; }
  Pair operator+(const Pair& other) const { return {a + other.a}; }
  static float twice(float x) { return x * 2; }
  float sum() const;
};
float Pair::sum() const { return a + b; }

__global__ void constructor_kernel(float* x) {
  const Pair pair(x[0], x[1]);
  x[0] = pair.a;
  x[1] = pair.b;
}
__global__ void conversion_kernel(float* x) {
  const Pair pair(x[1]);
  x[0] += pair;
}
__global__ void operator_kernel(float* x) { x[0] += (Pair(x[0]) + Pair(x[1])).a; }
__global__ void static_member_kernel(float* x) { x[0] += Pair::twice(x[1]); }
__global__ void member_kernel(float* x) { x[0] += Pair(x[1]).sum(); }

void run_functor(float* x) { launch(apply_kernel<Functor>, 1, 1, Functor{}, x); }
void run_local_functor(float* x) {
  struct Local {
    float operator()(float y) const { return y * 13; }
  };
  launch(apply_kernel<Local>, 1, 1, Local{}, x);
}
void run_functor_template(float* x) { launch(apply_twice_kernel<FunctorTemplate<12>>, 1, 1, x); }

// --- Lambdas ---

template <class F>
void launch_lambda(F f, float* x) {
  launch(apply_kernel<F>, 1, 1, f, x);
}
void run_lambda(float* x) {
  launch_lambda([](float y) { return y * 14; }, x);
}
void run_capturing_lambda(float* x) {
  const float factor = 15;
  launch_lambda([=](float y) { return y * factor + x[1]; }, x);
}
void run_inner_lambda(float* x) {
  launch_lambda(
      [=](float y) {
        const auto add = [](float z) { return z + 1; };
        return add(y) * 16;
      },
      x);
}

// --- Kernels ---

void no_kernel(float* x) { x[0] += x[1]; }
__device__ void device_function(float* x) { x[0] += x[1]; }
template <int N>
void template_kernel(float* x) {
  x[0] += x[1] * N;
}

template <void (*kernel)(float*)>
void run_kernel(float* x) {
  launch(kernel, 1, 1, x);
}

// --- Not seen ---

float identity(float x) { return x; }
#define FUNCTION(name) float name
FUNCTION(of_macro)(float x) { return x * 17; }
float overloaded(float x) { return x * 18; }
__device__ float overloaded(float x, float y) { return x * y; }
constexpr int of_constant(int x) { return x * 19; }

__global__ void no_instruction_kernel(float* x) { x[0] += identity(x[1]); }
__global__ void macro_kernel(float* x) { x[0] += of_macro(x[1]); }
__global__ void overload_kernel(float* x) { x[0] += overloaded(x[1]) + overloaded(x[0], x[1]); }
__global__ void constant_kernel(float* x) {
  constexpr int factor = of_constant(1);
  x[0] += factor * x[1];
}

constexpr const char* kDevice = "function without __device__";
constexpr const char* kGlobal = "kernel without __global__";

}  // namespace

const MissingSpecifier kMissingSpecifiers[] = {
    {"a helper", run_helper<Case::kPlain>, kDevice, "float plain(",
     "plain (line {}) is called by this kernel and has no __device__"},
    {"a helper for the host only", run_helper<Case::kHost>, kDevice, "__host__ float host_only(",
     "host_only (line {}) is called by this kernel and has no __device__"},
    {"a static inline helper", run_helper<Case::kStatic>, kDevice, "static inline float static_inline(",
     "static_inline (line {}) is called by this kernel and has no __device__"},
    {"a helper template", run_helper<Case::kTemplate>, kDevice, "T of_template(",
     "of_template (line {}) is called by this kernel and has no __device__"},
    {"a constexpr helper called while the kernel runs", run_helper<Case::kConstexpr>, kDevice,
     "constexpr float square(",
     "square (line {}) is called by this kernel and has no __device__, which a constexpr function needs too"},
    {"a declaration of two lines", run_helper<Case::kLine>, kDevice, "on_a_line_of_its_own(",
     "on_a_line_of_its_own (line {}) is called by this kernel and has no __device__"},
    {"a helper that is not inlined", run_helper<Case::kNotInlined>, kDevice,
     "__noinline__ float not_inlined(",
     "not_inlined (line {}) is called by this kernel and has no __device__"},
    {"a helper of one that is not inlined", run_helper<Case::kInner>, kDevice, "float called_by_not_inlined(",
     "called_by_not_inlined (line {}) is called by this kernel and has no __device__"},
    {"the inner one of two helpers", run_helper<Case::kTwo>, kDevice, "float inner(",
     "inner (line {}) is called by this kernel and has no __device__"},
    {"the outer one of two helpers", run_helper<Case::kTwo>, kDevice, "float outer(",
     "outer (line {}) is called by this kernel and has no __device__"},
    {"a template argument", run_helper<Case::kArgument>, kDevice, "float argument(",
     "argument (line {}) is called by this kernel and has no __device__"},
    {"a functor", run_functor, kDevice, "  float operator()(float x) const { return x * 11",
     "operator() (line {}) is called by this kernel and has no __device__"},
    {"a functor in a function", run_local_functor, kDevice,
     "    float operator()(float y) const { return y * 13",
     "operator() (line {}) is called by this kernel and has no __device__"},
    {"a functor template that a helper calls", run_functor_template, kDevice,
     "  float operator()(float x) const { return x * N",
     "operator() (line {}) is called by this kernel and has no __device__"},
    {"a constructor", run_kernel<constructor_kernel>, kDevice, "  Pair(float x, float y)",
     "Pair (line {}) is called by this kernel and has no __device__"},
    {"a conversion", run_kernel<conversion_kernel>, kDevice, "  operator float()",
     "operator float (line {}) is called by this kernel and has no __device__"},
    {"an operator", run_kernel<operator_kernel>, kDevice, "  Pair operator+(",
     "operator+ (line {}) is called by this kernel and has no __device__"},
    {"a static member", run_kernel<static_member_kernel>, kDevice, "  static float twice(",
     "twice (line {}) is called by this kernel and has no __device__"},
    {"a member defined after its class", run_kernel<member_kernel>, kDevice, "float Pair::sum()",
     "sum (line {}) is called by this kernel and has no __device__"},
    {"a lambda", run_lambda, kDevice, "  launch_lambda([](float y) { return y * 14",
     "the lambda that begins in line {} is called by this kernel and has no __device__"},
    {"a lambda that captures", run_capturing_lambda, kDevice,
     "  launch_lambda([=](float y) { return y * factor",
     "the lambda that begins in line {} is called by this kernel and has no __device__"},
    {"a lambda around another one", run_inner_lambda, kDevice, "      [=](float y) {",
     "the lambda that begins in line {} is called by this kernel and has no __device__"},
    {"a kernel", run_kernel<no_kernel>, kGlobal, "void no_kernel(",
     "no_kernel is launched and has no __global__, so a GPU cannot launch it"},
    {"a device function that is launched", run_kernel<device_function>, kGlobal,
     "__device__ void device_function(",
     "device_function is launched and has no __global__, so a GPU cannot launch it"},
    {"a kernel template", run_kernel<template_kernel<3>>, kGlobal, "void template_kernel(",
     "template_kernel is launched and has no __global__, so a GPU cannot launch it"},
};
const int kMissingSpecifierCount = sizeof kMissingSpecifiers / sizeof kMissingSpecifiers[0];

const PresentSpecifier kUnseenSpecifiers[] = {
    {"a helper that leaves no instruction", run_kernel<no_instruction_kernel>},
    {"a helper that a macro declares", run_kernel<macro_kernel>},
    {"an overload of a marked function", run_kernel<overload_kernel>},
    {"a constexpr function that the compiler calls", run_kernel<constant_kernel>},
};
const int kUnseenSpecifierCount = sizeof kUnseenSpecifiers / sizeof kUnseenSpecifiers[0];

}  // namespace DEVICE::test_kernels

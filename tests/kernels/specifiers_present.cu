#include "device.hpp"
#include "specifiers.hpp"

// Specifiers stand in unusual places here.
// clang-format off

namespace DEVICE::test_kernels {
namespace {

// --- Where __device__ may stand ---

__device__ float first(float x) { return x * 2; }
float __device__ after_type(float x) { return x * 3; }
static __device__ inline float between(float x) { return x * 4; }
__host__ __device__ float both(float x) { return x * 5; }
__device__ __forceinline__ float forced(float x) { return x * 6; }
__device__ __noinline__ float apart(float x) { return x * 7; }
__device__
float line_before(float x) { return x * 8; }
__device__  /* a comment; with { brackets */ float
// another one; float after_comments(float x) {
after_comments(float x) { return x * 9; }
template <class T, int N = 3>
__device__ T after_template(T x) { return x * N; }
template <class T> [[nodiscard]] __device__ auto returns(T x) -> decltype(x * 2) { return x * 11; }
__attribute__((unused)) __device__ float after_attribute(float x) { return x * 12; }
__device__ constexpr float constexpr_too(float x) { return x * 13; }

__global__ void places_kernel(float* x) {
  const float y = x[1];
  x[0] += first(y) + after_type(y) + between(y) + both(y) + forced(y) + apart(y) + line_before(y) +
          after_comments(y) + after_template(y) + returns(y) + after_attribute(y) + constexpr_too(y);
}

// --- Macros ---

#define HD __host__ __device__
#define device_float __device__ float
#define FUNCTION(name) __device__ float name
#define UNARY(name, result) __device__ float name(float x) { return result; }
#define FUNCTOR(name, result) struct name { __device__ float operator()(float x) const { return result; } };
HD float by_macro(float x) { return x * 14; }
device_float type_by_macro(float x) { return x * 15; }
FUNCTION(name_by_macro)(float x) { return x * 16; }
UNARY(all_by_macro, x * 17)
FUNCTOR(FunctorByMacro, x * 18)
#ifdef __CUDACC__
#define ON_DEVICE __device__
__device__ float by_compiler(float x) { return x * 19; }
#else
#define ON_DEVICE
float by_compiler(float x) { return x * 20; }
#endif
ON_DEVICE float by_macro_of_compiler(float x) { return x * 21; }

__global__ void macros_kernel(float* x) {
  const float y = x[1];
  x[0] += by_macro(y) + type_by_macro(y) + name_by_macro(y) + all_by_macro(y) + FunctorByMacro{}(y) +
          by_compiler(y) + by_macro_of_compiler(y);
}

// --- Declarations and definitions ---

__device__ float declared(float x);
float declared(float x) { return x * 22; }
float defined(float x);
__device__ float defined(float x) { return x * 23; }
template <class T> __device__ T declared_template(T x);
template <class T> T declared_template(T x) { return x * 24; }
template <class T> __device__ T special(T x) { return x; }
template <> float special(float x) { return x * 25; }
struct Members {
  float value;
  __device__ float declared_member(float x) const;
  float defined_member(float x) const;
  __device__ static float static_member(float x) { return x * 26; }
  friend __device__ Members operator+(Members a, Members b) { return {a.value + b.value}; }
  friend Members operator-(Members a, Members b);
};
float Members::declared_member(float x) const { return x * value; }
__device__ float Members::defined_member(float x) const { return x / value; }
__device__ Members operator-(Members a, Members b) { return {a.value - b.value}; }

__global__ void declarations_kernel(float* x) {
  const float y = x[1];
  const Members a{y}, b{x[0]};
  x[0] += declared(y) + defined(y) + declared_template(y) + special(y) + a.declared_member(y) +
          a.defined_member(y) + Members::static_member(y) + (a + b).value + (a - b).value;
}

// --- What the compiler declares ---

struct Implicit {
  float a = 1, b = 2;
  bool operator==(const Implicit&) const = default;
};
struct Defaulted {
  Implicit part;
  Defaulted() = default;
  Defaulted(const Defaulted&) = default;
  Defaulted& operator=(const Defaulted&) = default;
  ~Defaulted() = default;
};
struct Base {
  float value;
  __device__ explicit Base(float x) : value(x) {}
};
struct Derived : Base {
  using Base::Base;
};

__global__ void implicit_kernel(float* x) {
  Defaulted one, other;
  one.part.a = x[0];
  other = one;
  const Derived derived(x[1]);
  const Defaulted copy(other);
  x[0] = copy.part == one.part ? derived.value + copy.part.b : 0;
}

// --- Calls that no GPU makes ---

constexpr int power(int base, int exponent) { return exponent ? base * power(base, exponent - 1) : 1; }
template <int N>
__device__ float times(float x) { return x * N; }
float scaled(double x) { return static_cast<float>(x * 2); }
__device__ float scaled(float x) { return x * 3; }

constexpr int kLength = power(2, 3), kFactor = power(2, 5);
static_assert(power(3, 2) == 9);

__global__ void constant_kernel(float* x) {
  __shared__ float tile[kLength];
  tile[kLength / 2] = x[1];
  x[0] += times<kFactor>(tile[kLength / 2]) + scaled(x[1]);
}

// --- The same code for the host ---

__device__ __noinline__ float polynomial(float x) { return ((x * 2 + 3) * x + 4) * x + 5; }
float host_polynomial(float x) { return ((x * 2 + 3) * x + 4) * x + 5; }
__global__ void polynomial_kernel(float* x) { x[0] += polynomial(x[1]) * polynomial(x[0]); }
void a_host_function(float* x) { x[0] += host_polynomial(x[1]) * host_polynomial(x[0]); }
void same_as_kernel(float* x) { x[0] = x[0] * x[1] - x[1] / x[0]; }
__global__ void same_kernel(float* x) { x[0] = x[0] * x[1] - x[1] / x[0]; }

// --- Lambdas ---

template <class F>
__global__ void apply_kernel(F f, float* x) { x[0] += f(x[1]); }
template <class F>
void launch_lambda(F f, float* x) { launch(apply_kernel<F>, 1, 1, f, x); }
__device__ auto made() { return [](float x) { return x * 27; }; }
template <class F>
__device__ auto wrapped(F f) { return [f](auto x) { return f(x) * 28; }; }

__global__ void lambdas_kernel(float* x) {
  const auto add = [&](float y) { return x[0] + y; };
  const auto twice = [](auto f, float y) { return f(f(y)); };
  const auto next = [](float y) {
    return y + 1;
  };
  x[0] += twice(add, x[1]) + made()(x[1]) + wrapped(next)(x[1]);
}
struct Functor {
  float factor;
  __device__ float operator()(float x) const { return [this](float y) { return y * factor; }(x); }
};

void run_lambdas(float* x) {
  const float factor = 30;
  launch_lambda([=] __device__(float y) { return y * factor; }, x);
  launch_lambda([=] __host__ __device__(float y) { return y + factor; }, x);
  launch_lambda(
      [=] __device__(float y) {
        const auto inner = [](float z) { return z * 2; };
        return inner(y);
      },
      x);
  launch_lambda([] HD(float y) { return y * 31; }, x);
}

// --- Kernels ---

__global__ void declared_kernel(float* x);
__global__ void declared_kernel(float* x) { x[0] += x[1]; }
void __global__ after_void_kernel(float* x) { x[0] += x[1]; }
static __global__ void static_kernel(float* x) { x[0] += x[1]; }
__global__ void __launch_bounds__(256) bounded_kernel(float* x) { x[0] += x[1]; }
__launch_bounds__(256) __global__ void bounded_first_kernel(float* x) { x[0] += x[1]; }
template <int N>
__global__
void
template_kernel(float* x) { x[0] += x[1] * N; }
#define KERNEL(name) __global__ void name(float* x)
KERNEL(macro_kernel) { x[0] += x[1]; }

void run(void (*kernel)(float*), float* x) { launch(kernel, 1, 1, x); }

}  // namespace

const PresentSpecifier kPresentSpecifiers[] = {
    {"__device__ in every place", [](float* x) { run(places_kernel, x); }},
    {"macros that have __device__", [](float* x) { run(macros_kernel, x); }},
    {"__device__ in the declaration or the definition", [](float* x) { run(declarations_kernel, x); }},
    {"members that the compiler declares", [](float* x) { run(implicit_kernel, x); }},
    {"constexpr functions while compiling", [](float* x) {
       (void)scaled(2.0);  // on the host, by another function of that name
       run(constant_kernel, x);
     }},
    {"a device function that the host has too", [](float* x) { run(polynomial_kernel, x); }},
    {"a kernel that the host has too", [](float* x) { run(same_kernel, x); }},
    {"host functions, which are not launched", [](float* x) {
       if (x) return;
       a_host_function(x);
       same_as_kernel(x);
     }},
    {"lambdas in device code", [](float* x) { run(lambdas_kernel, x); }},
    {"a functor with a lambda in it", [](float* x) { launch(apply_kernel<Functor>, 1, 1, Functor{29}, x); }},
    {"a kernel declared before", [](float* x) { run(declared_kernel, x); }},
    {"__global__ after void", [](float* x) { run(after_void_kernel, x); }},
    {"a static kernel", [](float* x) { run(static_kernel, x); }},
    {"__launch_bounds__", [](float* x) { run(bounded_kernel, x); }},
    {"__launch_bounds__ first", [](float* x) { run(bounded_first_kernel, x); }},
    {"a kernel template", [](float* x) { run(template_kernel<3>, x); }},
    {"a kernel by a macro", [](float* x) { run(macro_kernel, x); }},
    {"lambdas passed to a kernel", run_lambdas},
};
const int kPresentSpecifierCount = sizeof kPresentSpecifiers / sizeof kPresentSpecifiers[0];

}  // namespace DEVICE::test_kernels

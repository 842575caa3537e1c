/// \file
/// The elementwise operators on the CPU: plain loops, which the compiler turns into vector instructions, and
/// tables for GELU of 16-bit elements. They are not the workbook's CPU device, which counts and is slow.
// glibc's vector forms of these functions (libmvec) are at most 4 units in the last place off. g++ calls them
// in a loop only if the declarations say that they exist; glibc's own declarations say so under -ffast-math
// alone, which may not be used here: linked with it, a library turns off denormal numbers in the whole
// process.
#ifdef WORKBOOK_HAS_LIBMVEC
extern "C" {
__attribute__((simd("notinbranch"))) float erff(float) noexcept;
__attribute__((simd("notinbranch"))) float expf(float) noexcept;
__attribute__((simd("notinbranch"))) float tanhf(float) noexcept;
__attribute__((simd("notinbranch"))) double erf(double) noexcept;
__attribute__((simd("notinbranch"))) double exp(double) noexcept;
__attribute__((simd("notinbranch"))) double tanh(double) noexcept;
}
#endif
#include <optional>
#include <vector>

#include "cpu_elements.hpp"
#include "dropout.hpp"
#include "formulas.hpp"

namespace workbook_ops {
namespace {

// --- One formula ---

constexpr int kGroup = 16;  // elements: a multiple of every vector's width

/// The formula at n elements of arrays of C, a multiple of kGroup. Inlined, a loop of one group would become
/// scalar code, whose erf, exp and tanh round differently.
template <class Formula, class C>
[[gnu::noinline]] void compute_groups(const C* const (&from)[Formula::kInputs],
                                      C* const (&to)[Formula::kOutputs], int n) {
#ifndef __clang__
#pragma GCC ivdep  // results and inputs are different arrays
#endif
  for (int i = 0; i < n; ++i) {
    C in[Formula::kInputs], out[Formula::kOutputs];
    for (int k = 0; k < Formula::kInputs; ++k) in[k] = from[k][i];
    Formula::compute(in, out);
    for (int k = 0; k < Formula::kOutputs; ++k) to[k][i] = out[k];
  }
}

/// The formula at n elements of arrays of C. The last few are computed in a group of their own, by the same
/// vector instructions as all others: a result does not depend on where in an array its element is, nor on
/// how threads share the array.
template <class Formula, class C>
void compute(const C* const (&from)[Formula::kInputs], C* const (&to)[Formula::kOutputs], int n) {
  const int whole = n - n % kGroup, left = n - whole;
  compute_groups<Formula, C>(from, to, whole);
  if (left == 0) return;
  C in[Formula::kInputs][kGroup] = {}, out[Formula::kOutputs][kGroup];
  const C* last_from[Formula::kInputs];
  C* last_to[Formula::kOutputs];
  for (int k = 0; k < Formula::kInputs; ++k) {
    std::copy_n(from[k] + whole, left, in[k]);
    last_from[k] = in[k];
  }
  for (int k = 0; k < Formula::kOutputs; ++k) last_to[k] = out[k];
  compute_groups<Formula, C>(last_from, last_to, kGroup);
  for (int k = 0; k < Formula::kOutputs; ++k) std::copy_n(out[k], left, to[k] + whole);
}

// --- Tables ---

/// Whether a formula of 16-bit elements is looked up, as in stage 06_table of chapter 07: with one input all
/// of it, with two what the first is multiplied by. The table holds what the formula computes, to the bit.
template <class Formula, class T>
constexpr bool kIsLookedUp = sizeof(T) == 2 &&
                             (std::is_same_v<Formula, Gelu> || std::is_same_v<Formula, GeluTanh> ||
                              std::is_same_v<Formula, GeluBackward> ||
                              std::is_same_v<Formula, GeluTanhBackward>);

/// The formula at all 65,536 elements of T, in the order of their bits. Made by the first call.
template <class Formula, class T>
const float* table_of() {
  static const std::vector<float> table = [] {
    constexpr int kAll = 1 << 16;
    std::vector<T> all(kAll);
    for (int i = 0; i < kAll; ++i) all[i].bits = static_cast<std::uint16_t>(i);
    const std::vector<float> ones(kAll, 1.0f);
    std::vector<float> x(kAll), values(kAll);
    widen(all.data(), x.data(), kAll);
    const float* from[Formula::kInputs] = {ones.data()};
    from[Formula::kInputs - 1] = x.data();
    float* to[] = {values.data()};
    compute<Formula, float>(from, to, kAll);
    return values;
  }();
  return table.data();
}

/// By the table, the formula at the elements [first, first + n) of arrays of T, before it is rounded.
template <class Formula, class T>
void look_up_chunk(const void* const* in, std::int64_t first, int n, float* values) {
  look_up(table_of<Formula, T>(), static_cast<const T*>(in[Formula::kInputs - 1]) + first, values, n);
  if constexpr (Formula::kInputs == 2) {
    float buffer[kChunk];
    widen(static_cast<const T*>(in[0]) + first, buffer, n);
    for (int i = 0; i < n; ++i) values[i] *= buffer[i];
  }
}

/// The input that a formula reads again and again, a row of `period` elements. A short one is converted and
/// repeated once, for chunks of `length` elements that start at any of its elements.
template <class T>
class Repeated {
 public:
  using C = Compute<T>;
  Repeated(const void* row, int period, std::int64_t length)
      : row_(static_cast<const T*>(row)), period_(period) {
    if (period_ > kChunk) return;
    C buffer[kChunk];
    repeat(floats_of(row_, buffer, period_), period_, 0, values_,
           period_ + std::min<std::int64_t>(kChunk, length));
  }
  /// What belongs to the elements [first, first + n), in the buffer if need be.
  const C* from(std::int64_t first, int n, C* buffer) const {
    const std::int64_t column = first % period_;
    if (period_ <= kChunk) return values_ + column;
    if (column + n <= period_) return floats_of(row_ + column, buffer, n);
    for_runs(period_, first, first + n, [&](std::int64_t start, int length, std::int64_t at) {
      widen(row_ + at, buffer + (start - first), length);
    });
    return buffer;
  }

 private:
  const T* row_;
  int period_;
  C values_[2 * kChunk];
};

/// The formula at the elements [first, first + n) of arrays of T, n <= kChunk. The last input is `repeated`
/// unless that is null. `values` receives the results before they are rounded, as far as they are not in the
/// arrays themselves; returns where they are.
template <class Formula, class T>
const Compute<T>* compute_chunk(const void* const* in, void* const* out, const Repeated<T>* repeated,
                                std::int64_t first, int n, Compute<T> (&values)[Formula::kOutputs][kChunk]) {
  using C = Compute<T>;
  C buffers[Formula::kInputs][kChunk];
  const C* from[Formula::kInputs];
  C* to[Formula::kOutputs];
  for (int k = 0; k < Formula::kInputs; ++k) {
    if (Formula::kRepeats && k == Formula::kInputs - 1)
      from[k] = repeated->from(first, n, buffers[k]);
    else
      from[k] = floats_of(static_cast<const T*>(in[k]) + first, buffers[k], n);
  }
  for (int k = 0; k < Formula::kOutputs; ++k) {
    to[k] = values[k];
    if constexpr (std::is_same_v<T, C>) to[k] = static_cast<T*>(out[k]) + first;
  }
  compute<Formula, C>(from, to, n);
  if constexpr (!std::is_same_v<T, C>)
    for (int k = 0; k < Formula::kOutputs; ++k) narrow(values[k], static_cast<T*>(out[k]) + first, n);
  return to[0];
}

template <class Formula, class T>
void compute_range(const void* const* in, void* const* out, int period, std::int64_t begin,
                   std::int64_t end) {
  Compute<T> values[Formula::kOutputs][kChunk];
  std::optional<Repeated<T>> repeated;
  if constexpr (Formula::kRepeats) repeated.emplace(in[Formula::kInputs - 1], period, end - begin);
  for (std::int64_t first = begin; first < end; first += kChunk) {
    const int n = static_cast<int>(std::min<std::int64_t>(kChunk, end - first));
    if constexpr (kIsLookedUp<Formula, T>) {
      look_up_chunk<Formula, T>(in, first, n, values[0]);
      narrow(values[0], static_cast<T*>(out[0]) + first, n);
    } else {
      compute_chunk<Formula, T>(in, out, repeated ? &*repeated : nullptr, first, n, values);
    }
  }
}

// --- Column sums ---

template <class Formula, class T>
void compute_part(const WorkbookBiasGelu& task, int part) {
  using C = Compute<T>;
  const std::int64_t columns = task.columns, begin = first_row(task.rows, task.parts, part) * columns;
  const std::int64_t end = first_row(task.rows, task.parts, part + 1) * columns;
  C* sums = static_cast<C*>(task.partial) + part * columns;
  std::fill(sums, sums + columns, C(0));

  const void* const in[] = {task.grad, task.x, task.bias};
  void* const out[] = {task.dx};
  C values[1][kChunk], wide[2 * kChunk] = {};  // the sums of short rows, repeated as the bias is
  const Repeated<T> bias(task.bias, task.columns, end - begin);
  for (std::int64_t first = begin; first < end; first += kChunk) {
    const int n = static_cast<int>(std::min<std::int64_t>(kChunk, end - first));
    const C* dx = compute_chunk<Formula, T>(in, out, &bias, first, n, values);
    const auto add = [&](C* to, const C* terms, int length) {
#pragma omp simd
      for (int i = 0; i < length; ++i) to[i] += terms[i];
    };
    if (columns <= kChunk)
      add(wide + first % columns, dx, n);
    else
      for_runs(columns, first, first + n, [&](std::int64_t start, int length, std::int64_t at) {
        add(sums + at, dx + (start - first), length);
      });
  }
  if (columns <= kChunk)
    for (std::int64_t i = 0; i < columns + kChunk; ++i) sums[i % columns] += wide[i];
}

// --- Dropout ---

/// A warp of a GPU draws the numbers of its elements by one call in each lane, of eight numbers of 16 bits.
constexpr int kCalls = 32, kNumbers = 8 * kCalls;

/// The factors of the elements that warp `warp` has on a GPU: those of kNumbers neighbouring elements.
/// `dropout` is passed by value: with a reference, factor() would become a branch, often mispredicted.
template <class T>
void draw_factors(host::Dropout dropout, unsigned warp, float* factors) {
  std::uint32_t words[4 * kCalls];
  for (unsigned lane = 0; lane < kCalls; ++lane) {
    const host::uint4 call = dropout.random(kCalls * warp + lane);
    words[4 * lane] = call.x;
    words[4 * lane + 1] = call.y;
    words[4 * lane + 2] = call.z;
    words[4 * lane + 3] = call.w;
  }
  std::uint16_t numbers[kNumbers];  // in the order of number<16>()
  if constexpr (std::endian::native == std::endian::little)
    std::memcpy(numbers, words, sizeof(numbers));
  else
    for (int i = 0; i < kNumbers; ++i) numbers[i] = static_cast<std::uint16_t>(words[i / 2] >> (i % 2 * 16));
  float of_numbers[kNumbers];
#pragma omp simd
  for (int i = 0; i < kNumbers; ++i) of_numbers[i] = dropout.factor(numbers[i]);
  // A lane has vectors of 16 bytes, which are 32 vectors apart: two of 4 floats, or one of 8 shorter
  // elements.
  using Numbers = host::Sharing<T, 8 * sizeof(T) / 16>;
  static_assert(Numbers::kBits == 16);
  for (int v = 0; v < Numbers::kVectors; ++v)
    for (int lane = 0; lane < kCalls; ++lane)
      std::copy_n(of_numbers + 8 * lane + v * Numbers::kWidth, Numbers::kWidth,
                  factors + (v * kCalls + lane) * Numbers::kWidth);
}

/// The formula at what is not dropped: GELU of x, or from grad and x the gradient. `in` holds these arrays.
template <class Formula, class T>
void dropout_range(const WorkbookGeluDropout& task, const void* const* in, std::int64_t begin,
                   std::int64_t end) {
  const host::Dropout dropout = host::make_dropout<16>(task.p, *task.seed, 0);
  float factors[kNumbers], values[kNumbers];
  for (std::int64_t first = begin; first < end;) {
    const int inside = static_cast<int>(first % kNumbers);
    const int n = static_cast<int>(std::min<std::int64_t>(end - first, kNumbers - inside));
    draw_factors<T>(dropout, static_cast<unsigned>(first / kNumbers), factors);
    T* out = static_cast<T*>(task.out) + first;
    float* const to[] = {floats_for(out, values)};
    if constexpr (kIsLookedUp<Formula, T>) {
      look_up_chunk<Formula, T>(in, first, n, values);
    } else {
      const float* from[Formula::kInputs];
      for (int k = 0; k < Formula::kInputs; ++k) from[k] = static_cast<const float*>(in[k]) + first;
      compute<Formula, float>(from, to, n);
    }
    for (int i = 0; i < n; ++i) to[0][i] *= factors[inside + i];
    store_floats(to[0], out, n);
    first += n;
  }
}

}  // namespace
}  // namespace workbook_ops

using namespace workbook_ops;

void workbook_elementwise_cpu(int formula, int type, const void* const* in, void* const* out, int period,
                              int begin, int end) {
  with_formula(formula, [&](auto chosen) {
    with_type<Half, BFloat16>(
        type, [&]<class T>(T*) { compute_range<decltype(chosen), T>(in, out, period, begin, end); });
  });
}

void workbook_bias_gelu_part_cpu(const WorkbookBiasGelu* task, int part) {
  with_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
    if (task->use_tanh)
      compute_part<BiasGeluTanhBackward, T>(*task, part);
    else
      compute_part<BiasGeluBackward, T>(*task, part);
  });
}

void workbook_bias_gelu_sum_cpu(const WorkbookBiasGelu* task) {
  with_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
    sum_parts(static_cast<const Compute<T>*>(task->partial), task->parts, task->columns, task->columns,
              static_cast<T*>(task->dbias));
  });
}

void workbook_gelu_dropout_cpu(const WorkbookGeluDropout* task, int begin, int end) {
  const auto run = [&]<class Forward, class Backward>(Forward, Backward) {
    with_short_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
      const void* const in[] = {task->grad, task->x};
      if (task->grad)
        dropout_range<Backward, T>(*task, in, begin, end);
      else
        dropout_range<Forward, T>(*task, in + 1, begin, end);
    });
  };
  if (task->use_tanh)
    run(GeluTanh(), GeluTanhBackward());
  else
    run(Gelu(), GeluBackward());
}

#ifndef WORKBOOK_OPS_BUILT_FOR
#define WORKBOOK_OPS_BUILT_FOR ""
#endif
const char* workbook_built_for() { return WORKBOOK_OPS_BUILT_FOR; }

#ifndef WORKBOOK_OPS_CUDA
const char* workbook_error() { return ""; }
#endif

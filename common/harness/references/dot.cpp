#include "harness/references/dot.hpp"

#ifdef __x86_64__
#define FOR_WIDE_VECTORS [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define FOR_WIDE_VECTORS
#endif

namespace workbook {
namespace {

template <class T>
[[gnu::always_inline]] inline double in_partial_sums(const T* a, const T* b, int n) {
  constexpr int kSums = 16;
  double sums[kSums] = {};
  int i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int j = 0; j < kSums; ++j) sums[j] += static_cast<double>(a[i + j]) * b[i + j];
  for (; i < n; ++i) sums[0] += static_cast<double>(a[i]) * b[i];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

FOR_WIDE_VECTORS double dot(const double* a, const double* b, int n) { return in_partial_sums(a, b, n); }
FOR_WIDE_VECTORS double dot(const float* a, const float* b, int n) { return in_partial_sums(a, b, n); }

}  // namespace workbook

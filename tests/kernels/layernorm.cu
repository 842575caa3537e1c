#include "device.hpp"
#include "halves.hpp"
#include "layernorm.hpp"
#include "sums.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

template <class T>
__global__ void layernorm(const T* x, const T* weight, const T* bias, T* y, int columns,
                          LayernormMistake mistake) {
  using enum LayernormMistake;
  const T* row = x + static_cast<size_t>(blockIdx.x) * columns;
  T* out = y + static_cast<size_t>(blockIdx.x) * columns;
  const auto input = [&](int c) {
    const float v = to_float(row[c]);
    return v < 0 ? 0.0f : v;
  };
  const int counted = columns - (mistake == kLastFourNotCounted ? 4 : 0);
  const int in_mean = counted - (mistake == kLastNotInMean), threads = blockDim.x;
  float sum = 0;
  for (int c = threadIdx.x; c < in_mean; c += threads) sum += input(c);
  const float mean = block_sum_by_warps(sum) / static_cast<float>(counted);

  const float centre = mistake == kMeanOfSquares ? 0 : mean;
  const int in_squares = counted - (mistake == kLastNotInSquares);
  float squares = 0;
  for (int c = threadIdx.x; c < in_squares; c += threads)
    squares += (input(c) - centre) * (input(c) - centre);
  squares = block_sum_by_warps(squares);

  float variance = squares / static_cast<float>(counted - (mistake == kDividesByOneLess));
  if (mistake == kMeanOfSquares) variance -= mean * mean;
  const float inverse = rsqrtf(variance + (mistake == kNoEpsilon ? 0 : 1e-5f));
  for (int c = threadIdx.x; c < columns; c += threads)
    out[c] = from_float<T>((input(c) - mean) * inverse * to_float(weight[c]) + to_float(bias[c]));
}

__global__ void clear_elements(float* x, long long first, long long apart, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[first + i * apart] = 0;
}

__global__ void count_up(unsigned* x, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = i;
}

__global__ void product_of_rows(const float* x, const float* w, float* out, int m, int k, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / n, column = i % n;
  if (row >= m) return;
  float sum = 0;
  for (int term = 0; term < k; ++term) sum += x[row * k + term] * w[column * k + term];
  out[i] = sum;
}

}  // namespace kernel

void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows, int columns,
               LayernormMistake mistake) {
  launch(kernel::layernorm<float>, rows, 256, x, weight, bias, y, columns, mistake);
}
void layernorm_bfloat16(const void* x, const void* weight, const void* bias, void* y, int rows, int columns,
                        LayernormMistake mistake) {
  using T = __nv_bfloat16;
  launch(kernel::layernorm<T>, rows, 256, static_cast<const T*>(x), static_cast<const T*>(weight),
         static_cast<const T*>(bias), static_cast<T*>(y), columns, mistake);
}
void clear_elements(float* x, long long first, long long apart, int count) {
  launch(kernel::clear_elements, count / 128 + 1, 128, x, first, apart, count);
}
void count_up(unsigned* x, int count) { launch(kernel::count_up, count / 128 + 1, 128, x, count); }
void product_of_rows(const float* x, const float* w, float* out, int m, int k, int n) {
  launch(kernel::product_of_rows, m * n / 128 + 1, 128, x, w, out, m, k, n);
}

}  // namespace DEVICE::test_kernels

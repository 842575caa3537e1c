// A starter for ./workbook play: one kernel, its arrays, one launch. Change anything, and play it again.
#include "ceil_div.hpp"
#include "play.hpp"

namespace DEVICE {

// out[i] = 2 * x[i], one thread per element.
__global__ void twice(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}

void play() {
  const int n = 1000, threads = 256;
  Array<float> x("x", n, [](int i) { return 0.5f * i; });  // element i is what the function returns
  Array<float> out("out", n);                              // elements that nothing has written yet
  launch(twice, ceil_div(n, threads), threads, x.data(), out.data(), n);
  out.print();  // the first elements
}

}  // namespace DEVICE

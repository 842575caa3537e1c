/// \file
/// Runs each kernel of tests/data/counters_h200.json that is no chapter's once, at n = 2^20, for Nsight
/// Compute: tests/counters.py calls it.
#include "gpu/buffer.hpp"
#include "gpu/launch.hpp"
// The tests' kernels, here in namespace gpu.
#include "device.hpp"
#include "kernels.hpp"

int main() {
  constexpr int n = 1 << 20;
  const gpu::Buffer<float> a(n), b(n), c(n), out(n);
  for (const auto* buffer : {&a, &b, &c})
    gpu::check(cudaMemset(buffer->data(), 0, buffer->bytes()), "cudaMemset");
  gpu::test_kernels::mul(a.data(), b.data(), out.data(), n);
  gpu::test_kernels::fma4(a.data(), b.data(), c.data(), out.data(), n);
  gpu::test_kernels::red(a.data(), out.data(), n);
  gpu::check(cudaStreamSynchronize(cudaStreamPerThread), "kernels");
}

/// \file
/// Runs each of the counted kernels once on a GPU, for Nsight Compute: tests/counters.py calls it. With
/// --list it prints their names instead, in the same order.
#include <cstdio>
#include <cstring>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/launch.hpp"
// The tests' kernels, here in namespace gpu.
#include "counted.hpp"
#include "counted_tensor.hpp"
#include "device.hpp"

int main(int argc, char** argv) {
  const gpu::test_kernels::CountedKernels lists[] = {gpu::test_kernels::counted_kernels(),
                                                     gpu::test_kernels::counted_tensor_kernels()};
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& kernels : lists)
      for (int i = 0; i < kernels.count; ++i) std::puts(kernels.first[i].name);
    return 0;
  }
  const std::size_t n = gpu::test_kernels::kCountedSize;
  std::vector<float> host_a(n), host_b(n);
  std::vector<int> host_c(n);
  gpu::test_kernels::counted_inputs(host_a.data(), host_b.data(), host_c.data());
  const gpu::Buffer<float> a(n), b(n), c(n), out(n);
  const auto upload = [](const gpu::Buffer<float>& to, const void* from) {
    gpu::check(cudaMemcpy(to.data(), from, to.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  };
  upload(a, host_a.data());
  upload(b, host_b.data());
  upload(c, host_c.data());
  gpu::check(cudaMemset(out.data(), 0, out.bytes()), "cudaMemset");
  for (const auto& kernels : lists)
    for (int i = 0; i < kernels.count; ++i) kernels.first[i].run(a.data(), b.data(), c.data(), out.data());
  gpu::check(cudaStreamSynchronize(cudaStreamPerThread), "kernels");
}

/// \file
/// The lowest rung of the ladder of chapter 09: q * k + v by the operators' C layer, called from C++ without
/// PyTorch. ladder.py runs it; by hand:
///
///     echo "1 1000 host" | build/pytorch/09_pytorch cpu
///
/// It reads tasks, ELEMENTS CALLS host|whole, and answers each with the microseconds that a call took: the
/// host alone, which does not wait for the GPU, or until the GPU has ended. On the CPU both are the same, and
/// one thread computes. Exit status: 0, 1 for a wrong result or an error, 2 for wrong usage, 3 without a GPU.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "interface.hpp"
#ifdef WORKBOOK_OPS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

[[noreturn]] void end(int status, const std::string& message) {
  std::fprintf(stderr, "09_pytorch: %s\n", message.c_str());
  std::exit(status);
}

struct Cpu {
  static void require() {}
  static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  static void copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void wait() {}
  static void multiply_add(const void* const* in, void* const* out, int n) {
    workbook_elementwise_cpu(kMultiplyAdd, kFloat32, in, out, 1, 0, n);
  }
};

#ifdef WORKBOOK_OPS_CUDA
struct Gpu {
  static void check(cudaError_t error) {
    if (error != cudaSuccess) end(1, cudaGetErrorString(error));
  }
  static void require() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) end(3, "there is no GPU");
  }
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    check(cudaMalloc(&data, bytes));
    return data;
  }
  static void copy(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  }
  static void wait() { check(cudaDeviceSynchronize()); }
  static void multiply_add(const void* const* in, void* const* out, int n) {
    if (workbook_elementwise_cuda(kMultiplyAdd, kFloat32, in, out, 1, n, nullptr) != 0)
      end(1, workbook_error());
  }
};
#endif

/// In a device's memory; never freed, since each size is used again.
struct Arrays {
  const void* in[3];
  void* out[1];
};

/// Whether each element is q * k + v but for two roundings.
bool is_right(const std::vector<float> (&in)[3], const std::vector<float>& result) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double product = static_cast<double>(in[0][i]) * in[1][i], wanted = product + in[2][i];
    if (!(std::fabs(result[i] - wanted) <= 0x1p-23 * (std::fabs(product) + std::fabs(wanted)))) return false;
  }
  return true;
}

/// Arrays of n elements, whose result has been checked.
template <typename Device>
Arrays checked_arrays(int n) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  std::vector<float> in[3], result(static_cast<std::size_t>(n));
  Arrays arrays{.in = {}, .out = {Device::allocate(bytes)}};
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < n; ++j) in[i].push_back(normal(random));
    void* data = Device::allocate(bytes);
    Device::copy(data, in[i].data(), bytes);
    arrays.in[i] = data;
  }
  Device::multiply_add(arrays.in, arrays.out, n);
  Device::copy(result.data(), arrays.out[0], bytes);
  if (!is_right(in, result)) end(1, "a result is wrong, at " + std::to_string(n) + " elements");
  return arrays;
}

template <typename Device>
double time_us(const Arrays& arrays, int n, int calls, bool wait) {
  Device::multiply_add(arrays.in, arrays.out, n);  // gives this process the processor, its caches and the GPU
  Device::wait();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) Device::multiply_add(arrays.in, arrays.out, n);
  if (wait) Device::wait();
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return time.count() / calls;
}

template <typename Device>
void serve() {
  Device::require();
  std::map<int, Arrays> arrays;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream task(line);
    int n = 0, calls = 0;
    std::string what;
    task >> n >> calls >> what;
    if (n < 1 || calls < 1 || (what != "host" && what != "whole"))
      end(2, "a task is ELEMENTS CALLS host|whole, both numbers at least 1, not " + line);
    if (!arrays.contains(n)) arrays[n] = checked_arrays<Device>(n);
    std::cout << time_us<Device>(arrays[n], n, calls, what == "whole") << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string device = argc == 2 ? argv[1] : "";
  if (device != "cpu" && device != "cuda") end(2, "usage: 09_pytorch cpu|cuda, and tasks as input");
  if (device == "cpu") {
    serve<Cpu>();
    return 0;
  }
#ifdef WORKBOOK_OPS_CUDA
  serve<Gpu>();
#else
  end(3, "it was built without nvcc, so it knows only the CPU");
#endif
}

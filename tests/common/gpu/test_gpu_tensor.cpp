// The tensor-core kernels on a GPU: right results, and lanes that hold what they hold on the CPU device.
// Without a GPU every test here is reported as skipped.
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "chapters/tensor_products.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "kernels/tensor.hpp"

namespace gpu::test_kernels {
TensorCases tensor_cases();
void bias_gelu(const void* a, const void* b, const float* bias, float* out);
void pipelined_product(const float* a, const float* b, float* c, int k, PipelineMistake mistake);
void filled_copies(const void* in, void* out, int bytes);
}  // namespace gpu::test_kernels

namespace {

using Bytes = std::vector<unsigned char>;

/// The contents of a kernel's last array, of `out_bytes` bytes, when the others hold `in`.
template <class Kernel>
Bytes output_of(workbook::Backend& backend, const std::vector<Bytes>& in, std::size_t out_bytes,
                Kernel kernel) {
  std::vector<void*> arrays;
  for (const Bytes& bytes : in) {
    arrays.push_back(backend.allocate(bytes.size(), 0, "in", 4));
    backend.upload(arrays.back(), bytes.data(), bytes.size());
  }
  arrays.push_back(backend.allocate(out_bytes, 0, "out", 4));
  backend.fill(arrays.back(), 0, out_bytes);
  backend.run([&] { kernel(arrays); });
  Bytes out(out_bytes);
  backend.download(out.data(), arrays.back(), out_bytes);
  for (void* array : arrays) backend.release(array);
  return out;
}

/// `count` random numbers of a type, packed.
Bytes random_bytes(const std::string& number, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = random_number(number, random).bits;
    for (int b = 0; b < (number == "tf32" ? 4 : 2); ++b)
      bytes.push_back(static_cast<unsigned char>(bits >> 8 * b));
  }
  return bytes;
}

}  // namespace

TEST_CASE("gpu: wmma products of every type, shape and layout") {
  const auto gpu = gpu_or_skip();
  const auto cases = gpu::test_kernels::tensor_cases();
  for (int i = 0; i < cases.count; ++i) check_product(*gpu, cases.first[i]);
}

TEST_CASE("gpu: lanes hold the elements of a fragment that they hold on the CPU device") {
  const auto gpu = gpu_or_skip();
  const auto cpu = workbook::make_cpu_backend();
  const auto on_gpu = gpu::test_kernels::tensor_cases(), on_cpu = cpu::test_kernels::tensor_cases();
  for (int i = 0; i < on_gpu.count; ++i) {
    INFO(text_of(on_gpu.first[i]));
    CHECK(places_a(*gpu, on_gpu.first[i]) == places_a(*cpu, on_cpu.first[i]));
    CHECK(places_b(*gpu, on_gpu.first[i]) == places_b(*cpu, on_cpu.first[i]));
    CHECK(places_out(*gpu, on_gpu.first[i]) == places_out(*cpu, on_cpu.first[i]));
  }
}

TEST_CASE("gpu: an epilogue on fragment.x[i] gives what it gives on the CPU device") {
  const auto gpu = gpu_or_skip();
  const auto cpu = workbook::make_cpu_backend();
  const std::vector<Bytes> in = {random_bytes("bfloat16", 512, 1), random_bytes("bfloat16", 512, 2),
                                 random_bytes("tf32", 16, 3)};
  const auto run = [&](workbook::Backend& backend, auto kernel) {
    const Bytes bytes = output_of(backend, in, 1024, [&](const std::vector<void*>& arrays) {
      kernel(arrays[0], arrays[1], static_cast<const float*>(arrays[2]), static_cast<float*>(arrays[3]));
    });
    std::vector<float> values(256);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  const auto here = run(*cpu, cpu::test_kernels::bias_gelu), there = run(*gpu, gpu::test_kernels::bias_gelu);
  // 33 roundings of sums of at most 32 * 64 + 8 in absolute value, on either side.
  for (std::size_t i = 0; i < here.size(); ++i)
    CHECK(std::fabs(here[i] - there[i]) <= 2 * 33 * 0x1p-23 * 2056);
}

TEST_CASE("gpu: asynchronous copies do what they do on the CPU device") {
  const auto gpu = gpu_or_skip();
  const auto cpu = workbook::make_cpu_backend();
  const std::vector<Bytes> matrices = {random_bytes("tf32", 2048, 4), random_bytes("tf32", 2048, 5)};
  const auto product = [&](workbook::Backend& backend, auto kernel) {
    return output_of(backend, matrices, 4096, [&](const std::vector<void*>& arrays) {
      kernel(static_cast<const float*>(arrays[0]), static_cast<const float*>(arrays[1]),
             static_cast<float*>(arrays[2]), 64, PipelineMistake::kNone);
    });
  };
  const Bytes here = product(*cpu, cpu::test_kernels::pipelined_product);
  const Bytes there = product(*gpu, gpu::test_kernels::pipelined_product);
  // nvcc fuses multiplications and additions: 64 terms of at most 64 each, 64 roundings on either side.
  for (std::size_t i = 0; i < here.size(); i += 4) {
    float one, other;
    std::memcpy(&one, &here[i], 4);
    std::memcpy(&other, &there[i], 4);
    CHECK(std::fabs(one - other) <= 2 * 64 * 0x1p-24 * 4096);
  }
  for (const int bytes : {4, 8, 16}) {
    const auto filled = [&](workbook::Backend& backend, auto kernel) {
      return output_of(backend, {random_bytes("half", 256, 6)}, 512,
                       [&](const std::vector<void*>& arrays) { kernel(arrays[0], arrays[1], bytes); });
    };
    CHECK(filled(*cpu, cpu::test_kernels::filled_copies) == filled(*gpu, gpu::test_kernels::filled_copies));
  }
}

// The kernels of kernels/features.cu give the same bits on the CPU device and on a GPU. Without a GPU the
// test is reported as skipped.
#include <vector>

#include "catch.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "kernels/features.hpp"

namespace gpu::test_kernels {
void run_feature(int feature, void* in, void* out);
}

namespace {

using cpu::test_kernels::kFeatures;
using cpu::test_kernels::kFeatureWords;
using Words = std::vector<unsigned>;

/// The contents of both arrays after the kernel.
Words words_after(workbook::Backend& backend, void (*run)(int, void*, void*), int feature) {
  constexpr std::size_t bytes = kFeatureWords * sizeof(unsigned);
  void* arrays[2];
  for (void*& array : arrays) array = backend.allocate(bytes, 0, "words", sizeof(unsigned));
  Words in(kFeatureWords);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = 0x3c003c00 + 0x10003 * i;  // small positive numbers
  for (unsigned i = 0; i < 10; ++i) in[i] = 100 + i;                          // what atomics_in_turn expects
  backend.upload(arrays[0], in.data(), bytes);
  backend.fill(arrays[1], 0, bytes);
  backend.run([&] { run(feature, arrays[0], arrays[1]); });
  Words out(2 * kFeatureWords);
  backend.download(out.data(), arrays[0], bytes);
  backend.download(out.data() + kFeatureWords, arrays[1], bytes);
  for (void* array : arrays) backend.release(array);
  return out;
}

}  // namespace

TEST_CASE("gpu: 16-bit vectors, atomics, cache hints, tables and lambdas do the same on both devices") {
  const auto gpu = gpu_or_skip();
  const auto cpu = workbook::make_cpu_backend();
  for (int feature = 0; feature < kFeatures; ++feature) {
    INFO("run_feature " << feature);
    CHECK(words_after(*gpu, gpu::test_kernels::run_feature, feature) ==
          words_after(*cpu, cpu::test_kernels::run_feature, feature));
  }
}

// Asynchronous copies and tensor-core fragments on the CPU device: results, counts, and mistakes, each beside
// its correct twin.
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "chapters/tensor_products.hpp"
#include "kernels/counted_tensor.hpp"
#include "kernels/tensor.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_tensor {
namespace {

namespace test_kernels = cpu::test_kernels;

struct Tensor : Findings {
  /// The finding of `kernel(mistake)`; the twin without it must have none.
  template <class Mistake, class Kernel>
  std::string finding(Mistake mistake, Kernel kernel) {
    return Findings::finding([&](bool mended) { kernel(mended ? Mistake::kNone : mistake); });
  }

  /// The finding of the double-buffered product.
  std::string of_pipeline(PipelineMistake mistake) {
    constexpr int k = 64;
    const auto a = counting<float>(32 * k, "a"), b = counting<float>(32 * k, "b"),
               c = counting<float>(1024, "c");
    return finding(mistake, [&](PipelineMistake m) {
      test_kernels::pipelined_product(a->data(), b->data(), c->data(), k, m);
    });
  }
  std::string of_copy(CopyMistake mistake) {
    const auto in = counting<float>(128, "in"), out = counting<float>(128, "out");
    return finding(mistake, [&](CopyMistake m) { test_kernels::copies(in->data(), out->data(), m); });
  }
  std::string of_neighbours(CopyMistake mistake) {
    const auto in = counting<float>(64, "in"), out = counting<float>(64, "out");
    return finding(mistake, [&](CopyMistake m) { test_kernels::neighbours(in->data(), out->data(), m); });
  }
  std::string of_fragment(FragmentMistake mistake) {
    const auto a = counting<unsigned short>(256, "a"), b = counting<unsigned short>(256, "b");
    const auto out = counting<float>(256, "out");
    return finding(mistake, [&](FragmentMistake m) {
      test_kernels::shared_product(a->data(), b->data(), out->data(), m);
    });
  }

  void check_products(const std::string& number, int m) {
    const auto cases = test_kernels::tensor_cases();
    int checked = 0;
    for (int i = 0; i < cases.count; ++i) {
      if (cases.first[i].number != number || cases.first[i].m != m) continue;
      check_product(*backend, cases.first[i]);
      ++checked;
    }
    CHECK(checked >= 2);
  }
};

}  // namespace

// --- Supported ---

TEST_CASE_METHOD(Tensor, "dialect: nvcuda::wmma, __nv_bfloat16 16x16x16, row_major and col_major",
                 "[supported]") {
  check_products("bfloat16", 16);
}
TEST_CASE_METHOD(Tensor, "dialect: nvcuda::wmma, __nv_bfloat16 32x8x16 and 8x32x16", "[supported]") {
  check_products("bfloat16", 32);
  check_products("bfloat16", 8);
}
TEST_CASE_METHOD(Tensor, "dialect: nvcuda::wmma, __half 16x16x16, accumulated in float or __half",
                 "[supported]") {
  check_products("half", 16);
}
TEST_CASE_METHOD(Tensor, "dialect: nvcuda::wmma, __half 32x8x16 and 8x32x16", "[supported]") {
  check_products("half", 32);
  check_products("half", 8);
}
TEST_CASE_METHOD(Tensor, "dialect: nvcuda::wmma, precision::tf32 16x16x8 and __float_to_tf32",
                 "[supported]") {
  check_products("tf32", 16);
}

TEST_CASE_METHOD(Tensor, "dialect: nvcuda::wmma, fragment.x[i] and num_elements in an epilogue",
                 "[supported]") {
  Matrix a = matrix(16, 32, false, 2, 0), b = matrix(32, 16, true, 2, 0), bias = matrix(1, 16, false, 4, 0),
         out = matrix(16, 16, false, 4, 0);
  std::mt19937 random(11);
  double product[16][16] = {}, magnitude[16][16] = {};
  double of_a[16][32], of_b[16][32];
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 32; ++k) {
      const Encoded x = random_number("bfloat16", random), y = random_number("bfloat16", random);
      a.set(row, k, x.bits);
      b.set(k, row, y.bits);
      of_a[row][k] = x.value;
      of_b[row][k] = y.value;
    }
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column)
      for (int k = 0; k < 32; ++k) {
        product[row][column] += of_a[row][k] * of_b[column][k];
        magnitude[row][column] += std::fabs(of_a[row][k] * of_b[column][k]);
      }
  for (int column = 0; column < 16; ++column)
    bias.set(0, column, std::bit_cast<std::uint32_t>(static_cast<float>(column) - 5.25f));
  const DeviceMatrix device_a(*backend, a), device_b(*backend, b), device_bias(*backend, bias),
      device_out(*backend, out);
  backend->run([&] {
    test_kernels::bias_gelu(device_a.data(), device_b.data(), static_cast<const float*>(device_bias.data()),
                            static_cast<float*>(device_out.data()));
  });
  device_out.read(out);
  double worst = 0;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      const double x = product[row][column] + column - 5.25;
      const double expected = 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      const double got = std::bit_cast<float>(out.bits(row, column));
      worst = std::max(worst, std::fabs(got - expected) / (64 * 0x1p-23 * (magnitude[row][column] + 6)));
    }
  CHECK(worst <= 1.0);
}

TEST_CASE_METHOD(Tensor, "dialect: __pipeline_memcpy_async, _commit and _wait_prior in a double buffer",
                 "[supported]") {
  constexpr std::size_t k = 64;
  std::vector<float> a(32 * k), b(32 * k);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 13) - 5;
    b[i] = static_cast<float>(i % 11) - 3;
  }
  const auto device_a = counting<float>(a.size()), device_b = counting<float>(b.size()),
             c = counting<float>(1024);
  backend->upload(device_a->data(), a.data(), a.size() * sizeof(float));
  backend->upload(device_b->data(), b.data(), b.size() * sizeof(float));
  const auto counts = backend->run([&] {
    test_kernels::pipelined_product(device_a->data(), device_b->data(), c->data(), k, PipelineMistake::kNone);
  });
  const auto got = c->values();
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t column = 0; column < 32; ++column) {
      float expected = 0;
      for (std::size_t i = 0; i < k; ++i) expected += a[row * k + i] * b[i * 32 + column];
      REQUIRE(got[row * 32 + column] == expected);
    }
  // Each of 4 blocks reads 16 rows of a and 16 columns of b, 8 floats a sector; a warp copies two rows.
  CHECK(counts.load_sectors == 4 * 2 * 16 * static_cast<long long>(k) / 8);
  CHECK(counts.load_requests == 4 * 2 * 16 * static_cast<long long>(k) / 32);
}

TEST_CASE_METHOD(Tensor, "dialect: __pipeline_memcpy_async of 4, 8 and 16 bytes, with zeros at the end",
                 "[supported]") {
  std::vector<unsigned char> in(512);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i % 255 + 1);
  const auto device_in = counting<unsigned char>(512), out = counting<unsigned char>(512);
  backend->upload(device_in->data(), in.data(), in.size());
  for (const std::size_t bytes : {4, 8, 16}) {
    backend->run(
        [&] { test_kernels::filled_copies(device_in->data(), out->data(), static_cast<int>(bytes)); });
    const auto got = out->values();
    for (std::size_t t = 0; t < 32; ++t)
      for (std::size_t i = 0; i < bytes; ++i) {
        const bool zero = i >= bytes - t % (bytes + 1);
        REQUIRE(got[t * bytes + i] == (zero ? 0 : in[t * bytes + i]));
      }
  }
}

TEST_CASE_METHOD(Tensor, "wmma: lanes hold what mma.sync gives them") {
  const auto cases = test_kernels::tensor_cases();
  // Lane 5 is member 1 of group 1: NVIDIA's PTX manual, "Matrix Fragments for mma.m16n8k16" and "m16n8k8".
  const std::map<std::string, std::vector<std::vector<int>>> of_lane_5 = {
      {"bfloat16",
       {{1, 2, 1, 3, 9, 2, 9, 3, 1, 10, 1, 11, 9, 10, 9, 11},
        {2, 1, 3, 1, 10, 1, 11, 1, 2, 9, 3, 9, 10, 9, 11, 9},
        {1, 2, 1, 3, 9, 2, 9, 3, 1, 10, 1, 11, 9, 10, 9, 11}}},
      {"tf32",
       {{1, 1, 9, 1, 1, 5, 9, 5},
        {1, 1, 5, 1, 1, 9, 5, 9},
        {1, 2, 1, 3, 9, 2, 9, 3, 1, 10, 1, 11, 9, 10, 9, 11}}}};
  int checked = 0;
  for (int i = 0; i < cases.count; ++i) {
    const TensorCase& c = cases.first[i];
    INFO(text_of(c));
    const Places found[] = {places_a(*backend, c), places_b(*backend, c), places_out(*backend, c)};
    // Every element of the matrix is somewhere, and as often as every other.
    for (const Places& matrix : found) {
      std::map<float, int> times;
      for (const float place : matrix)
        if (place >= 0) ++times[place];
      for (const auto& [place, count] : times) CHECK(count == times.begin()->second);
    }
    if (c.m != 16 || !of_lane_5.count(c.number)) continue;
    for (std::size_t m = 0; m < 3; ++m) {
      const auto& expected = of_lane_5.at(c.number)[m];
      for (std::size_t e = 0; e < expected.size() / 2; ++e)
        CHECK(found[m][5 * kMostElements + e] ==
              static_cast<float>(64 * expected[2 * e] + expected[2 * e + 1]));
    }
    ++checked;
  }
  CHECK(checked >= 8);
}

// --- Counts ---

TEST_CASE_METHOD(Tensor, "copies and fragments count what the hardware counts") {
  // Requests and sectors of device memory, and wavefronts of shared memory, of each of the 1024 warps. Loads
  // of fragments: 4 requests of 8 lines x 16 bytes for each 16 x 16 of 16-bit elements.
  struct Expected {
    long long load_requests, load_sectors, shared_loads, shared_stores;
  };
  const std::map<std::string, Expected> expected = {
      {"async copy, 4 bytes, stride 1", {1, 4, 1, 1}},
      {"async copy, 4 bytes, stride 2", {1, 4, 2, 2}},
      {"async copy, 4 bytes, stride 32", {1, 4, 32, 32}},
      {"async copy, 4 bytes, stride 33", {1, 4, 1, 1}},
      {"async copy, 8 bytes, stride 1", {1, 8, 2, 2}},
      {"async copy, 8 bytes, stride 2", {1, 8, 4, 4}},
      {"async copy, 16 bytes, stride 1", {1, 16, 4, 4}},
      {"async copy, 16 bytes, stride 2", {1, 32, 8, 32}},
      {"async copy, 16 bytes, stride 3", {1, 32, 4, 24}},
      {"wmma, bfloat16, rows times columns", {8, 64, 0, 0}},
      {"wmma, bfloat16, columns times rows", {8, 64, 0, 0}},
      {"wmma, bfloat16, 32x8x16", {10, 80, 0, 0}},
      {"wmma, bfloat16, 8x32x16", {10, 80, 0, 0}},
      {"wmma, half, rows times columns", {8, 64, 0, 0}},
      {"wmma, half, columns times rows", {8, 64, 0, 0}},
      {"wmma, tf32, rows times columns", {8, 64, 0, 0}},
      {"wmma, tf32, columns times rows", {8, 32, 0, 0}},
      // A fragment's 8 lines are in banks of their own when they are 24 elements apart; at 16, two share.
      {"wmma, shared, bfloat16, stride 16", {8, 16, 16, 16}},
      {"wmma, shared, bfloat16, stride 24", {8, 16, 8, 16}},
  };
  const auto kernels = test_kernels::counted_tensor_kernels();
  const std::size_t n = test_kernels::kCountedSize;
  const auto a = counting<float>(n), b = counting<float>(n), c = counting<float>(n), out = counting<float>(n);
  std::size_t found = 0;
  for (int i = 0; i < kernels.count; ++i) {
    const auto& kernel = kernels.first[i];
    INFO(kernel.name);
    const auto counts = backend->run([&] { kernel.run(a->data(), b->data(), c->data(), out->data()); });
    CHECK_FALSE(counts.approximate);
    if (expected.count(kernel.name)) {
      const Expected& warp = expected.at(kernel.name);
      CHECK(counts.load_requests == 1024 * warp.load_requests);
      CHECK(counts.load_sectors == 1024 * warp.load_sectors);
      CHECK(counts.shared_load_wavefronts == 1024 * warp.shared_loads);
      CHECK(counts.shared_store_wavefronts == 1024 * warp.shared_stores);
      ++found;
    }
  }
  CHECK(found == expected.size());
}

// --- Mistakes ---

TEST_CASE_METHOD(Tensor, "finding: a copy that its thread does not wait for") {
  const std::string message = of_pipeline(PipelineMistake::kNoWait);
  CHECK_THAT(message, ContainsSubstring("asynchronous copy not waited for: kernel pipelined"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) reads tile_a[0] at line "));
  CHECK_THAT(message, ContainsSubstring("the same thread copies to it at line "));
  CHECK_THAT(message, ContainsSubstring("__pipeline_wait_prior"));
}

TEST_CASE_METHOD(Tensor, "finding: a copy that is not committed is not waited for") {
  CHECK_THAT(of_pipeline(PipelineMistake::kNoCommit),
             ContainsSubstring("asynchronous copy not waited for: kernel pipelined"));
}

TEST_CASE_METHOD(Tensor, "finding: a wait for the wrong stage") {
  CHECK_THAT(of_pipeline(PipelineMistake::kWaitForOlderStage),
             ContainsSubstring("asynchronous copy not waited for: kernel pipelined"));
}

TEST_CASE_METHOD(Tensor, "finding: no barrier after the wait, so that others' copies may be under way") {
  const std::string message = of_pipeline(PipelineMistake::kBarrierBeforeWait);
  CHECK_THAT(message, ContainsSubstring("asynchronous copy not waited for: kernel pipelined"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) reads tile_a[1] at line "));
  CHECK_THAT(message, ContainsSubstring("thread (1,0,0) of block (0,0,0) copies to it at line "));
  // Without any barrier the first thread comes before the others have begun their copies.
  CHECK_THAT(of_pipeline(PipelineMistake::kNoBarrierBehindWait),
             ContainsSubstring("reads tile_a[1], which nothing in this block has written yet, at "));
}

TEST_CASE_METHOD(Tensor, "finding: what a copy has brought is read before a barrier") {
  const std::string message = of_neighbours(CopyMistake::kNoBarrierBehind);
  CHECK_THAT(message, ContainsSubstring("race in shared memory: kernel sum_of_neighbours"));
  CHECK_THAT(message, ContainsSubstring("thread (1,0,0) of block (0,0,0) reads s[0] at line "));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) writes s[0] at line "));
}

TEST_CASE_METHOD(Tensor, "finding: a copy to what others still read") {
  // One after another, the threads read before the next one copies ...
  const std::string message = of_neighbours(CopyMistake::kNoBarrierBefore);
  CHECK_THAT(message, ContainsSubstring("race in shared memory: kernel sum_of_neighbours"));
  CHECK_THAT(message, ContainsSubstring("thread (1,0,0) of block (0,0,0) writes s[1] at line "));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) reads s[1] at line "));
  // ... and here the first has begun the next tile's copy when the second reads.
  const std::string in_buffer = of_pipeline(PipelineMistake::kNoBarrierBeforeReuse);
  CHECK_THAT(in_buffer, ContainsSubstring("asynchronous copy not waited for: kernel pipelined"));
  CHECK_THAT(in_buffer, ContainsSubstring("thread (1,0,0) of block (0,0,0) reads tile_a[0] at line "));
  CHECK_THAT(in_buffer,
             ContainsSubstring("a __syncthreads() between the last use of what was there and the copy?"));
}

TEST_CASE_METHOD(Tensor, "finding: asynchronous copies that a GPU does not make") {
  CHECK_THAT(of_copy(CopyMistake::kMisalignedSource), ContainsSubstring("misaligned access: kernel copy"));
  CHECK_THAT(of_copy(CopyMistake::kMisalignedTarget), ContainsSubstring("misaligned access: kernel copy"));
  CHECK_THAT(of_copy(CopyMistake::kTwelveBytes),
             ContainsSubstring("copies 12 bytes, 0 of them zeros at line "));
  CHECK_THAT(of_copy(CopyMistake::kFromShared), ContainsSubstring("copies from s[32] to s[0] at line "));
  CHECK_THAT(of_copy(CopyMistake::kPastTheEnd), ContainsSubstring("reads in[128..131] at line "));
}

TEST_CASE_METHOD(Tensor, "finding: fragments in a branch that not the whole warp takes") {
  const std::string message = of_fragment(FragmentMistake::kHalfOfTheWarp);
  CHECK_THAT(message, ContainsSubstring("warp operation that a lane does not reach: kernel through_shared"));
  CHECK_THAT(message,
             ContainsSubstring("thread (0,0,0) of block (0,0,0) needs all lanes of its warp at line "));
  CHECK_THAT(message, ContainsSubstring("waits for thread (16,0,0) of block (0,0,0), which has ended"));
  CHECK_THAT(of_fragment(FragmentMistake::kTwoBranches),
             ContainsSubstring("which waits in another operation"));
}

TEST_CASE_METHOD(Tensor, "finding: fragments at addresses that a GPU does not load them from") {
  CHECK_THAT(of_fragment(FragmentMistake::kOddStride),
             ContainsSubstring("with a leading dimension of 20 elements: not a multiple of 16 bytes"));
  CHECK_THAT(of_fragment(FragmentMistake::kMisaligned),
             ContainsSubstring("loads a fragment from tile_a[8] at line "));
  CHECK_THAT(of_fragment(FragmentMistake::kAddressOfLane),
             ContainsSubstring("with an address or leading dimension that differs from lane 0's"));
}

TEST_CASE_METHOD(Tensor, "finding: a fragment of what other lanes may not have written") {
  CHECK_THAT(of_fragment(FragmentMistake::kNoBarrier),
             ContainsSubstring("race in shared memory: kernel through_shared"));
}

}  // namespace test_tensor

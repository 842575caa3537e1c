// The language of the dialect around its arithmetic, on the CPU device.
#include <algorithm>
#include <fstream>

#include "catch.hpp"
#include "kernels/features.hpp"
#include "paths.hpp"
#include "printed.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_features {
namespace {

namespace test_kernels = cpu::test_kernels;

struct Features : Findings {
  template <class T>
  std::unique_ptr<DeviceArray<T>> empty(std::size_t count) {
    return std::make_unique<DeviceArray<T>>(*backend, count);
  }

  /// What copy_below says where thread 20 has a value that is too large; it must say nothing where none has.
  std::string finding_of_copy_below(test_kernels::CheckedBy by) {
    const auto in = counting<int>(32), out = empty<int>(32);
    CHECK_NOTHROW(backend->run([&] { test_kernels::copy_below(in->data(), out->data(), 32, by); }));
    CHECK(out->values() == in->values());
    return finding_of(*backend, [&] { test_kernels::copy_below(in->data(), out->data(), 20, by); });
  }
};

/// The numbers of the lines of the kernels' file that are `code`, in order.
std::vector<int> lines_of(const std::string& code) {
  std::ifstream file(source_dir() + "/tests/kernels/features.cu");
  std::vector<int> found;
  int number = 1;
  for (std::string line; std::getline(file, line); ++number)
    if (line == code) found.push_back(number);
  return found;
}

}  // namespace

TEST_CASE_METHOD(Features, "dialect: 8 halfs in one 16-byte access: uint4 or float4, seen as __half2") {
  constexpr int n = 1024;
  const auto in = counting<unsigned short>(n), out = empty<unsigned short>(n);
  std::vector<unsigned short> values(n, 0x3c00);  // 1
  values[1] = 0xbc00;                             // -1
  values[1023] = 0x4200;                          // 3
  backend->upload(in->data(), values.data(), n * sizeof(unsigned short));
  const auto counts = backend->run([&] { test_kernels::half_vectors(in->data(), out->data(), n); });
  const auto results = out->values();
  CHECK(results[0] == 0x4200);
  CHECK(results[1] == 0xbc00);
  CHECK(results[1023] == 0x4700);
  CHECK(counts.load_requests == n / 256);
  CHECK(counts.load_sectors == n / 16);
  CHECK(counts.store_requests == n / 256);
}

TEST_CASE_METHOD(Features,
                 "dialect: __half and __nv_bfloat16 move as 2 bytes, __half2 and __nv_bfloat162 as 4") {
  constexpr int n = 4096;
  const auto in = counting<unsigned short>(n);
  for (int kind = 0; kind < 4; ++kind) {
    const auto out = empty<unsigned short>(n);
    const auto counts = backend->run([&] { test_kernels::copy_halfs(in->data(), out->data(), n, kind); });
    INFO("kind " << kind);
    CHECK(out->values() == in->values());
    CHECK(counts.load_requests == (kind % 2 == 0 ? n / 32 : n / 64));
    CHECK(counts.store_requests == counts.load_requests);
    CHECK(counts.load_sectors == n / 16);
  }
}

TEST_CASE_METHOD(Features, "dialect: shared memory of __half") {
  const auto in = counting<unsigned short>(1024), out = empty<unsigned short>(1024);
  backend->run([&] { test_kernels::transpose_halfs(in->data(), out->data()); });
  const auto results = out->values();
  for (std::size_t i = 0; i < results.size(); ++i) REQUIRE(results[i] == i % 32 * 32 + i / 32);
}

TEST_CASE_METHOD(Features, "dialect: shuffles of __half and __half2") {
  const auto out = empty<unsigned>(5 * 32);
  backend->run([&] { test_kernels::half_shuffles(out->data()); });
  const auto values = out->values();
  const std::vector<unsigned> of_lane_1(values.begin() + 5, values.begin() + 10);
  CHECK(of_lane_1 == std::vector<unsigned>{0, 0, 0xc0004000, 0xc5004500, 0x4500});
  const std::vector<unsigned> of_lane_31(values.end() - 5, values.end());  // 30, 30, itself
  CHECK(of_lane_31 == std::vector<unsigned>{0xcf804f80, 0xcf804f80, 0xcfc04fc0, 0xc5004500, 0x4500});
}

TEST_CASE_METHOD(
    Features,
    "dialect: atomicExch, atomicCAS, atomicInc, atomicDec, atomicSub, atomicAnd, atomicOr, atomicXor") {
  const auto values = empty<unsigned>(10), old = empty<unsigned>(10);
  std::vector<unsigned> before;
  for (unsigned i = 0; i < 10; ++i) before.push_back(100 + i);
  backend->upload(values->data(), before.data(), 10 * sizeof(unsigned));
  backend->run([&] { test_kernels::atomics_in_turn(values->data(), old->data()); });
  CHECK(old->values() == before);
  CHECK(values->values() ==
        std::vector<unsigned>{7, 7, 102, 0xfffffff9, 0, 50, 0xffffffff, 107 & 0xf, 108 | 0xf00, 109 ^ 1});
}

TEST_CASE_METHOD(Features, "dialect: atomicExch of float; atomicCAS of unsigned long long") {
  const auto value = counting<float>(1), exch = empty<float>(64);
  backend->run([&] { test_kernels::float_exchange(value->data(), exch->data()); });
  float sum = value->values()[0];  // every number is somewhere, once
  for (const float x : exch->values()) sum += x;
  CHECK(sum == 2016.0f);
  const auto total = counting<unsigned long long>(1);
  backend->run([&] { test_kernels::cas_sum(total->data()); });
  CHECK(total->values()[0] == 256 * 257 / 2);
}

TEST_CASE_METHOD(Features, "dialect: __ldg, __ldcg, __ldca, __ldcs, __stcg, __stcs, __stwt") {
  const auto in = counting<float>(224), out = empty<float>(224);
  const auto counts = backend->run([&] { test_kernels::cache_hints(in->data(), out->data()); });
  CHECK(out->values() == in->values());
  CHECK(counts.load_requests == 7);
  CHECK(counts.store_requests == 7);
}

TEST_CASE_METHOD(Features, "dialect: constexpr __device__ and __constant__ tables, __noinline__ functions") {
  const auto out = empty<float>(64);
  backend->run([&] { test_kernels::tables(out->data()); });
  const float powers[] = {1, 2, 4, 8};
  for (int t = 0; t < 64; ++t)
    REQUIRE(out->values()[static_cast<std::size_t>(t)] ==
            powers[t % 4] + static_cast<float>(100 * (t % 4 + 1) + 2 * t));
}

TEST_CASE_METHOD(Features, "dialect: kernel templates; lambdas passed to kernels") {
  const auto in = counting<float>(64), out = empty<float>(64);
  backend->run([&] { test_kernels::with_lambda(in->data(), out->data(), 3.0f); });
  CHECK(out->values()[63] == 190.0f);
}

TEST_CASE_METHOD(Features,
                 "dialect: __shared__ arrays with a size from a template parameter; dynamic_shared<T>() with "
                 "launch_shared") {
  const auto in = counting<int>(64), out = empty<int>(64);
  for (const bool dynamic : {false, true}) {
    const auto counts = backend->run([&] { test_kernels::reversed(in->data(), out->data(), dynamic); });
    CHECK(out->values()[0] == 63);
    CHECK(out->values()[63] == 0);
    CHECK(counts.shared_requests == 4);
  }
}

TEST_CASE_METHOD(Features, "dialect: #pragma unroll, __launch_bounds__, __threadfence_block, warpSize") {
  const auto in = counting<float>(256), out = empty<float>(64);
  backend->run([&] { test_kernels::unrolled_sums(in->data(), out->data()); });
  CHECK(out->values()[1] == 22.0f);
  CHECK(out->values()[33] == -534.0f);
}

TEST_CASE_METHOD(Features, "dialect: printf, thread by thread as the device runs them") {
  const auto in = empty<float>(32);
  const std::vector<float> values(32, 1.5f);
  backend->upload(in->data(), values.data(), 32 * sizeof(float));
  CHECK(printed([&] { backend->run([&] { test_kernels::prints(in->data()); }); }) == "thread 3 has 1.50\n");
}

TEST_CASE_METHOD(Features, "note: output of many threads is cut off") {
  const std::string first = printed([&] { backend->run([&] { test_kernels::all_print(1024); }); });
  CHECK(backend->take_notes().empty());
  const std::string second = printed([&] { backend->run([&] { test_kernels::all_print(1 << 17); }); });
  CHECK(first.size() + second.size() > 200 << 10);
  CHECK(first.size() + second.size() < 300 << 10);
  const auto notes = backend->take_notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: output cut off: kernel all_print"));
  // Those of the first launch are not counted.
  const auto lines = std::count(second.begin(), second.end(), '\n');
  CHECK_THAT(notes[0], ContainsSubstring(", after " + std::to_string(lines) +
                                         " calls of printf in this launch of 131072 threads"));
  CHECK_THAT(notes[0], ContainsSubstring("kernels have printed 256 KiB, and no more is shown"));
  CHECK_THAT(notes[0], ContainsSubstring("does every thread print, or one of them in a long loop?"));
}

TEST_CASE_METHOD(Features,
                 "dialect: assert, with <cassert>, <assert.h> or no #include: a finding where it fails") {
  using test_kernels::CheckedBy;
  const std::vector<int> lines = lines_of("  assert(value < limit);");
  REQUIRE(lines.size() == 3);
  const std::pair<CheckedBy, std::string> kernels[] = {{CheckedBy::kAssert, "copy_below_by_assert"},
                                                       {CheckedBy::kCassert, "copy_below_by_cassert"},
                                                       {CheckedBy::kAssertH, "copy_below_by_assert_h"}};
  for (int i = 0; i < 3; ++i) {
    const std::string message = finding_of_copy_below(kernels[i].first);
    CHECK_THAT(message, ContainsSubstring("assertion failed: kernel " + kernels[i].second +
                                          " (tests/kernels/features.cu:"));
    CHECK_THAT(message,
               ContainsSubstring("in thread (20,0,0) of block (0,0,0), assert(value < limit) is false "
                                 "at line " +
                                 std::to_string(lines[i]) + "\n"));
  }
  CHECK_THAT(finding_of_copy_below(CheckedBy::kElsewhere),
             ContainsSubstring("assert(value < limit && \"elsewhere\") is false at line "));
}

TEST_CASE_METHOD(Features, "dialect: __trap(): a finding where it is reached") {
  const std::string message = finding_of_copy_below(test_kernels::CheckedBy::kTrap);
  const std::vector<int> lines = lines_of("  if (value >= limit) __trap();");
  REQUIRE(lines.size() == 1);
  CHECK_THAT(message, ContainsSubstring("trap: kernel copy_below_by_trap (tests/kernels/features.cu:"));
  CHECK_THAT(message, ContainsSubstring("thread (20,0,0) of block (0,0,0) executes __trap() at line " +
                                        std::to_string(lines[0]) + "\n"));
}

}  // namespace test_features

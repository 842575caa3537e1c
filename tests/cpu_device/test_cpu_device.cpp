// The CPU device: does it run kernels rightly, count what the hardware counts, and stop at the first mistake?
#include <algorithm>
#include <numeric>

#include "catch.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running/device.hpp"
#include "kernels/kernels.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_cpu_device {
namespace {

namespace test_kernels = cpu::test_kernels;
using workbook::Counts;
constexpr int kN = 1 << 20;

struct CpuDevice : Findings {
  std::unique_ptr<DeviceArray<float>> floats(std::size_t count, const std::string& name = "array") {
    return counting<float>(count, name);
  }
};

}  // namespace

TEST_CASE_METHOD(CpuDevice, "a tree reduction: the exact wavefronts, and the sums") {
  const auto in = floats(kN), out = floats(kN / 256);
  const Counts counts = backend->run([&] { test_kernels::red(in->data(), out->data(), kN); });
  CHECK(counts.shared_load_wavefronts == 102'400);
  CHECK(counts.shared_store_wavefronts == 81'920);
  CHECK(counts.compulsory_read_bytes == 4LL * kN);
  CHECK(counts.compulsory_write_bytes == 32LL * kN / 256 / 8);
  CHECK(out->values()[0] == 255.0f * 128.0f);
}

TEST_CASE_METHOD(CpuDevice, "strides cost sectors, and pairs of sectors in DRAM") {
  constexpr int n = 1 << 16;
  const auto in = floats(std::size_t{n} * 32), out = floats(n);
  const auto sectors_of = [&](int stride) {
    return backend->run([&] { test_kernels::strided(in->data(), out->data(), n, stride); });
  };
  CHECK(sectors_of(1).load_sectors == n / 8);
  CHECK(sectors_of(2).load_sectors == n / 4);
  CHECK(sectors_of(4).load_sectors == n / 2);
  CHECK(sectors_of(8).load_sectors == n);
  CHECK(sectors_of(32).load_sectors == n);
  CHECK(sectors_of(32).load_requests == n / 32);
  // 64 bytes apart, each element costs a pair of sectors of its own, though it needs one alone.
  CHECK(sectors_of(16).compulsory_read_bytes == 64LL * n);
  CHECK(sectors_of(8).compulsory_read_bytes == 32LL * n);
}

TEST_CASE_METHOD(CpuDevice, "a broadcast is one sector a request") {
  const auto in = floats(8), out = floats(1024);
  const Counts counts = backend->run([&] { test_kernels::broadcast(in->data(), out->data(), 1024); });
  CHECK(counts.load_requests == 32);
  CHECK(counts.load_sectors == 32);
  CHECK(counts.compulsory_read_bytes == 64);
}

TEST_CASE_METHOD(CpuDevice, "the order of the lanes does not matter") {
  const auto in = floats(1024), out = floats(1024);
  const Counts counts = backend->run([&] { test_kernels::reversed(in->data(), out->data(), 1024); });
  CHECK(counts.load_sectors == 128);
  CHECK(out->values()[0] == 31.0f);
}

TEST_CASE_METHOD(CpuDevice, "partial warps and ragged sizes") {
  for (const int n : {1, 2, 3, 31, 32, 33, 255, 256, 257, 1023}) {
    const auto q = floats(static_cast<std::size_t>(n)), k = floats(static_cast<std::size_t>(n)),
               out = floats(static_cast<std::size_t>(n));
    const Counts counts = backend->run([&] { test_kernels::mul(q->data(), k->data(), out->data(), n); });
    CHECK(counts.load_sectors == 2 * ((n + 7) / 8));
    CHECK(counts.store_sectors == (n + 7) / 8);
    CHECK(counts.load_requests == 2 * ((n + 31) / 32));
  }
}

TEST_CASE_METHOD(CpuDevice, "a long loop is grouped by iteration, in bounded memory") {
  constexpr int count = 64, length = 5000;
  const auto in = floats(std::size_t{count} * length), out = floats(count);
  const Counts counts = backend->run([&] { test_kernels::rows(in->data(), out->data(), count, length); });
  CHECK(counts.load_requests == count / 32 * length);
  CHECK(counts.load_sectors ==
        static_cast<long long>(count) * length);  // rows are far apart: one sector per lane
  CHECK_FALSE(counts.approximate);
  float sum = 0;
  for (int i = 0; i < length; ++i) sum += static_cast<float>(i);
  CHECK(out->values()[0] == sum);
}

TEST_CASE_METHOD(CpuDevice, "bank conflicts are passes") {
  const auto out = floats(32);
  for (const auto& [stride, passes] :
       {std::pair(1, 1), {2, 2}, {3, 1}, {4, 4}, {16, 16}, {32, 32}, {33, 1}}) {
    const Counts counts =
        backend->run([&, stride = stride] { test_kernels::shared_stride(out->data(), 32, stride); });
    CHECK(counts.shared_store_wavefronts == passes);
    CHECK(counts.shared_load_wavefronts == passes);
    CHECK(counts.shared_requests == 2);
  }
}

TEST_CASE_METHOD(CpuDevice, "dialect: grids and blocks in three dimensions") {
  DeviceArray<int> out(*backend, 24 * 24);
  backend->run([&] { test_kernels::three_dimensions(out.data()); });
  const auto values = out.values();
  for (int block = 0; block < 24; ++block)
    for (int thread = 0; thread < 24; ++thread)
      REQUIRE(values[static_cast<std::size_t>(block * 24 + thread)] == block * 1000 + thread);
}

TEST_CASE_METHOD(CpuDevice, "threads that return before a barrier are not run again") {
  const auto in = floats(256), out = floats(256);
  backend->fill(out->data(), 0, 256 * sizeof(float));
  backend->run([&] { test_kernels::early_return(in->data(), out->data(), 256, 100); });
  const auto values = out->values();
  CHECK(values[99] == 4950.0f);
  CHECK(values[100] == 0.0f);
}

TEST_CASE_METHOD(CpuDevice, "constants and local arrays are not memory traffic") {
  const auto in = DeviceArray<int>::counting(*backend, 64);
  const auto out = floats(64);
  const Counts counts = backend->run([&] { test_kernels::table_and_locals(in->data(), out->data(), 64); });
  CHECK(counts.load_requests == 2);
  CHECK(counts.store_requests == 2);
  CHECK(counts.shared_requests == 0);
  CHECK(out->values()[3] == 3000.0f);
}

TEST_CASE_METHOD(CpuDevice, "an access past the end is found and named") {
  const auto in = floats(1000, "in"), out = floats(1000, "out");
  const std::string message =
      finding_of(*backend, [&] { test_kernels::past_the_end(in->data(), out->data(), 1000); });
  CHECK_THAT(message, ContainsSubstring("out of bounds: kernel past_the_end (tests/kernels/kernels.cu:"));
  CHECK_THAT(message, ContainsSubstring("thread (232,0,0) of block (3,0,0) reads in[1000] at line "));
  CHECK_THAT(message, ContainsSubstring("in has 1000 elements of 4 bytes: in[0] to in[999]"));
  CHECK_THAT(message, ContainsSubstring("look at: "));
}

TEST_CASE_METHOD(CpuDevice, "an access before the start is found and named") {
  const auto in = floats(64, "in"), out = floats(64, "out");
  const std::string message =
      finding_of(*backend, [&] { test_kernels::before_the_start(in->data(), out->data(), 64); });
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) reads in[-1] at line "));
}

TEST_CASE_METHOD(CpuDevice, "a misaligned vector is found") {
  const auto in = floats(64, "in"), out = floats(64, "out");
  const std::string message =
      finding_of(*backend, [&] { test_kernels::misaligned(in->data(), out->data()); });
  CHECK_THAT(message, ContainsSubstring("misaligned access: kernel misaligned"));
  CHECK_THAT(message, ContainsSubstring("16 bytes at address"));
}

TEST_CASE_METHOD(CpuDevice, "shared memory does not survive from block to block") {
  const auto in = floats(32), out = floats(64);
  const std::string message =
      finding_of(*backend, [&] { test_kernels::shared_from_last_block(in->data(), out->data()); });
  CHECK_THAT(message, ContainsSubstring("uninitialised shared memory: kernel shared_from_last_block"));
  CHECK_THAT(message, ContainsSubstring("of block (1,0,0)"));
}

TEST_CASE_METHOD(CpuDevice, "pointers that are no device array's are found") {
  const auto out = floats(32);
  CHECK_THAT(finding_of(*backend, [&] { test_kernels::null_pointer(out->data()); }),
             ContainsSubstring("a null pointer"));
  std::vector<float> host(1024);
  CHECK_THAT(finding_of(*backend, [&] { test_kernels::broadcast(host.data(), out->data(), 32); }),
             ContainsSubstring("the host's memory"));
}

TEST_CASE_METHOD(CpuDevice, "an array that was released can no longer be used") {
  const auto out = floats(32);
  const float* released = floats(32)->data();
  const auto found = [&] {
    return finding_of(*backend, [&] { test_kernels::broadcast(released, out->data(), 32); });
  };
  CHECK_THAT(found(), ContainsSubstring("out of bounds"));
  CHECK_THAT(found(), ContainsSubstring(", where array array was, at line "));
  CHECK_THAT(found(), ContainsSubstring("the array was released before this launch"));
  // Other arrays of its size do not get its address.
  const auto one = floats(32), other = floats(32);
  for (int i = 0; i < 200; ++i) CHECK(floats(32)->data() != released);
  CHECK_THAT(found(), ContainsSubstring(", where array array was, at line "));
  // After a great many they may.
  for (int i = 0; i < 100; ++i) floats(32);
  CHECK(found().find("where array array was") == std::string::npos);
}

TEST_CASE_METHOD(CpuDevice, "launches that a GPU refuses are refused") {
  const auto out = floats(32);
  CHECK_THAT(finding_of(*backend, [&] { test_kernels::too_many_threads(out->data()); }),
             ContainsSubstring("a block of 1025 x 1 x 1 threads"));
  CHECK_THAT(finding_of(*backend, [&] { test_kernels::too_much_shared(out->data()); }),
             ContainsSubstring("307200 bytes of dynamic and 0 of static shared memory"));
  CHECK_THAT(finding_of(*backend, [&] { test_kernels::empty_grid(out->data()); }),
             ContainsSubstring("a grid of 0 x 1 x 1 blocks is empty"));
}

TEST_CASE_METHOD(CpuDevice, "the device works on after a finding") {
  const auto in = floats(kN), out = floats(kN);
  CHECK(finding_of(*backend, [&] { test_kernels::past_the_end(in->data(), out->data(), kN + 1); }) != "");
  const Counts counts = backend->run([&] { test_kernels::red(in->data(), out->data(), kN); });
  CHECK(counts.load_sectors == kN / 8);
  CHECK(counts.shared_load_wavefronts == 102'400);
}

TEST_CASE("memory is reused some time after release, with room between arrays") {
  cpu::Memory memory;
  void* a = memory.allocate(100, 0, "a", 4);
  void* b = memory.allocate(5000, 4, "b", 4);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 256 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(b) % 256 == 4);
  CHECK(reinterpret_cast<std::uintptr_t>(b) - reinterpret_cast<std::uintptr_t>(a) >= 2 * 4096);
  CHECK(memory.owner(reinterpret_cast<std::uintptr_t>(b))->name == "b");
  memory.release(a);
  CHECK(memory.owner(reinterpret_cast<std::uintptr_t>(a)) == nullptr);
  const auto place_of_another = [&] {
    void* c = memory.allocate(50, 0, "c", 4);
    memory.release(c);
    return c;
  };
  for (int releases = 1; releases <= 256; ++releases) CHECK(place_of_another() != a);
  CHECK(place_of_another() == a);
  CHECK_THROWS_AS(memory.allocate(std::size_t{1} << 60, 0, "huge", 4), std::bad_alloc);
  void* empty = memory.allocate(0, 0, "empty", 4);  // such as a matrix of scores that is too large
  CHECK_NOTHROW(memory.set_initialised(empty, 0, false));
  CHECK_THROWS_AS(memory.release(nullptr), std::logic_error);
}

}  // namespace test_cpu_device

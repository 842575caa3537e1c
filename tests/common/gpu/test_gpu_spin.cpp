// The kernels of kernels/spin.cu that are no mistakes end on a GPU as well, with the same results.
#include <algorithm>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "tests/cpu_device/device_arrays.hpp"

#define DEVICE gpu
#include "kernels/spin.hpp"

namespace {

namespace test_kernels = gpu::test_kernels;
using test_kernels::Lock;

struct Zeros : DeviceArray<int> {
  Zeros(workbook::Backend& backend, std::size_t count) : DeviceArray<int>(backend, count) {
    backend.fill(data(), 0, count * sizeof(int));
  }
};

}  // namespace

TEST_CASE("gpu: threads wait for flags that other warps set") {
  const auto gpu = gpu_or_skip();
  const auto run = [&](auto kernel) {
    Zeros flag(*gpu, 1), value(*gpu, 1), out(*gpu, 32);
    gpu->run([&] { kernel(flag.data(), value.data(), out.data()); });
    CHECK(out.values() == std::vector<int>(32, 42));
  };
  run(test_kernels::flag_between_warps);
  run(test_kernels::flag_out_of_line);
  run(test_kernels::volatile_flag_between_warps);
  run([](int*, int*, int* out) { test_kernels::shared_flag_between_warps(out); });
  run([](int*, int*, int* out) { test_kernels::shared_volatile_flag(out); });
}

TEST_CASE("gpu: two warps take turns") {
  const auto gpu = gpu_or_skip();
  Zeros turn(*gpu, 1);
  gpu->run([&] { test_kernels::ping_pong(turn.data(), 1000); });
  CHECK(turn.values()[0] == 2000);
}

TEST_CASE("gpu: every thread of a block takes a lock once") {
  const auto gpu = gpu_or_skip();
  for (const Lock kind : {Lock::kCompareAndSwap, Lock::kExchange, Lock::kTicket, Lock::kOutOfLine}) {
    Zeros lock(*gpu, 2), count(*gpu, 1), work(*gpu, 1), order(*gpu, 256);
    gpu->run([&] { test_kernels::locked_count(kind, lock.data(), count.data(), work.data(), order.data()); });
    CHECK(count.values()[0] == 256);
    std::vector<int> threads = order.values(), expected(256);
    std::sort(threads.begin(), threads.end());
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(threads == expected);
  }
}

TEST_CASE("gpu: blocks that are resident together may wait for each other") {
  const auto gpu = gpu_or_skip();
  Zeros flag(*gpu, 8), count(*gpu, 1);
  gpu->run([&] { test_kernels::chain_of_blocks(flag.data(), 8, true); });
  CHECK(flag.values() == std::vector<int>(8, 1));
  gpu->fill(flag.data(), 0, 8 * sizeof(int));
  gpu->run([&] { test_kernels::chain_of_blocks(flag.data(), 8, false); });
  CHECK(flag.values() == std::vector<int>(8, 1));
  gpu->run([&] { test_kernels::grid_barrier(count.data(), 8); });
  CHECK(count.values()[0] == 8);
}

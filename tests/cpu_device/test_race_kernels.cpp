// Races as people write them, each with a twin that has none; and correct kernels that look like a race.
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "kernels/races.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_race_kernels {
namespace {

namespace test_kernels = cpu::test_kernels;

struct RaceKernels : Findings {
  /// The kernel's finding is a race in that memory; its correct twin has none.
  template <class Kernel>
  void check_race(const std::string& memory, Kernel kernel) {
    const std::string message = finding(kernel);
    INFO(message);
    CHECK(message.rfind("race in " + memory + " memory", 0) == 0);
  }
};

}  // namespace

TEST_CASE_METHOD(RaceKernels, "no race: threads that store the same value") {
  const auto found = zeros<int>(1), out = zeros<int>(64);
  check_race("device", [&](bool mended) { test_kernels::found_in_device_memory(found->data(), mended); });
  check_race("shared", [&](bool mended) { test_kernels::found_in_shared_memory(out->data(), mended); });
  check_race("shared", [&](bool mended) { test_kernels::sums_of_warps(out->data(), mended); });
}

TEST_CASE_METHOD(RaceKernels, "race: a read beside another block's atomic, which many have read") {
  const auto count = zeros<int>(1), out = zeros<int>(513);
  check_race("device", [&](bool mended) { test_kernels::read_by_many(count->data(), out->data(), mended); });
}

TEST_CASE_METHOD(RaceKernels, "race: the same value from several threads, read without a barrier") {
  const auto out = zeros<int>(64);
  check_race("shared", [&](bool mended) { test_kernels::same_value_read_at_once(out->data(), mended); });
}

TEST_CASE_METHOD(RaceKernels, "no race: the CUDA guide's atomicAdd(double), whose first read is plain") {
  const auto sum = zeros<double>(1), another = zeros<double>(1);
  check_race("device", [&](bool mended) { test_kernels::compare_and_swap_sum(sum->data(), mended); });
  backend->run([&] { test_kernels::compare_and_swap_sum(another->data(), true); });
  CHECK(another->values()[0] == 256.0);
}

TEST_CASE_METHOD(RaceKernels, "no race: a mutex that one lane of each warp takes") {
  const auto lock = zeros<int>(1), sum = zeros<int>(1), sum_again = zeros<int>(1);
  backend->run([&] { test_kernels::mutex_of_warps(lock->data(), sum_again->data(), true); });
  CHECK(sum_again->values()[0] == 256);
  check_race("device", [&](bool mended) { test_kernels::mutex_of_warps(lock->data(), sum->data(), mended); });
}

TEST_CASE_METHOD(RaceKernels, "no race: a mutex that every thread takes") {
  const auto locks = zeros<int>(4), sum = zeros<int>(1), sum_again = zeros<int>(1);
  backend->run([&] { test_kernels::mutex_of_threads(locks->data(), sum_again->data(), true); });
  CHECK(sum_again->values()[0] == 256);
  check_race("device",
             [&](bool mended) { test_kernels::mutex_of_threads(locks->data(), sum->data(), mended); });
}

TEST_CASE_METHOD(RaceKernels, "no race: a mutex in shared memory") {
  const auto out = zeros<int>(2);
  check_race("shared", [&](bool mended) { test_kernels::mutex_in_shared_memory(out->data(), mended); });
}

namespace {

/// A last-block reduction of 4 blocks of 64 threads.
template <class Kernel>
void check_last_block(RaceKernels& tests, Kernel kernel) {
  const auto run = [&](bool mended) {
    const auto partial = tests.zeros<int>(256), sum = tests.zeros<int>(1);
    const auto count = tests.zeros<unsigned>(1);
    kernel(partial->data(), sum->data(), count->data(), mended);
    return sum->values()[0];
  };
  tests.check_race("device", run);
  int sum = 0;
  tests.backend->run([&] { sum = run(true); });
  CHECK(sum == 256);
}

}  // namespace

TEST_CASE_METHOD(RaceKernels, "race: a last-block reduction without its fence") {
  check_last_block(*this, test_kernels::last_block);
}
TEST_CASE_METHOD(RaceKernels, "race: a last-block reduction in which each thread should pass a fence") {
  check_last_block(*this, test_kernels::last_block_of_threads);
}
TEST_CASE_METHOD(RaceKernels, "race: a last-block reduction without the barrier before its fence") {
  check_last_block(*this, test_kernels::last_block_one_fence);
}

TEST_CASE_METHOD(RaceKernels, "no race: a volatile flag between two warps of a block, after a fence") {
  setenv("WORKBOOK_STEPS", "1000000", 1);  // where the flag would never be set
  const auto data = zeros<int>(1), out = zeros<int>(1);
  SECTION("the warp that sets it comes first") {
    check_race("device", [&](bool mended) {
      const auto flag = zeros<int>(1);
      test_kernels::volatile_flag(data->data(), flag->data(), out->data(), mended);
    });
  }
  SECTION("the warp that waits for it comes first") {
    check_race("device", [&](bool mended) {
      const auto flag = zeros<int>(1);
      test_kernels::volatile_flag_waits_first(data->data(), flag->data(), out->data(), mended);
    });
  }
  unsetenv("WORKBOOK_STEPS");
}

TEST_CASE_METHOD(RaceKernels,
                 "hint of a race: a volatile flag wants a fence, and no barrier that waits for ever") {
  setenv("WORKBOOK_STEPS", "1000000", 1);
  const auto data = zeros<int>(1), out = zeros<int>(1);
  const auto told = [&](auto kernel) {
    return finding([&](bool mended) {
      const auto flag = zeros<int>(1);
      kernel(data->data(), flag->data(), out->data(), mended);
    });
  };
  const std::string hint =
      "look at: is it a flag that a thread waits for in a loop? Then put a __threadfence() before the store";
  for (const auto kernel : {test_kernels::volatile_flag, test_kernels::volatile_flag_waits_first}) {
    const std::string message = told(kernel);
    CHECK_THAT(message, ContainsSubstring(hint));
    CHECK_THAT(message, ContainsSubstring("If it is no flag: is a __syncthreads() missing"));
  }
  const std::string message = told(test_kernels::volatile_flag_between_blocks);
  CHECK_THAT(message, ContainsSubstring(hint));
  CHECK_THAT(message, ContainsSubstring("If it is no flag: blocks run in any order"));
  unsetenv("WORKBOOK_STEPS");
  // Lanes of one warp want a __syncwarp().
  const std::string sum = finding([&](bool mended) { test_kernels::volatile_warp_sum(out->data(), mended); });
  CHECK(sum.find("flag") == std::string::npos);
}

TEST_CASE_METHOD(RaceKernels, "race: a volatile sum of a warp without __syncwarp") {
  const auto out = zeros<int>(1);
  check_race("shared", [&](bool mended) { test_kernels::volatile_warp_sum(out->data(), mended); });
  backend->run([&] { test_kernels::volatile_warp_sum(out->data(), true); });
  CHECK(out->values()[0] == 496);
}

}  // namespace test_race_kernels

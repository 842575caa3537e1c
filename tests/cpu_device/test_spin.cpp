// Threads that wait for each other in loops: those that can end do, and the others are found at once. Loops
// that compute for long are not taken for such.
#include <algorithm>
#include <numeric>

#include "catch.hpp"
#include "kernels/spin.hpp"
#include "tests/cpu_device/device_arrays.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_spin {
namespace {

namespace test_kernels = cpu::test_kernels;
using test_kernels::Lock;
using workbook::Counts;

struct Spins : Findings {
  std::unique_ptr<DeviceArray<int>> zeros(std::size_t count, const std::string& name) {
    return Findings::zeros<int>(count, name);
  }

  /// The finding of a kernel, which has to come within 100,000 steps: a millisecond or two.
  template <class Kernel>
  std::string found_at_once(Kernel kernel) {
    setenv("WORKBOOK_STEPS", "100000", 1);
    const std::string message = finding_of(*backend, kernel);
    unsetenv("WORKBOOK_STEPS");
    CHECK_THAT(message, !ContainsSubstring("Still running after"));
    return message;
  }
};

std::vector<int> repeated(int value, std::size_t count) { return std::vector<int>(count, value); }

}  // namespace

TEST_CASE_METHOD(Spins, "spin: a warp waits for a flag that a later warp sets", "[spin]") {
  const auto flag = zeros(1, "flag"), value = zeros(1, "value"), out = zeros(32, "out");
  SECTION("in device memory") {
    const Counts counts =
        backend->run([&] { test_kernels::flag_between_warps(flag->data(), value->data(), out->data()); });
    CHECK(counts.approximate);  // how often it polls depends on time
    CHECK(counts.store_requests == 1);
    CHECK(counts.store_sectors == 4);
  }
  SECTION("in shared memory") {
    backend->run([&] { test_kernels::shared_flag_between_warps(out->data()); });
  }
  SECTION("in a function that is not inlined") {
    backend->run([&] { test_kernels::flag_out_of_line(flag->data(), value->data(), out->data()); });
  }
  CHECK(out->values() == repeated(42, 32));
}

TEST_CASE_METHOD(Spins, "spin: a flag that is there already is read once", "[spin]") {
  const auto flag = zeros(1, "flag"), value = zeros(1, "value"), out = zeros(32, "out");
  const int one = 1;
  backend->upload(flag->data(), &one, sizeof(one));
  const Counts counts =
      backend->run([&] { test_kernels::flag_between_warps(flag->data(), value->data(), out->data()); });
  CHECK_FALSE(counts.approximate);
}

TEST_CASE_METHOD(Spins, "spin: a thread that counts its polls waits as well", "[spin]") {
  const auto flag = zeros(1, "flag"), value = zeros(1, "value"), out = zeros(32, "out");
  backend->run([&] { test_kernels::flag_with_count(flag->data(), value->data(), out->data()); });
  CHECK(out->values() == repeated(1001, 32));
}

TEST_CASE_METHOD(Spins, "spin: lanes that wait leave the counts of the others alone", "[spin]") {
  const auto flag = zeros(1, "flag"), out = zeros(64, "out");
  const Counts counts = backend->run([&] { test_kernels::one_lane_waits(flag->data(), out->data()); });
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(out->values() == expected);
  CHECK(counts.store_requests == 2);  // the lane that waited stores with the others of its warp
  CHECK(counts.store_sectors == 8);
}

TEST_CASE_METHOD(Spins, "spin: lanes wait in __syncwarp for one that waits for a flag", "[spin]") {
  const auto flag = zeros(1, "flag"), out = zeros(32, "out");
  backend->run([&] { test_kernels::waits_before_syncwarp(flag->data(), out->data()); });
  CHECK(out->values() == repeated(7, 32));
}

TEST_CASE_METHOD(Spins, "spin: a lane waits for a later lane with a loop of its own", "[spin]") {
  const auto flag = zeros(1, "flag"), work = zeros(1, "work"), out = zeros(1, "out");
  backend->run([&] { test_kernels::slow_producer_in_warp(flag->data(), work->data(), out->data()); });
  CHECK(out->values()[0] == 1000);
}

TEST_CASE_METHOD(Spins, "spin: two warps take turns", "[spin]") {
  const auto turn = zeros(1, "turn");
  backend->run([&] { test_kernels::ping_pong(turn->data(), 1000); });
  CHECK(turn->values()[0] == 2000);
}

TEST_CASE_METHOD(Spins, "spin: every thread of a block takes a lock once", "[spin]") {
  const Lock kind = GENERATE(Lock::kCompareAndSwap, Lock::kExchange, Lock::kTicket, Lock::kOutOfLine);
  const auto lock = zeros(2, "lock"), count = zeros(1, "count"), work = zeros(1, "work"),
             order = zeros(256, "order");
  backend->run(
      [&] { test_kernels::locked_count(kind, lock->data(), count->data(), work->data(), order->data()); });
  CHECK(count->values()[0] == 256);
  CHECK(work->values()[0] == 256 * 40);
  std::vector<int> threads = order->values(), expected(256);
  std::sort(threads.begin(), threads.end());
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(threads == expected);
}

TEST_CASE_METHOD(Spins, "spin: the first lane of each warp takes a lock", "[spin]") {
  const auto lock = zeros(1, "lock"), count = zeros(1, "count"), work = zeros(1, "work");
  backend->run([&] { test_kernels::locked_by_leaders(lock->data(), count->data(), work->data()); });
  CHECK(count->values()[0] == 8);
  CHECK(work->values()[0] == 8 * 40 + 256);
}

TEST_CASE_METHOD(Spins, "spin: a block waits for an earlier one", "[spin]") {
  const auto flag = zeros(100, "flag");
  const Counts counts = backend->run([&] { test_kernels::chain_of_blocks(flag->data(), 100, true); });
  CHECK(flag->values() == repeated(1, 100));
  CHECK_FALSE(counts.approximate);
}

// Hidden until the race detector knows what volatile accesses, fences and atomics order within a block.

TEST_CASE_METHOD(Spins, "spin: a warp waits for a volatile flag", "") {
  const auto flag = zeros(1, "flag"), value = zeros(1, "value"), out = zeros(32, "out");
  SECTION("in device memory") {
    backend->run(
        [&] { test_kernels::volatile_flag_between_warps(flag->data(), value->data(), out->data()); });
  }
  SECTION("in shared memory") {
    backend->run([&] { test_kernels::shared_volatile_flag(out->data()); });
  }
  CHECK(out->values() == repeated(42, 32));
}

TEST_CASE_METHOD(Spins, "spin: a lock protects plain accesses", "") {
  const auto lock = zeros(1, "lock"), count = zeros(1, "count");
  backend->run([&] { test_kernels::locked_plain_count(lock->data(), count->data()); });
  CHECK(count->values()[0] == 256);
}

TEST_CASE_METHOD(Spins, "finding: a block waits for a later one", "[spin]") {
  const auto flag = zeros(100, "flag");
  const std::string message = found_at_once([&] { test_kernels::chain_of_blocks(flag->data(), 100, false); });
  CHECK_THAT(message, ContainsSubstring("block that waits for a later block: kernel chain_of_blocks"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) polls flag[1] at line "));
  CHECK_THAT(message, ContainsSubstring("Blocks run one after another on the CPU device, so a value that a "
                                        "later block stores never arrives."));
  CHECK_THAT(message, ContainsSubstring("waits at __syncthreads() at line "));
  CHECK_THAT(message, ContainsSubstring("and so for 62 more"));
  CHECK_NOTHROW(backend->run([&] { test_kernels::chain_of_blocks(flag->data(), 1, false); }));
}

TEST_CASE_METHOD(Spins, "finding: a barrier of the whole grid", "[spin]") {
  const auto count = zeros(1, "count");
  const std::string message = found_at_once([&] { test_kernels::grid_barrier(count->data(), 8); });
  CHECK_THAT(message, ContainsSubstring("block that waits for a later block: kernel grid_barrier"));
  CHECK_THAT(message, ContainsSubstring("polls count[0] at line "));
  backend->fill(count->data(), 0, sizeof(int));
  CHECK_NOTHROW(backend->run([&] { test_kernels::grid_barrier(count->data(), 1); }));
}

TEST_CASE_METHOD(Spins, "finding: the last block waits for a lock that an earlier one has kept", "[spin]") {
  const auto lock = zeros(1, "lock");
  const std::string message = found_at_once([&] { test_kernels::lock_kept(lock->data()); });
  CHECK_THAT(message, ContainsSubstring("deadlock: kernel lock_kept"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (1,0,0) polls lock[0] at line "));
}

TEST_CASE_METHOD(Spins, "finding: a flag that is set only after a barrier", "[spin]") {
  const auto out = zeros(64, "out");
  CHECK_NOTHROW(backend->run([&] { test_kernels::flag_after_barrier(out->data(), true); }));
  const std::string message = found_at_once([&] { test_kernels::flag_after_barrier(out->data(), false); });
  CHECK_THAT(message, ContainsSubstring("deadlock: kernel flag_after_barrier"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) polls flag[0] at line "));
  CHECK_THAT(message, ContainsSubstring("and no thread of the block will ever change that"));
  CHECK_THAT(message,
             ContainsSubstring("thread (32,0,0) of block (0,0,0) waits at __syncthreads() at line "));
}

TEST_CASE_METHOD(Spins, "finding: two threads that each hold the lock that the other wants", "[spin]") {
  const auto locks = zeros(3, "locks");
  CHECK_NOTHROW(backend->run([&] { test_kernels::two_locks(locks->data(), true); }));
  const std::string message = found_at_once([&] { test_kernels::two_locks(locks->data(), false); });
  CHECK_THAT(message, ContainsSubstring("deadlock: kernel two_locks"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) polls locks[1] at line "));
  CHECK_THAT(message, ContainsSubstring("thread (32,0,0) of block (0,0,0) polls locks[0] at line "));
  CHECK_THAT(message, ContainsSubstring("has ended, and so for 61 more"));
}

TEST_CASE_METHOD(Spins, "finding: a flag that nobody sets", "[spin]") {
  const auto flag = zeros(1, "flag");
  const std::string message = found_at_once([&] { test_kernels::flag_never_set(flag->data(), false); });
  CHECK_THAT(message, ContainsSubstring("deadlock: kernel flag_never_set"));
  CHECK_THAT(message, ContainsSubstring("and so for 62 more"));
  CHECK_NOTHROW(backend->run([&] { test_kernels::flag_never_set(flag->data(), true); }));
}

TEST_CASE_METHOD(Spins, "finding: a flag that is set only after a __syncwarp", "[spin]") {
  const auto flag = zeros(1, "flag");
  const std::string message = found_at_once([&] { test_kernels::flag_after_syncwarp(flag->data(), false); });
  CHECK_THAT(message, ContainsSubstring("deadlock: kernel flag_after_syncwarp"));
  CHECK_THAT(message,
             ContainsSubstring("thread (1,0,0) of block (0,0,0) waits for lanes of its warp at line "));
  CHECK_NOTHROW(backend->run([&] { test_kernels::flag_after_syncwarp(flag->data(), true); }));
}

TEST_CASE_METHOD(Spins, "finding: a loop whose index does not move on", "[spin]") {
  const auto in = DeviceArray<int>::counting(*backend, 100, "in");
  const auto out = zeros(100, "out");
  const std::string message =
      found_at_once([&] { test_kernels::index_stands_still(in->data(), out->data(), 100, false); });
  CHECK_THAT(message, ContainsSubstring("infinite loop: kernel index_stands_still"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) is in a loop at line "));
  CHECK_THAT(message, ContainsSubstring("reads and writes the same as the one before"));
}

TEST_CASE_METHOD(Spins, "finding: a loop that does nothing, for ever", "[spin]") {
  const auto out = zeros(32, "out");
  CHECK_NOTHROW(backend->run([&] { test_kernels::empty_loop(out->data(), true); }));
  const std::string message = found_at_once([&] { test_kernels::empty_loop(out->data(), false); });
  CHECK_THAT(message, ContainsSubstring("infinite loop: kernel empty_loop"));
  CHECK_THAT(message, ContainsSubstring("which changes nothing and reads no memory"));
}

TEST_CASE_METHOD(Findings, "finding: a loop without end that is one instruction", "[spin]") {
  const auto out = Findings::zeros<int>(32);
  const std::string message =
      finding([&](bool mended) { test_kernels::jumps_to_itself(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("infinite loop: kernel jumps_to_itself"));
  // g++ traces nothing in it, so that only time tells; clang leaves a trace, and each round is the same.
  CHECK_THAT(message, ContainsSubstring("Still there after 5 s without an access") ||
                          ContainsSubstring("which changes nothing and reads no memory"));
  CHECK_THAT(message, ContainsSubstring("tests/kernels/spin.cu:"));
}

TEST_CASE_METHOD(Findings, "finding: a loop without end in a function that is not inlined", "[spin]") {
  const auto out = Findings::zeros<unsigned>(32);
  setenv("WORKBOOK_STEPS", "100000", 1);
  const std::string message =
      finding([&](bool mended) { test_kernels::never_one_out_of_line(out->data(), mended); });
  unsetenv("WORKBOOK_STEPS");
  CHECK_THAT(message, ContainsSubstring("infinite loop: kernel never_one_out_of_line"));
  CHECK_THAT(message, ContainsSubstring("Still running after 100000 steps: an infinite loop?"));
}

// More than a million steps a warp, so that both warps take turns.

TEST_CASE_METHOD(Spins, "no spin: one address, read again and again", "[spin]") {
  constexpr int kTimes = 40'000;
  const auto in = DeviceArray<float>::counting(*backend, 1), out = DeviceArray<float>::counting(*backend, 64);
  const Counts counts =
      backend->run([&] { test_kernels::read_again_and_again(in->data(), out->data(), kTimes); });
  CHECK(counts.load_requests == 2 * (kTimes + 3));
  CHECK(counts.load_sectors == 2 * (kTimes + 3));
  CHECK(counts.store_requests == 2);
  CHECK_FALSE(counts.approximate);
}

TEST_CASE_METHOD(Spins, "no spin: a loop that computes in registers for long", "[spin]") {
  constexpr int kTimes = 100'000;
  const auto in = DeviceArray<unsigned>::counting(*backend, 64),
             out = DeviceArray<unsigned>::counting(*backend, 64);
  const Counts counts =
      backend->run([&] { test_kernels::compute_for_long(in->data(), out->data(), kTimes); });
  CHECK(counts.load_requests == 2);
  CHECK(counts.load_sectors == 8);
  CHECK(counts.store_requests == 2);
  CHECK_FALSE(counts.approximate);
  unsigned expected = 63;
  for (int i = 0; i < kTimes + 3; ++i) expected = expected * 1664525 + 1013904223;
  CHECK(out->values()[63] == expected + 63);
}

}  // namespace test_spin

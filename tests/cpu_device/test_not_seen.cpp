// Mistakes that the CPU device does not see, which docs/cpu_device.md lists. Where there is a variant that it
// does see, the test has both: they say where the limit is. A test that fails because the device has learnt
// to see more moves to the tests of findings, and its entry on the page as well.
#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "kernels/not_seen.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_not_seen {
namespace {

namespace test_kernels = cpu::test_kernels;

struct NotSeen : Findings {
  /// The finding of the kernel, or "". Neither has a note.
  template <class Kernel>
  std::string found(Kernel kernel) {
    const std::string message = finding_of(*backend, kernel);
    CHECK(backend->take_notes().empty());
    return message;
  }
};

}  // namespace

TEST_CASE_METHOD(NotSeen, "not seen: a race that only another order of the atomics shows") {
  const auto data = zeros<int>(1), out = zeros<int>(1);
  const auto run = [&](bool seen) {
    const auto count = zeros<int>(1);
    return found([&] { test_kernels::order_of_atomics(data->data(), count->data(), out->data(), seen); });
  };
  CHECK(run(false) == "");
  CHECK(out->values()[0] == 42);  // on a GPU, 0 as well
  CHECK_THAT(run(true), ContainsSubstring("race in device memory: kernel order_of_atomics"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a missing fence after the atomic of the thread that reads") {
  const auto data = zeros<int>(1), out = zeros<int>(1);
  const auto run = [&](bool seen) {
    const auto count = zeros<int>(1);
    return found([&] { test_kernels::reader_without_fence(data->data(), count->data(), out->data(), seen); });
  };
  CHECK(run(false) == "");
  CHECK_THAT(run(true), ContainsSubstring("race in device memory: kernel reader_without_fence"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a plain read beside atomics, if an atomicCAS of its thread follows") {
  const auto x = zeros<int>(1), out = zeros<int>(64);
  const auto run = [&](bool seen) {
    return found([&] { test_kernels::plain_read_before_swap(x->data(), out->data(), seen); });
  };
  CHECK(run(false) == "");
  CHECK_THAT(run(true), ContainsSubstring("race in device memory: kernel plain_read_before_swap"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a race after 60,000 warp operations between two barriers") {
  const auto x = zeros<int>(1), out = zeros<int>(1);
  const auto run = [&](int operations) {
    return found([&] { test_kernels::race_after_warp_operations(x->data(), out->data(), operations); });
  };
  CHECK(run(60'001) == "");
  CHECK_THAT(run(59'000), ContainsSubstring("race in device memory: kernel race_after_warp_operations"));
  CHECK_THAT(found([&] { test_kernels::race_after_barrier(x->data(), out->data(), 60'001); }),
             ContainsSubstring("race in device memory: kernel race_after_barrier"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a race in a grid of 2^28 threads or more") {
  const auto x = zeros<int>(1);
  const auto run = [&](int blocks) { return found([&] { test_kernels::race_in_grid(x->data(), blocks); }); };
  // The first block ends either launch.
  CHECK_THAT(run(1 << 18), ContainsSubstring("out of bounds: kernel race_in_grid"));
  CHECK_THAT(run((1 << 18) - 1), ContainsSubstring("race in device memory: kernel race_in_grid"));
}

TEST_CASE_METHOD(NotSeen, "not seen: one race on a word that more than 64 groups of threads access") {
  const auto x = zeros<int>(1), out = zeros<int>(128);
  const auto run = [&](int readers) {
    const auto count = zeros<int>(1);
    return found([&] { test_kernels::one_reader_of_many(x->data(), count->data(), out->data(), readers); });
  };
  CHECK(run(100) == "");
  CHECK_THAT(run(50), ContainsSubstring("race in device memory: kernel one_reader_of_many"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a pointer that leaves one __shared__ array for another") {
  const auto out = zeros<int>(32);
  CHECK(found([&] { test_kernels::leaves_shared_array(out->data(), false); }) == "");
  CHECK(out->values()[31] == 131);
  CHECK_THAT(found([&] { test_kernels::leaves_shared_array(out->data(), true); }),
             ContainsSubstring("out of bounds of an array: kernel leaves_shared_array"));
}

TEST_CASE_METHOD(NotSeen, "not seen: an index that leaves its row, but not the array") {
  const auto x = counting<int>(32), out = zeros<int>(4);
  CHECK(found([&] { test_kernels::leaves_row(x->data(), out->data(), 3, 8); }) == "");
  CHECK_THAT(found([&] { test_kernels::leaves_row(x->data(), out->data(), 4, 8); }),
             ContainsSubstring("out of bounds: kernel leaves_row"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a pointer that leaves a local array") {
  const auto out = zeros<int>(32);
  CHECK(found([&] { test_kernels::leaves_local_array(out->data(), 5, false); }) == "");
  CHECK_THAT(found([&] { test_kernels::leaves_local_array(out->data(), 5, true); }),
             ContainsSubstring("out of bounds of an array: kernel leaves_local_array"));
}

TEST_CASE_METHOD(NotSeen, "not seen: a local variable that nothing has written") {
  const auto out = zeros<int>(32);
  CHECK(found([&] { test_kernels::unwritten_local(out->data(), 3); }) == "");
}

TEST_CASE_METHOD(NotSeen, "not seen: a load whose value is not used") {
  const auto x = zeros<int>(4), out = zeros<int>(1);
  CHECK(found([&] { test_kernels::unused_load(x->data(), out->data(), 4, false); }) == "");
  CHECK_THAT(found([&] { test_kernels::unused_load(x->data(), out->data(), 4, true); }),
             ContainsSubstring("out of bounds: kernel "));
}

TEST_CASE_METHOD(NotSeen, "not seen: barriers in both branches of an if, on one line") {
  const auto out = zeros<int>(32);
  CHECK(found([&] { test_kernels::barriers_in_branches(out->data(), false); }) == "");
  CHECK_THAT(found([&] { test_kernels::barriers_in_branches(out->data(), true); }),
             ContainsSubstring("barrier that not all threads reach: kernel "));
}

TEST_CASE_METHOD(NotSeen, "not seen: __ldg() of a word that the same launch has written") {
  const auto x = zeros<int>(32), out = zeros<int>(32);
  CHECK(found([&] { test_kernels::ldg_of_written(x->data(), out->data()); }) == "");
  CHECK(out->values()[0] == 31);  // on a GPU, 0 as well
}

TEST_CASE_METHOD(NotSeen, "not seen at once: a loop that waits for ever and counts its polls") {
  const auto flag = zeros<int>(1), out = zeros<int>(1);
  setenv("WORKBOOK_STEPS", "100000", 1);
  const std::string message =
      found([&] { test_kernels::counts_its_polls(flag->data(), out->data(), false); });
  const std::string seen = found([&] { test_kernels::counts_its_polls(flag->data(), out->data(), true); });
  unsetenv("WORKBOOK_STEPS");
  CHECK_THAT(message, ContainsSubstring("infinite loop: kernel "));
  CHECK_THAT(message, ContainsSubstring("Still running after 100000 steps"));
  CHECK_THAT(seen, ContainsSubstring("deadlock: kernel "));
}

TEST_CASE_METHOD(NotSeen, "not seen: two atomics where one is needed") {
  const auto x = zeros<int>(1);
  CHECK(found([&] { test_kernels::two_atomics_for_one(x->data(), false); }) == "");
  CHECK(x->values()[0] == 64);  // on a GPU, fewer
  CHECK_THAT(found([&] { test_kernels::two_atomics_for_one(x->data(), true); }),
             ContainsSubstring("race in device memory: kernel two_atomics_for_one"));
}

}  // namespace test_not_seen

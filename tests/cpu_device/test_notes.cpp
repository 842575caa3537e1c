// Notes: what works but is fragile, and findings that the user wants as notes.
#include <fstream>

#include "catch.hpp"
#include "cpu_device/findings/finding.hpp"
#include "kernels/kernels.hpp"
#include "kernels/notes.hpp"
#include "kernels/races.hpp"
#include "paths.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace test_notes {
namespace {

namespace test_kernels = cpu::test_kernels;
using Texts = std::vector<std::string>;

/// "line 17": where the kernel of that name has its `which`th line that is `code`.
std::string line_of(const std::string& kernel, const std::string& code, int which) {
  std::ifstream file(source_dir() + "/tests/kernels/notes.cu");
  int number = 1;
  bool inside = false;
  for (std::string line; std::getline(file, line); ++number) {
    inside |= line.starts_with("__global__ void " + kernel + "(");
    if (inside && line.ends_with(" " + code) && --which == 0) return "line " + std::to_string(number);
  }
  FAIL("no such line of tests/kernels/notes.cu is " << code);
  return "";
}

/// A device on which findings of some kinds are notes.
struct Noting {
  explicit Noting(const std::vector<std::string>& words = {})
      : backend(workbook::make_cpu_backend({}, workbook::Detail::kNone, words)) {}

  std::unique_ptr<DeviceArray<int>> counting(std::size_t count) {
    return DeviceArray<int>::counting(*backend, count, "in");
  }
  std::unique_ptr<DeviceArray<int>> array(std::size_t count) {
    return std::make_unique<DeviceArray<int>>(*backend, count, "out");
  }
  /// The notes of `kernel(false)`; `kernel(true)`, the correct twin, must have none. Neither has a finding.
  template <class Kernel>
  Texts notes(Kernel kernel) {
    CHECK_NOTHROW(backend->run([&] { kernel(true); }));
    CHECK(backend->take_notes().empty());
    CHECK_NOTHROW(backend->run([&] { kernel(false); }));
    return backend->take_notes();
  }
  /// The finding of `kernel()`, which must have one.
  template <class Kernel>
  cpu::Finding finding(Kernel kernel) {
    try {
      backend->run([&] { kernel(); });
    } catch (const cpu::Finding& found) {
      return found;
    }
    FAIL("there is no finding");
    return cpu::Finding("");
  }

  std::unique_ptr<workbook::Backend> backend;
};

}  // namespace

TEST_CASE("note: whole warps come to __syncthreads() in different lines") {
  Noting device;
  const auto out = device.array(256);
  const Texts notes = device.notes([&](bool mended) { test_kernels::barrier_by_warp(out->data(), mended); });
  REQUIRE(notes.size() == 1);  // of 4 blocks
  CHECK_THAT(notes[0],
             ContainsSubstring("note: barrier in several lines: kernel barrier_by_warp (tests/kernels/"
                               "notes.cu:"));
  CHECK_THAT(notes[0], ContainsSubstring("thread (0,0,0) of block (0,0,0) waits at __syncthreads() at " +
                                         line_of("barrier_by_warp", "__syncthreads();", 2) + "\n"));
  CHECK_THAT(notes[0], ContainsSubstring("thread (32,0,0) of block (0,0,0) waits at __syncthreads() at " +
                                         line_of("barrier_by_warp", "__syncthreads();", 3) + "\n"));
  CHECK_THAT(notes[0], ContainsSubstring("look at: "));
  CHECK(out->values()[3] == 60);
  CHECK(out->values()[63] == 0);
  CHECK(out->values()[32] == -31);
}

TEST_CASE("note: whole warps come to the same vote in different lines") {
  Noting device;
  const auto out = device.array(64);
  const Texts notes = device.notes([&](bool mended) { test_kernels::vote_by_warp(out->data(), mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             ContainsSubstring("thread (0,0,0) of block (0,0,0) waits at __syncthreads_count() at "));
  CHECK_THAT(notes[0],
             ContainsSubstring("thread (32,0,0) of block (0,0,0) waits at __syncthreads_count() at "));
  CHECK(out->values()[0] == 32);
  CHECK(out->values()[63] == 132);
}

TEST_CASE("finding: some threads of a block come to a barrier, others to a vote") {
  Noting device({"barrier"});  // nothing can go on after it
  const auto out = device.array(64);
  CHECK_NOTHROW(device.backend->run([&] { test_kernels::barrier_or_vote(out->data(), true); }));
  const cpu::Finding found = device.finding([&] { test_kernels::barrier_or_vote(out->data(), false); });
  CHECK_THAT(found.what(), ContainsSubstring("votes and barriers mixed: kernel barrier_or_vote"));
  CHECK_THAT(found.what(),
             ContainsSubstring("thread (0,0,0) of block (0,0,0) waits at __syncthreads_or() at "));
  CHECK_THAT(found.what(),
             ContainsSubstring("thread (32,0,0) of block (0,0,0) waits at __syncthreads() at "));
  CHECK(found.note_word.empty());
  CHECK(device.backend->take_notes().empty());
}

TEST_CASE("note: a barrier inside an if that works because the other threads have ended") {
  Noting device;
  const auto out = device.array(32);
  const Texts notes = device.notes([&](bool mended) { test_kernels::barrier_in_if(out->data(), mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             ContainsSubstring("note: barrier without the threads that have ended: kernel barrier_in_if ("));
  CHECK_THAT(notes[0], ContainsSubstring("  thread (0,0,0) of block (0,0,0) passes __syncthreads() at " +
                                         line_of("barrier_in_if", "__syncthreads();", 2) +
                                         "\n  without thread (32,0,0) of block (0,0,0) and 95 others"));
  CHECK_THAT(notes[0], ContainsSubstring("compute capability 7.0"));
  CHECK(out->values()[0] == 31);
}

TEST_CASE("note: a return before barriers, once for the kernel; no note where no thread returns") {
  Noting device;
  const auto in = device.counting(200), out = device.array(4);
  const Texts notes =
      device.notes([&](bool mended) { test_kernels::ragged_sums(in->data(), out->data(), 190, mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("without thread (62,0,0) of block (2,0,0) and another one"));
  CHECK(out->values()[0] == 2016);
  CHECK(out->values()[2] == 62 * 128 + 1891);
  device.backend->run([&] { test_kernels::ragged_sums(in->data(), out->data(), 191, false); });
  CHECK_THAT(device.backend->take_notes().at(0),
             ContainsSubstring("(63,0,0) of block (2,0,0), which has ended"));
  device.backend->run([&] { test_kernels::ragged_sums(in->data(), out->data(), 192, false); });
  CHECK(device.backend->take_notes().empty());
}

TEST_CASE("note: warps that pass barriers in other lines and in other numbers get both notes") {
  Noting device;
  const auto out = device.array(64);
  const Texts notes = device.notes([&](bool mended) { test_kernels::unequal_barriers(out->data(), mended); });
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], ContainsSubstring("note: barrier in several lines"));
  CHECK_THAT(notes[1], ContainsSubstring("note: barrier without the threads that have ended"));
}

TEST_CASE("note: only a shuffle is between a store and the load of another lane") {
  Noting device;
  const auto out = device.array(32);
  const Texts notes =
      device.notes([&](bool mended) { test_kernels::ordered_by_shuffle(out->data(), mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: order by a shuffle: kernel ordered_by_shuffle"));
  CHECK_THAT(notes[0], ContainsSubstring("reads s[31] at " +
                                         line_of("ordered_by_shuffle", "out[t] = zero + s[31 - t];", 1)));
  CHECK_THAT(notes[0], ContainsSubstring("put a __syncwarp() there"));
  CHECK(out->values()[3] == 28);
}

TEST_CASE("note: several threads store the same value to one word") {
  Noting device;
  const auto out = device.array(64);
  const Texts notes = device.notes([&](bool mended) { test_kernels::flag_set_by_many(out->data(), mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             ContainsSubstring("note: same value stored by several threads: kernel flag_set_by_many"));
  CHECK_THAT(notes[0], ContainsSubstring("thread (2,0,0) of block (0,0,0) writes flag"));
  CHECK_THAT(notes[0], ContainsSubstring("and both store the same value"));
  CHECK(out->values()[63] == 1);
}

TEST_CASE("notes are of all launches since they were last taken, in the order of launches") {
  Noting device;
  const auto in = device.counting(190), out = device.array(64);
  const auto both = [&] {
    test_kernels::barrier_in_if(out->data(), false);
    test_kernels::ragged_sums(in->data(), out->data(), 190, false);
    test_kernels::barrier_in_if(out->data(), false);
  };
  device.backend->run(both);
  device.backend->run(both);
  const Texts notes = device.backend->take_notes();
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], ContainsSubstring("kernel barrier_in_if"));
  CHECK_THAT(notes[1], ContainsSubstring("kernel ragged_sums"));
  CHECK(device.backend->take_notes().empty());
}

TEST_CASE("finding: lanes of one warp wait at different lines; with --note barrier the launch goes on") {
  const auto kernel = [](DeviceArray<int>& out, bool mended) {
    test_kernels::barrier_by_half_warp(out.data(), mended);
  };
  Noting strict({"race", "copy"});
  const auto unused = strict.array(64);
  CHECK_NOTHROW(strict.backend->run([&] { kernel(*unused, true); }));
  const cpu::Finding found = strict.finding([&] { kernel(*unused, false); });
  CHECK_THAT(found.what(),
             ContainsSubstring("barrier that not all threads reach: kernel barrier_by_half_warp"));
  CHECK_THAT(found.what(), ContainsSubstring("thread (0,0,0) of block (0,0,0) waits at __syncthreads() at "));
  CHECK_THAT(found.what(),
             ContainsSubstring("thread (16,0,0) of block (0,0,0) waits at __syncthreads() at "));
  CHECK(found.note_word == "barrier");

  Noting device({"barrier"});
  const auto out = device.array(64);
  const Texts notes = device.notes([&](bool mended) { kernel(*out, mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: barrier that not all threads reach: kernel"));
  CHECK(out->values()[1] == 62);
  CHECK(out->values()[16] == 47);
}

TEST_CASE("option --note race: a launch goes on after races, with the value that came last") {
  Noting device({"race"});
  DeviceArray<signed char> bytes(*device.backend, 128, "bytes");
  device.backend->run([&] { test_kernels::numbers_as_bytes(bytes.data()); });
  Texts notes = device.backend->take_notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: race in device memory: kernel numbers_as_bytes"));
  DeviceArray<signed char> first(*device.backend, 64, "first");
  device.backend->run([&] { test_kernels::shared_bytes(first.data()); });
  notes = device.backend->take_notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: race in shared memory: kernel shared_bytes"));
  CHECK(first.values()[63] == 60);
  // A plain read beside atomics is reported at the barrier or at the end of the block.
  const auto count = device.counting(1), out = device.array(64);
  device.backend->run([&] { test_kernels::reads_beside_atomics(count->data(), out->data()); });
  notes = device.backend->take_notes();
  REQUIRE(notes.size() == 2);  // on the line of the atomic and on that of the read
  for (const std::string& note : notes)
    CHECK_THAT(note, ContainsSubstring("note: race in device memory: kernel reads_beside_atomics"));
  CHECK(out->values()[63] == 64);
}

TEST_CASE("option --note uninitialised: a launch goes on after reads of what nothing has written") {
  Noting device({"uninitialised"});
  const auto in = device.counting(64), unwritten = device.array(64), out = device.array(64);
  device.backend->poison(unwritten->data(), workbook::kOtherPoison, 64 * sizeof(int));
  const Texts global = device.notes(
      [&](bool mended) { test_kernels::add_unwritten(in->data(), unwritten->data(), out->data(), mended); });
  REQUIRE(global.size() == 1);  // of 64 threads
  CHECK_THAT(global[0], ContainsSubstring("note: uninitialised device memory: kernel add_unwritten"));
  CHECK_THAT(global[0], ContainsSubstring("thread (0,0,0) of block (0,0,0) reads "));
  CHECK(out->values()[3] == 3 + 0x55555555);

  const Texts shared =
      device.notes([&](bool mended) { test_kernels::add_unwritten_shared(in->data(), out->data(), mended); });
  REQUIRE(shared.size() == 1);
  CHECK_THAT(shared[0], ContainsSubstring("note: uninitialised shared memory: kernel add_unwritten_shared"));

  Noting strict;
  CHECK(
      strict.finding([&] { test_kernels::add_unwritten_shared(in->data(), out->data(), false); }).note_word ==
      "uninitialised");
}

TEST_CASE("option --note copy: a launch goes on after an asynchronous copy that was not waited for") {
  Noting device({"copy"});
  const auto in = device.counting(32), out = device.array(32);
  const Texts notes =
      device.notes([&](bool mended) { test_kernels::unwaited_copy(in->data(), out->data(), mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: asynchronous copy not waited for: kernel unwaited_copy"));
  CHECK(out->values()[31] == 31);
  Noting strict;
  CHECK(strict.finding([&] { test_kernels::unwaited_copy(in->data(), out->data(), false); }).note_word ==
        "copy");
}

TEST_CASE("option --note misaligned: a launch goes on after accesses of up to 8 bytes") {
  Noting device({"misaligned"});
  const auto in = device.counting(66), out = device.array(64);
  const Texts notes =
      device.notes([&](bool mended) { test_kernels::misaligned_pairs(in->data(), out->data(), mended); });
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: misaligned access: kernel misaligned_pairs"));
  CHECK(out->values()[0] == 1);
  CHECK(out->values()[63] == 64);

  const auto floats = DeviceArray<float>::counting(*device.backend, 64),
             wide = DeviceArray<float>::counting(*device.backend, 64);
  const cpu::Finding found =
      device.finding([&] { test_kernels::misaligned(floats->data(), wide->data()); });  // 16 bytes
  CHECK_THAT(found.what(), ContainsSubstring("misaligned access: kernel misaligned"));
  CHECK(found.note_word.empty());
}

TEST_CASE("after a misaligned access that was noted, its bytes are checked like others") {
  Noting device({"misaligned"});
  const auto in = device.counting(64), out = device.array(64);
  const cpu::Finding found =
      device.finding([&] { test_kernels::misaligned_pairs(in->data(), out->data(), false); });
  CHECK_THAT(found.what(), ContainsSubstring("out of bounds: kernel misaligned_pairs"));
  CHECK_THAT(found.what(), ContainsSubstring("thread (31,0,0) of block (0,0,0) reads in[64]"));
  const Texts notes = device.backend->take_notes();  // a launch that was stopped keeps its notes
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], ContainsSubstring("note: misaligned access"));
}

TEST_CASE("no launch goes on after an access outside its array, whatever is noted") {
  Noting device({"race", "uninitialised", "barrier", "copy", "misaligned"});
  const auto in = device.counting(32), out = device.array(32);
  const cpu::Finding found =
      device.finding([&] { test_kernels::past_the_end_by_one(in->data(), out->data(), 32, false); });
  CHECK_THAT(found.what(), ContainsSubstring("out of bounds: kernel past_the_end_by_one"));
  CHECK(found.note_word.empty());
}

}  // namespace test_notes

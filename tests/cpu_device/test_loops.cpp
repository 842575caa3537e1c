// Lanes that go through loops differently: what they do in the same iteration is one request, as on a GPU.
// And mistakes that no single access shows.
#include <numeric>
#include <random>
#include <set>

#include "catch.hpp"
#include "kernels/loops.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/kernel_lines.hpp"

namespace test_loops {
namespace {

namespace test_kernels = cpu::test_kernels;
using workbook::Counts;

constexpr std::size_t kLanes = 32;

/// Sectors of a row of 32 elements of 4 bytes of which the lanes in `takes_part` are accessed.
template <class TakesPart>
long long row_sectors(TakesPart takes_part) {
  std::set<std::size_t> sectors;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if (takes_part(lane)) sectors.insert(lane / 8);
  return static_cast<long long>(sectors.size());
}

/// What ragged_columns computes and, in lockstep, costs.
struct Expected {
  std::vector<int> sums;
  long long load_requests = 0, load_sectors = 0;
};

Expected expect(const std::vector<int>& lengths, const std::vector<int>& skip,
                const std::vector<int>& table) {
  Expected expected;
  expected.sums.resize(lengths.size());
  const auto load = [&](auto takes_part) {
    const long long sectors = row_sectors(takes_part);
    expected.load_requests += sectors > 0;
    expected.load_sectors += sectors;
  };
  for (std::size_t first = 0; first < lengths.size(); first += kLanes) {
    load([](std::size_t) { return true; });  // of the lengths
    const int most = *std::max_element(&lengths[first], &lengths[first] + kLanes);
    for (std::size_t j = 0; j < static_cast<std::size_t>(most); ++j) {
      const auto goes_on = [&](std::size_t lane) { return static_cast<int>(j) < lengths[first + lane]; };
      const auto adds = [&](std::size_t lane) { return goes_on(lane) && skip[kLanes * j + lane] == 0; };
      load(goes_on);  // of skip
      load(adds);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        if (adds(lane)) expected.sums[first + lane] += table[kLanes * j + lane];
    }
  }
  return expected;
}

void check_ragged(Findings& loops, const std::vector<int>& lengths, const std::vector<int>& skip) {
  std::vector<int> table(skip.size());
  std::iota(table.begin(), table.end(), 1);
  const auto device_lengths = loops.upload(lengths), device_skip = loops.upload(skip),
             device_table = loops.upload(table), out = loops.upload(lengths);
  const int rounds = static_cast<int>(lengths.size() / kLanes);
  const Counts counts = loops.backend->run([&] {
    test_kernels::ragged_columns(device_lengths->data(), device_skip->data(), device_table->data(),
                                 out->data(), rounds);
  });
  const Expected expected = expect(lengths, skip, table);
  CHECK(out->values() == expected.sums);
  CHECK(counts.load_requests == expected.load_requests);
  CHECK(counts.load_sectors == expected.load_sectors);
  CHECK(counts.store_requests == rounds);
  CHECK_FALSE(counts.approximate);
}

}  // namespace

TEST_CASE_METHOD(Findings, "loops: lanes that leave out as many iterations, but different ones") {
  std::vector<int> skip(kLanes * 100, 0);
  for (std::size_t lane = 0; lane < kLanes; ++lane) skip[kLanes * lane + lane] = 1;
  check_ragged(*this, std::vector<int>(kLanes, 100), skip);
}

TEST_CASE_METHOD(Findings, "loops: lanes that leave out iterations at random, in a long loop") {
  std::minstd_rand random(1);
  std::vector<int> skip(kLanes * 1000);
  for (int& s : skip) s = random() % 3 == 0;
  check_ragged(*this, std::vector<int>(kLanes, 1000), skip);
}

TEST_CASE_METHOD(Findings,
                 "loops: an inner loop that each lane goes round another number of times, round by round") {
  std::minstd_rand random(2);
  std::vector<int> lengths(kLanes * 50), skip(kLanes * 60);
  for (int& length : lengths) length = static_cast<int>(random() % 60);
  for (int& s : skip) s = random() % 2;
  check_ragged(*this, lengths, skip);
}

TEST_CASE_METHOD(Findings, "loops: lanes that leave at different times") {
  constexpr int kRows = 300;
  std::vector<int> table(kLanes * kRows, 0), rows(kLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    rows[lane] = lane == 7 ? -1 : static_cast<int>(lane * lane % kRows);
    if (lane != 7) table[kLanes * static_cast<std::size_t>(rows[lane]) + lane] = 1;
  }
  const auto device_table = upload(table), out = upload(rows);
  const Counts counts =
      backend->run([&] { test_kernels::search_columns(device_table->data(), 1, out->data(), kRows); });
  CHECK(out->values() == rows);
  long long sectors = 0;
  for (int row = 0; row < kRows; ++row)
    sectors += row_sectors([&](std::size_t lane) { return rows[lane] == -1 || row <= rows[lane]; });
  CHECK(counts.load_requests == kRows);
  CHECK(counts.load_sectors == sectors);
  CHECK_FALSE(counts.approximate);
}

TEST_CASE_METHOD(Findings, "loops: in a function that is not inlined") {
  const auto in = DeviceArray<float>::counting(*backend, kLanes * 500),
             out = DeviceArray<float>::counting(*backend, kLanes);
  const Counts counts = backend->run([&] { test_kernels::sums_out_of_line(in->data(), out->data(), 500); });
  CHECK(counts.load_requests == 500);
  CHECK(counts.load_sectors == 4 * 500);
  CHECK_FALSE(counts.approximate);
}

TEST_CASE_METHOD(Findings, "finding: an element after a __shared__ array, where another begins") {
  const auto out = zeros<float>(kLanes);
  const std::string message =
      finding([&](bool mended) { test_kernels::into_the_next_array(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("out of bounds of an array: kernel into_the_next_array"));
  CHECK_THAT(message,
             ContainsSubstring("thread (31,0,0) of block (0,0,0) uses index 32 of an array of type 'float"));
}

TEST_CASE_METHOD(Findings, "finding: more __shared__ arrays than a kernel can have") {
  const auto out = zeros<float>(kLanes);
  CHECK_THAT(finding([&](bool mended) { test_kernels::large_shared_arrays(out->data(), mended); }),
             ContainsSubstring("53248 bytes in __shared__ arrays: a kernel can declare at most 49152"));
}

TEST_CASE_METHOD(Findings, "finding: a loop without end that touches no memory") {
  const auto out = zeros<unsigned>(kLanes);
  setenv("WORKBOOK_STEPS", "100000", 1);
  const std::string message = finding([&](bool mended) { test_kernels::never_one(out->data(), mended); });
  unsetenv("WORKBOOK_STEPS");
  CHECK_THAT(message, ContainsSubstring("infinite loop: kernel never_one"));
}

TEST_CASE_METHOD(Findings, "finding: more local variables than a thread's stack holds") {
  const auto index = zeros<int>(kLanes);
  const auto out = zeros<float>(kLanes);
  const std::string message =
      finding([&](bool mended) { test_kernels::large_local_array(index->data(), out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("too many local variables: kernel large_local_array"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) needs more than 64 KiB"));
  CHECK_THAT(message, ContainsSubstring("does it belong in shared memory?"));
  CHECK_NOTHROW(backend->run([&] { test_kernels::large_local_array(index->data(), out->data(), true); }));
}

TEST_CASE_METHOD(Findings, "finding: a recursion without end, with its function and line") {
  const auto chain = zeros<int>(kLanes), next = DeviceArray<int>::counting(*backend, kLanes, "next");
  const auto out = zeros<float>(kLanes);
  const std::vector<int> ends(kLanes, -1);
  backend->upload(next->data(), ends.data(), kLanes * sizeof(int));
  const std::string message = finding(
      [&](bool mended) { test_kernels::measure_chain(mended ? next->data() : chain->data(), out->data()); });
  CHECK_THAT(message, ContainsSubstring("too many local variables: kernel measure_chain"));
  CHECK_THAT(message, ContainsSubstring(", in depth() at line " +
                                        std::to_string(kernel_line("loops.cu", "1 + depth(next"))));
  CHECK_THAT(message, ContainsSubstring("depth() calls itself, here "));
  CHECK_THAT(message, ContainsSubstring("does the recursion end?"));
}

TEST_CASE_METHOD(Findings, "finding: the host touches device memory without a copy") {
  const auto out = DeviceArray<float>::counting(*backend, kLanes, "out");
  const std::string message = finding([&](bool mended) { test_kernels::host_writes(out->data(), mended); });
  CHECK_THAT(message,
             ContainsSubstring("device memory touched by the host: host_writes (tests/kernels/loops.cu:"));
  CHECK_THAT(message, ContainsSubstring("reads or writes out[5]"));
  CHECK(out->values()[5] == 1.0f);  // the kernel's; the host's write did not take place
}

}  // namespace test_loops

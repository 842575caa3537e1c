// Optimisers turn loops into calls of memcpy, join neighbouring accesses, and move or copy them across
// branches. The CPU device must count and check the accesses of the source nevertheless.
#include <regex>
#include <string>

#include "catch.hpp"
#include "kernels/compiler.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/kernel_lines.hpp"

namespace test_compiler {
namespace {

namespace test_kernels = cpu::test_kernels;
using workbook::Counts;

/// Requests and sectors of device memory.
void check_global(const Counts& counts, long long loads, long long load_sectors, long long stores,
                  long long store_sectors) {
  CHECK(counts.load_requests == loads);
  CHECK(counts.load_sectors == load_sectors);
  CHECK(counts.store_requests == stores);
  CHECK(counts.store_sectors == store_sectors);
  CHECK_FALSE(counts.approximate);
}

}  // namespace

TEST_CASE_METHOD(Findings, "compiler: a loop that copies is as many loads and stores as it has rounds") {
  const auto in = counting<float>(32 * 24), out = zeros<float>(32 * 24);
  const Counts counts = backend->run([&] { test_kernels::copy_loop(in->data(), out->data(), 24); });
  check_global(counts, 24, 24 * 32, 24, 24 * 32);
  CHECK(out->values() == in->values());
}

TEST_CASE_METHOD(Findings, "compiler: a loop that clears is as many stores as it has rounds") {
  const auto out = counting<float>(32 * 24);
  const Counts counts = backend->run([&] { test_kernels::clear_loop(out->data(), 24); });
  check_global(counts, 0, 0, 24, 24 * 32);
  CHECK(out->values() == std::vector<float>(32 * 24, 0.0f));
}

TEST_CASE_METHOD(Findings, "compiler: a loop that sets every byte alike is as many stores as it has rounds") {
  const auto out = counting<int>(32 * 24);
  const Counts counts = backend->run([&] { test_kernels::fill_loop(out->data(), 24); });
  check_global(counts, 0, 0, 24, 24 * 32);
  CHECK(out->values() == std::vector<int>(32 * 24, -1));
}

TEST_CASE_METHOD(Findings,
                 "compiler: a loop that shifts an array is as many loads and stores as it has rounds") {
  const auto x = counting<float>(24);
  const Counts counts = backend->run([&] { test_kernels::shift_loop(x->data(), 23); });
  check_global(counts, 23, 23, 23, 23);
  CHECK(x->values()[0] == 1.0f);
  CHECK(x->values()[22] == 23.0f);
}

TEST_CASE_METHOD(Findings, "compiler: four stores side by side are four") {
  const auto x = counting<float>(128);
  check_global(backend->run([&] { test_kernels::clear_four(x->data()); }), 0, 0, 4, 4 * 16);
}

TEST_CASE_METHOD(Findings, "compiler: a structure of 64 bytes is copied in four accesses of 16 bytes") {
  const auto in = counting<float>(32 * 16), out = zeros<float>(32 * 16);
  const Counts counts = backend->run([&] { test_kernels::copy_structs(in->data(), out->data()); });
  check_global(counts, 4, 4 * 32, 4, 4 * 32);
  CHECK(out->values() == in->values());
}

TEST_CASE_METHOD(Findings, "compiler: std::memcpy and std::memset of a structure are its accesses") {
  const auto in = counting<float>(32 * 16), out = counting<float>(32 * 16);
  const Counts counts = backend->run([&] { test_kernels::copy_and_clear_structs(in->data(), out->data()); });
  check_global(counts, 4, 4 * 32, 8, 8 * 32);
  CHECK(out->values() == std::vector<float>(32 * 16, 0.0f));
}

TEST_CASE_METHOD(Findings, "compiler: structures of two ints may begin at any multiple of 4") {
  const auto in = counting<int>(65), out = zeros<int>(65);
  CHECK_NOTHROW(backend->run([&] { test_kernels::copy_pairs(in->data() + 1, out->data() + 1); }));
  const auto values = out->values();
  CHECK(values[0] == 0);
  CHECK(values[1] == 1);
  CHECK(values[64] == 64);
}

TEST_CASE_METHOD(Findings, "compiler: bytes that are joined to a number are one load each") {
  const auto in = counting<unsigned char>(128);
  const auto out = zeros<unsigned>(32);
  const Counts counts = backend->run([&] { test_kernels::join_bytes(in->data(), out->data()); });
  check_global(counts, 4, 4 * 4, 1, 4);
  CHECK(out->values()[1] == 0x07060504u);
}

TEST_CASE_METHOD(Findings, "compiler: a load between two branches is one load") {
  const auto in = counting<float>(64), out = zeros<float>(32);
  const Counts counts = backend->run([&] { test_kernels::load_between_branches(in->data(), out->data()); });
  check_global(counts, 2, 8, 1, 4);
  CHECK(out->values()[3] == 3.0f + 35.0f);
}

TEST_CASE_METHOD(Findings, "compiler: stores in two branches are two stores") {
  const auto out = zeros<float>(32);
  check_global(backend->run([&] { test_kernels::store_in_both_branches(out->data()); }), 0, 0, 2, 8);
}

TEST_CASE_METHOD(Findings,
                 "compiler: a product from register tiles loads each element of its tiles by itself") {
  constexpr int size = 64, blocks = (size / 32) * (size / 32), depths = size / 8;
  const auto a = counting<float>(size * size), b = counting<float>(size * size),
             c = zeros<float>(size * size);
  const Counts counts =
      backend->run([&] { test_kernels::register_tiles(a->data(), b->data(), c->data(), size); });
  // For each of the 8 elements along k, a thread loads 8 of a and 4 of b. From a, a warp reads words of 4
  // rows, which are 64 words apart and so in one bank; from b, 8 words 4 apart, which are in 8 banks.
  CHECK(counts.shared_load_wavefronts == blocks * depths * 8 * (8 * 4 + 4 * 1));
  CHECK(counts.shared_store_wavefronts == blocks * depths * 8 * 2);
  CHECK(counts.shared_requests == blocks * depths * (8 * (8 + 4) + 8 * 2));
  CHECK(counts.load_requests == blocks * depths * 8 * 2);
  CHECK(counts.store_requests == blocks * 32);
}

TEST_CASE_METHOD(Findings, "compiler: finding: a loop that copies past the end of an array") {
  const auto in = counting<float>(33, "in"), out = counting<float>(32, "out");
  const std::string message =
      finding([&](bool mended) { test_kernels::copy_too_much(in->data(), out->data(), 32, mended); });
  CHECK_THAT(message, ContainsSubstring("out of bounds: kernel copy_loop"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) writes out[32] at line "));
}

TEST_CASE_METHOD(Findings, "compiler: finding: a structure is copied from past the end of an array") {
  const auto in = counting<float>(32 * 16, "in"), out = counting<float>(33 * 16, "out");
  const std::string message =
      finding([&](bool mended) { test_kernels::copy_struct_too_many(in->data(), out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("out of bounds: kernel copy_structs"));
  CHECK_THAT(message, ContainsSubstring("thread (32,0,0) of block (0,0,0) reads in[512..515] at line "));
}

TEST_CASE_METHOD(Findings,
                 "compiler: finding: a load that may have been merged with that of another branch") {
  const auto in = counting<float>(32, "in"), out = counting<float>(64, "out");
  const std::string message =
      finding([&](bool mended) { test_kernels::load_in_both_branches(in->data(), out->data(), mended); });
  std::smatch found;
  REQUIRE(std::regex_search(message, found, std::regex("reads in\\[32\\] at (or near )?line ([0-9]+)\n")));
  const int line = std::stoi(found[2]), load = kernel_line("compiler.cu", "    value = in[t];");
  if (found[1].matched) {
    CHECK(line >= load - 1);  // the condition
    CHECK(line <= load + 3);  // the store of what was loaded
  } else {
    CHECK(line == load);
  }
}

TEST_CASE_METHOD(Findings, "compiler: finding: the barriers of two branches are two") {
  const auto out = zeros<float>(32);
  const std::string message =
      finding([&](bool mended) { test_kernels::barrier_in_both_branches(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("barrier that not all threads reach"));
}

}  // namespace test_compiler

// The dialect of the CPU device: each function does what CUDA's does, and each mistake with one is found,
// while its correct twin passes.
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "kernels/dialect.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/kernel_lines.hpp"

namespace test_dialect {
namespace {

namespace test_kernels = cpu::test_kernels;

/// "line 17": where `code` stands in the kernels' file.
std::string line_of(const std::string& code) {
  return "line " + std::to_string(kernel_line("dialect.cu", code));
}

/// The lane that a shuffle reads, by the rules of shfl.sync in the PTX manual.
int source_lane(int kind, int lane, int n, int width) {
  const int first = lane / width * width, last = first + width - 1;
  if (kind == 0) return first + (lane + n) % width;
  if (kind == 1) return lane - n < first ? lane : lane - n;
  if (kind == 2) return lane + n > last ? lane : lane + n;
  return (lane ^ n) > last ? lane : lane ^ n;
}

}  // namespace

TEST_CASE_METHOD(
    Findings,
    "dialect: __shfl_sync, __shfl_up_sync, __shfl_down_sync, __shfl_xor_sync: every width and offset") {
  const auto out = zeros<int>(128);
  for (int width = 1; width <= 32; width *= 2)
    for (int n = 0; n < 32; ++n) {
      backend->run([&] { test_kernels::shuffles(out->data(), n, width); });
      const auto values = out->values();
      for (int lane = 0; lane < 32; ++lane)
        for (int kind = 0; kind < 4; ++kind)
          REQUIRE(values[static_cast<std::size_t>(4 * lane + kind)] == source_lane(kind, lane, n, width));
    }
}

TEST_CASE_METHOD(Findings, "dialect: shuffles of 64 bits, double and unsigned long long") {
  const auto out = zeros<double>(64);
  backend->run([&] { test_kernels::wide_shuffles(out->data()); });
  CHECK(out->values()[0] == 0.5);
  CHECK(out->values()[2] == 1.0);
  CHECK(out->values()[1] == 31.0);
}

TEST_CASE_METHOD(Findings, "dialect: __ballot_sync, __any_sync, __all_sync; __syncthreads_count, _and, _or") {
  const auto out = zeros<unsigned>(6 * 64);
  const auto counts = backend->run([&] { test_kernels::votes(out->data()); });
  CHECK(counts.barriers == 3);
  const auto values = out->values();
  CHECK(values[0] == 0x49249249u);
  CHECK(values[6 * 32] == 0x92492492u);
  CHECK(values[1] == 1);
  CHECK(values[2] == 0);
  CHECK(values[3] == 22);
  CHECK(values[4] == 0);
  CHECK(values[5] == 1);
}

TEST_CASE_METHOD(Findings, "dialect: __activemask names the lanes that ask together") {
  const auto out = zeros<unsigned>(32);
  backend->run([&] { test_kernels::active_lanes(out->data()); });
  CHECK(out->values()[0] == 0xfffffu);
  CHECK(out->values()[19] == 0xfffffu);
  CHECK(out->values()[20] == 0);
}

TEST_CASE_METHOD(Findings, "dialect: warp operations of half a warp, in different branches") {
  const auto out = zeros<int>(32);
  backend->run([&] { test_kernels::half_warps(out->data()); });
  CHECK(out->values()[3] == 120);
  CHECK(out->values()[20] == 376);
}

TEST_CASE_METHOD(Findings, "dialect: atomicAdd, atomicMin, atomicMax") {
  const auto out = zeros<int>(12);
  const auto counts = backend->run([&] { test_kernels::atomics(out->data(), 1000, 10); });
  const auto values = out->values();
  for (std::size_t bin = 0; bin < 10; ++bin) CHECK(values[bin] == 100);
  CHECK(values[10] == 0);
  CHECK(values[11] == 999);
  CHECK(counts.contended);
  CHECK(counts.load_requests == 0);
}

TEST_CASE_METHOD(Findings, "dialect: atomics on distinct addresses cost their sectors") {
  const auto out = zeros<float>(1024);
  const auto counts = backend->run([&] { test_kernels::distinct_atomics(out->data(), 1024); });
  CHECK(counts.atomic_sectors == 128);
  CHECK_FALSE(counts.contended);
  CHECK(out->values()[1023] == 1.0f);
}

TEST_CASE_METHOD(Findings, "dialect: atomics on shared memory are no race") {
  const auto in = counting<int>(1000);
  const auto out = zeros<int>(16);
  const auto counts = backend->run([&] { test_kernels::histogram(in->data(), out->data(), 1000); });
  CHECK(counts.barriers == 2 * 4);  // two in each block
  CHECK(out->values()[0] == 63);
  CHECK(out->values()[15] == 62);
}

TEST_CASE_METHOD(Findings, "dialect: the last block adds up, with __threadfence and atomicInc") {
  const auto in = counting<float>(10000);
  const auto partial = zeros<float>(64), sum = zeros<float>(1);
  const auto count = zeros<unsigned>(1);
  for (int run = 0; run < 2; ++run) {
    backend->run([&] {
      test_kernels::last_block_sum(in->data(), partial->data(), sum->data(), count->data(), 10000);
    });
    CHECK(std::fabs(sum->values()[0] - 49995000.0f) <= 16.0f);
    CHECK(count->values()[0] == 0);
  }
}

TEST_CASE_METHOD(Findings, "dialect: __shared__, __syncthreads and shuffles: a reduction") {
  const auto in = counting<float>(512);
  const auto out = zeros<float>(2);
  backend->run([&] { test_kernels::shuffle_sum(in->data(), out->data(), 512); });
  CHECK(out->values()[0] == 32640.0f);
  CHECK(out->values()[1] == 98176.0f);
}

TEST_CASE_METHOD(Findings,
                 "dialect: float2, float4, char4, double2 are copied in one access, float3 in three") {
  constexpr int n = 3072;
  const auto in = counting<float>(n);
  // float2, float3, float4, char4, double2
  const long long requests[] = {n / 64, 3 * n / 96, n / 128, n / 32, n / 128};
  for (int kind = 0; kind < 5; ++kind) {
    const auto out = zeros<float>(n);
    const auto counts = backend->run([&] { test_kernels::copy_vectors(in->data(), out->data(), n, kind); });
    INFO("kind " << kind);
    CHECK(out->values() == in->values());
    CHECK(counts.load_requests == requests[kind]);
    CHECK(counts.store_requests == requests[kind]);
  }
}

TEST_CASE_METHOD(Findings,
                 "dialect: __float2int_rn, __float2int_rz: to even and to zero, saturated, NaN to 0") {
  const int most = 2147483647, least = -most - 1;
  const struct {
    float x;
    int nearest, towards_zero;
  } rows[] = {{0.5f, 0, 0},           {1.5f, 2, 1},
              {2.5f, 2, 2},           {-0.5f, 0, 0},
              {-1.5f, -2, -1},        {3e9f, most, most},
              {-3e9f, least, least},  {NAN, 0, 0},
              {INFINITY, most, most}, {2147483520.0f, 2147483520, 2147483520}};
  std::vector<float> in;
  std::vector<int> expected;
  for (const auto& row : rows) {
    in.push_back(row.x);
    expected.insert(expected.end(), {row.nearest, row.towards_zero});
  }
  const auto device_in = upload(in);
  const auto out = zeros<int>(expected.size());
  backend->run(
      [&] { test_kernels::conversions(device_in->data(), out->data(), static_cast<int>(in.size())); });
  CHECK(out->values() == expected);
}

TEST_CASE_METHOD(Findings, "dialect: memcpy in a kernel is traced") {
  const auto in = counting<float>(64 * 32);
  const auto out = zeros<float>(64 * 32);
  const auto counts = backend->run([&] { test_kernels::copy_blocks(in->data(), out->data(), 32); });
  CHECK(out->values() == in->values());
  CHECK(counts.load_bytes == 32 * 256);
  CHECK(counts.store_bytes == 32 * 256);
}

TEST_CASE_METHOD(Findings, "dialect: volatile: each access in the source is made, and is counted") {
  const auto x = zeros<int>(32), out = zeros<int>(32);
  const auto counts = backend->run([&] { test_kernels::volatile_accesses(x->data(), out->data()); });
  CHECK(counts.load_requests == 2);
  CHECK(counts.store_requests == 3);
  CHECK(out->values()[31] == 4);
}

TEST_CASE_METHOD(Findings, "finding: shared memory is overwritten while others still read it") {
  const auto in = counting<float>(64);
  const auto out = zeros<float>(64);
  const std::string message =
      finding([&](bool mended) { test_kernels::normalise_rows(in->data(), out->data(), 2, mended); });
  CHECK_THAT(message,
             ContainsSubstring("race in shared memory: kernel normalise_rows (tests/kernels/dialect.cu:"));
  CHECK_THAT(message, ContainsSubstring("thread (1,0,0) of block (0,0,0) reads shared[0] at " +
                                        line_of("const float mean = shared[0] / 32;")));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) writes shared[0] at " +
                                        line_of("shared[t] = (x - mean) * (x - mean);")));
  CHECK_THAT(message, ContainsSubstring("__syncwarp()"));  // the block has one warp
}

TEST_CASE_METHOD(Findings, "finding: a warp that does without __syncwarp") {
  const auto in = counting<float>(64);
  const auto out = zeros<float>(1);
  const std::string message =
      finding([&](bool mended) { test_kernels::warp_tail_sum(in->data(), out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("race in shared memory: kernel warp_tail_sum"));
  backend->run([&] { test_kernels::warp_tail_sum(in->data(), out->data(), true); });
  CHECK(out->values()[0] == 2016.0f);
}

TEST_CASE_METHOD(Findings, "finding: device memory that nothing has written is read") {
  DeviceArray<float> in(*backend, 33, "in");
  const auto out = zeros<float>(33);
  const std::vector<float> values(32, 1.0f);
  backend->upload(in.data(), values.data(), 32 * sizeof(float));
  const std::string message =
      finding([&](bool mended) { test_kernels::read_unwritten(in.data(), out->data(), mended ? 32 : 33); });
  CHECK_THAT(message, ContainsSubstring("uninitialised device memory: kernel read_unwritten"));
  CHECK_THAT(message,
             ContainsSubstring("thread (32,0,0) of block (0,0,0) reads in[32], which nothing has written,"));
}

TEST_CASE_METHOD(Findings, "finding: threads of a block race in device memory") {
  const auto x = counting<float>(256, "x"), y = counting<float>(256, "y");
  const std::string message =
      finding([&](bool mended) { test_kernels::shift_in_place(x->data(), y->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("race in device memory: kernel shift_in_place"));
  CHECK_THAT(message, ContainsSubstring("thread (2,0,0) of block (0,0,0) reads x[1] at line "));
  CHECK_THAT(message, ContainsSubstring("thread (1,0,0) of block (0,0,0) writes x[1] at line "));
}

TEST_CASE_METHOD(Findings, "finding: blocks race in device memory") {
  const auto out = zeros<float>(4);
  const std::string message =
      finding([&](bool mended) { test_kernels::one_sum_for_all(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (1,0,0) writes"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) writes array[0] at line "));
  CHECK_THAT(message, ContainsSubstring("which block should write this element?"));
  // Two launches are ordered.
  CHECK_NOTHROW(backend->run([&] { test_kernels::one_sum_for_all(out->data(), true); }));
}

TEST_CASE_METHOD(Findings, "finding: a last block that does not wait for the others") {
  const auto in = counting<float>(1024);
  const auto partial = zeros<float>(4), sum = zeros<float>(1);
  const std::string message = finding_of(
      *backend, [&] { test_kernels::last_block_by_number(in->data(), partial->data(), sum->data()); });
  CHECK_THAT(message, ContainsSubstring("race in device memory: kernel last_block_by_number"));
  CHECK_THAT(message, ContainsSubstring("blocks run in any order"));
}

TEST_CASE_METHOD(Findings, "finding: a thread waits for itself") {
  const auto flag = zeros<int>(1);
  const std::string message = finding_of(*backend, [&] { test_kernels::wait_for_flag(flag->data(), false); });
  CHECK_NOTHROW(backend->run([&] { test_kernels::wait_for_flag(flag->data(), true); }));
  CHECK_THAT(message, ContainsSubstring("deadlock: kernel wait_for_flag"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) polls array[0] at line "));
}

TEST_CASE_METHOD(Findings, "finding: two threads write one byte; neighbouring bytes are no race") {
  const auto out = zeros<signed char>(64);
  const std::string message =
      finding([&](bool mended) { test_kernels::bytes_side_by_side(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("writes s[0]"));
}

TEST_CASE_METHOD(Findings, "no finding: bytes of one word, each behind its own barrier") {
  const auto bytes = zeros<signed char>(4), out = zeros<signed char>(32);
  CHECK_NOTHROW(backend->run([&] { test_kernels::bytes_in_turn(bytes->data(), out->data()); }));
  CHECK(out->values()[31] == 42);
}

TEST_CASE_METHOD(Findings, "finding: threads of a block wait at two barriers") {
  const auto out = zeros<float>(64);
  const std::string message = finding([&](bool mended) { test_kernels::two_barriers(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("barrier that not all threads reach: kernel two_barriers"));
  CHECK_THAT(message, ContainsSubstring("thread (0,0,0) of block (0,0,0) waits at __syncthreads() at line "));
  CHECK_THAT(message,
             ContainsSubstring("thread (16,0,0) of block (0,0,0) waits at __syncthreads() at line "));
}

TEST_CASE_METHOD(Findings, "finding: a lane that is named does not come") {
  const auto out = zeros<int>(32);
  const std::string message = finding([&](bool mended) { test_kernels::missing_lane(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("warp operation that a lane does not reach: kernel missing_lane"));
  CHECK_THAT(message, ContainsSubstring("waits for thread (16,0,0) of block (0,0,0), which has ended"));
}

TEST_CASE_METHOD(Findings, "finding: a lane is not in its own mask") {
  const auto out = zeros<int>(32);
  CHECK_THAT(finding([&](bool mended) { test_kernels::foreign_mask(out->data(), mended); }),
             ContainsSubstring("names the lanes 0x0000ffff at line "));
}

TEST_CASE_METHOD(Findings, "note: a shuffle reads a lane outside the mask, and gets a large number") {
  const auto out = zeros<int>(32);
  backend->run([&] { test_kernels::absent_source(out->data(), true); });
  CHECK(backend->take_notes().empty());
  backend->run([&] { test_kernels::absent_source(out->data(), false); });
  const auto notes = backend->take_notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             ContainsSubstring("note: shuffle from a lane that does not take part: kernel absent_source"));
  CHECK_THAT(notes[0], ContainsSubstring("reads lane 16 at line "));
  CHECK_THAT(notes[0], ContainsSubstring("so the value is undefined"));
  CHECK(std::abs(out->values()[0]) > 10'000'000);
}

TEST_CASE_METHOD(Findings,
                 "note: a value from a lane outside the mask is dropped; where it is used, it shows") {
  for (const int n : {1, 5, 16, 20, 31}) {
    INFO(n);
    const auto in = counting<float>(32), out = zeros<float>(1);
    const auto values = in->values();
    const float sum = std::accumulate(values.begin(), values.begin() + n, 0.0f);
    backend->run([&] { test_kernels::sum_of_some(in->data(), out->data(), n, false); });
    CHECK(out->values()[0] == sum);
    CHECK(backend->take_notes().size() == 1);
    backend->run([&] { test_kernels::sum_of_some(in->data(), out->data(), n, true); });
    CHECK_FALSE(std::fabs(out->values()[0] - sum) < 1);
    CHECK(backend->take_notes().size() == 1);
    backend->run([&] { test_kernels::most_of_some(in->data(), out->data(), n, false); });
    CHECK(out->values()[0] > 1e30f);
    if (n < 31) backend->run([&] { test_kernels::most_of_some(in->data(), out->data(), n, true); });
    if (n < 31) CHECK(out->values()[0] < -1e30f);
    backend->take_notes();
  }
  const auto in = counting<float>(32), out = zeros<float>(1);
  backend->run([&] { test_kernels::sum_of_some(in->data(), out->data(), 32, true); });
  CHECK(backend->take_notes().empty());  // all lanes take part
}

TEST_CASE_METHOD(Findings,
                 "dialect: __shared__ alignas(16), alignas(16) __shared__, __shared__ __align__(16)") {
  const auto out = zeros<float>(8);
  backend->run([&] { test_kernels::aligned_arrays(out->data()); });
  for (int t = 0; t < 8; ++t) CHECK(out->values()[static_cast<std::size_t>(t)] == 12.0f * t + 4);
}

TEST_CASE_METHOD(Findings,
                 "a member of a float4 in memory is a load of its own, a copy of the whole is one") {
  const auto in = counting<float>(128), out = zeros<float>(32);
  const auto requests = [&](int how) {
    return backend->run([&] { test_kernels::sums_of_four(in->data(), out->data(), how); }).load_requests;
  };
  CHECK(requests(0) == 4);  // x4[t].x + ...
  CHECK(requests(1) == 4);  // a const float4&
  CHECK(requests(2) == 1);  // a float4
}

TEST_CASE_METHOD(Findings, "finding: dynamic shared memory is smaller than what is used") {
  const auto out = zeros<float>(64);
  const std::string message =
      finding([&](bool mended) { test_kernels::small_dynamic_shared(out->data(), mended); });
  CHECK_THAT(message, ContainsSubstring("out of bounds of shared memory: kernel small_dynamic_shared"));
  CHECK_THAT(message, ContainsSubstring("writes bytes 128 to 131 of dynamic shared memory at line "));
}

TEST_CASE_METHOD(Findings, "finding: a store to a variable of the program") {
  const auto out = zeros<float>(32);
  CHECK_THAT(finding([&](bool mended) { test_kernels::host_global(out->data(), mended); }),
             ContainsSubstring("not device memory: kernel host_global"));
}

}  // namespace test_dialect

// The rule for passes of shared memory, on patterns whose wavefronts were measured on an H200.
#include "catch.hpp"
#include "cpu_device/memory/wavefronts.hpp"

namespace test_wavefronts {
namespace {

template <class AddressOfLane>
unsigned passes(unsigned size, AddressOfLane address, std::uint32_t mask = 0xffffffffu) {
  cpu::Request request;
  request.mask = mask;
  for (unsigned lane = 0; lane < cpu::kWarpSize; ++lane) request.address[lane] = address(lane);
  return cpu::wavefronts(request, size);
}

}  // namespace

TEST_CASE("32-bit accesses: the most words wanted of one bank") {
  CHECK(passes(4, [](unsigned lane) { return 4 * lane; }) == 1);
  CHECK(passes(4, [](unsigned) { return 64u; }) == 1);
  CHECK(passes(4, [](unsigned lane) { return 8 * lane; }) == 2);
  CHECK(passes(4, [](unsigned lane) { return 128 * lane; }) == 32);
  CHECK(passes(4, [](unsigned lane) { return 132 * lane; }) == 1);
  CHECK(passes(4, [](unsigned lane) { return 4 * (lane / 2); }) == 1);
  CHECK(passes(4, [](unsigned lane) { return 128 * (lane % 2); }) == 2);
  CHECK(passes(1, [](unsigned lane) { return lane; }) == 1);
  CHECK(passes(2, [](unsigned lane) { return 2 * lane; }) == 1);
}

TEST_CASE("64-bit accesses go by half-warps, or at once when lanes pair up") {
  CHECK(passes(8, [](unsigned lane) { return 8 * lane; }) == 2);
  CHECK(passes(8, [](unsigned) { return 0u; }) == 1);
  CHECK(passes(8, [](unsigned lane) { return 8 * (lane / 2); }) == 1);
  CHECK(passes(8, [](unsigned lane) { return 16 * lane; }) == 4);
}

TEST_CASE("128-bit accesses go by quarter-warps, or by half-warps when lanes pair up") {
  CHECK(passes(16, [](unsigned lane) { return 16 * lane; }) == 4);
  CHECK(passes(16, [](unsigned) { return 0u; }) == 2);
  CHECK(passes(16, [](unsigned lane) { return 16 * (lane / 2); }) == 2);
  CHECK(passes(16, [](unsigned lane) { return 32 * lane; }) == 8);
}

TEST_CASE("absent lanes want nothing, and lanes without their partner do not pair up") {
  CHECK(passes(
            4, [](unsigned lane) { return 128 * lane; }, 0x0000000f) == 4);
  CHECK(passes(
            8, [](unsigned lane) { return 8 * lane; }, 0x0000ffff) == 1);
  CHECK(passes(
            4, [](unsigned lane) { return 4 * lane; }, 0) == 0);
  CHECK(passes(
            8, [](unsigned lane) { return 4 * lane; }, 0x55555555) == 2);
  CHECK(passes(
            16, [](unsigned lane) { return 8 * lane; }, 0x55555555) == 4);
  CHECK(passes(
            16, [](unsigned) { return 0u; }, 1) == 1);
}

}  // namespace test_wavefronts

/// \file
/// ldmatrix, and the addresses of shared memory that PTX instructions take.
///
/// A load of four matrices is one request, in which each lane reads the 16 bytes of its row (PTX ISA,
/// "ldmatrix"). Its wavefronts are those of a load of 16 bytes per lane.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu_device/access.hpp"
#include "cpu_device/builtins/trace.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/warp_operations.hpp"

namespace cpu {
namespace {

constexpr unsigned kRows = 8;  // of a matrix, and elements of a row

/// One lane: the row that it reads, and where its elements go.
struct LaneRows {
  std::uint16_t row[kRows];
  unsigned* to;
  int count;
  bool transposed;
};

void exchange(void* const* lanes) {
  const auto of = [&](unsigned lane) { return static_cast<LaneRows*>(lanes[lane]); };
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const LaneRows& lane = *of(l);
    for (unsigned m = 0; m < static_cast<unsigned>(lane.count); ++m) {
      lane.to[m] = 0;
      for (unsigned half = 0; half < 2; ++half) {
        unsigned row = l / 4, column = l % 4 * 2 + half;
        if (lane.transposed) std::swap(row, column);
        lane.to[m] |= static_cast<unsigned>(of(kRows * m + row)->row[column]) << 16 * half;
      }
    }
  }
}

}  // namespace

void load_matrices(unsigned* to, int count, bool transposed, const void* row) {
  refuse_on_host("ldmatrix", CALLER);
  LaneRows lane = {{}, to, count, transposed};
  if (device().thread.lane < kRows * static_cast<unsigned>(count)) {
    trace_access(row, sizeof lane.row, AccessKind::kLoad, CALLER);
    std::memcpy(lane.row, row, sizeof lane.row);
  }
  warp_collective(exchange, &lane, CALLER);
}

size_t shared_offset(const void* address) {
  refuse_on_host("__cvta_generic_to_shared()", CALLER);
  if (const auto offset = device().shared_memory.offset(reinterpret_cast<std::uintptr_t>(address)))
    return *offset;
  stop_launch({"not shared memory",
               fmt::format("  {} asks where {} is in shared memory at {}", running_thread_name(),
                           memory_name(address, 1), place_text(reinterpret_cast<std::uintptr_t>(CALLER))),
               "is it the address of a __shared__ array?"});
}

void* at_shared_offset(size_t offset) {
  refuse_on_host("an address of shared memory", CALLER);
  return reinterpret_cast<void*>(device().shared_memory.address(offset));
}

}  // namespace cpu

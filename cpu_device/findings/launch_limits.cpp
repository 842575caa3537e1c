#include "cpu_device/findings/launch_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cpu_device/findings/finding.hpp"
#include "cpu_device/program_image/symbols.hpp"

namespace cpu {
namespace {

CardLimits limits;

std::string on_card() { return limits.name.empty() ? "" : " on " + limits.name; }

[[noreturn]] void refuse(const Launch& launch, const std::string& what, const char* look_at) {
  throw finding_in(launch.kernel, {"launch refused", "  " + what, look_at});
}

void check_grid(const Launch& launch) {
  const uint3 grid = launch.grid;
  if (std::size_t{grid.x} * grid.y * grid.z == 0)
    refuse(launch, fmt::format("a grid of {} x {} x {} blocks is empty", grid.x, grid.y, grid.z),
           "round the number of blocks up, not down");
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    refuse(launch,
           fmt::format("a grid of {} x {} x {} blocks: the limit is 2147483647 x 65535 x 65535", grid.x,
                       grid.y, grid.z),
           "put the longest dimension into x");
}

void check_block(const Launch& launch) {
  const uint3 block = launch.block;
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMostThreads || block.z > 64)
    refuse(launch,
           fmt::format("a block of {} x {} x {} threads: a block has 1 to {} threads, and z is at most 64",
                       block.x, block.y, block.z, kMostThreads),
           "use more blocks with fewer threads each");
}

void check_shared_memory(const Launch& launch) {
  const std::size_t own = static_shared_bytes(launch.kernel);
  if (own > kMostStaticSharedBytes)
    refuse(launch,
           fmt::format("{} bytes in __shared__ arrays: a kernel can declare at most {}", own,
                       kMostStaticSharedBytes),
           "use smaller tiles, or dynamic shared memory, of which a block can have more");
  if (launch.shared_bytes + own > limits.most_shared_bytes)
    refuse(launch,
           fmt::format("{} bytes of dynamic and {} of static shared memory: a block has at most {}{}",
                       launch.shared_bytes, own, limits.most_shared_bytes, on_card()),
           "use smaller tiles");
}

/// The blocks of a cooperative launch wait for each other, so all must have room.
void check_cooperative(const Launch& launch) {
  const uint3 grid = launch.grid, block = launch.block;
  const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
  const unsigned threads = block.x * block.y * block.z;
  const int each = resident_blocks(launch.kernel, threads, launch.shared_bytes);
  if (!launch.cooperative || blocks <= static_cast<std::size_t>(each * multiprocessors())) return;
  refuse(
      launch,
      fmt::format("a cooperative launch of {} blocks: {} multiprocessors have room for {} each, {} in all{}",
                  blocks, multiprocessors(), each, each * multiprocessors(), on_card()),
      "launch as many blocks as cudaOccupancyMaxActiveBlocksPerMultiprocessor allows, and let each do its "
      "work in a loop. CUDA returns cudaErrorCooperativeLaunchTooLarge");
}

}  // namespace

void check_launch(const Launch& launch) {
  check_grid(launch);
  check_block(launch);
  check_shared_memory(launch);
  check_cooperative(launch);
}

int resident_blocks(const void* kernel, unsigned threads, std::size_t shared_bytes) {
  const std::size_t own = static_shared_bytes(kernel);
  const std::size_t reserved = limits.shared_bytes - limits.most_shared_bytes;
  const std::size_t by_threads = limits.threads / std::max((threads + 31) / 32 * 32, 32u);
  const std::size_t by_memory = limits.shared_bytes / std::max<std::size_t>(own + shared_bytes + reserved, 1);
  return static_cast<int>(std::min({by_threads, by_memory, limits.blocks}));
}

const CardLimits& card_limits() { return limits; }
void set_card_limits(const CardLimits& of_card) { limits = of_card; }
int most_shared_bytes() { return static_cast<int>(limits.most_shared_bytes); }
int multiprocessors() { return limits.multiprocessors; }
int resident_threads() { return static_cast<int>(limits.threads) * limits.multiprocessors; }

}  // namespace cpu

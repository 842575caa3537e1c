#include "play/runtime/device_pieces.hpp"

#include <algorithm>
#include <string_view>

#include "cpu_device/memory/heap.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/segments.hpp"

namespace workbook {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;

/// So many bytes of an array, from byte `at` on.
MemoryPiece piece_of(cpu::Buffer& array, std::size_t at, std::size_t size) {
  const std::size_t first = array.data.begin - array.pages.begin + at;
  const auto written = array.written.groups(first, first + size);
  return {{reinterpret_cast<char*>(array.data.begin + at), size},
          {reinterpret_cast<char*>(written.data()), written.size_bytes()},
          array.shared_with_host};
}

/// A hash for memory that the host may write at any time, and a version for the rest.
std::size_t state_of(const cpu::Buffer& array) {
  if (!array.shared_with_host) return array.version;
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(array.data.begin), array.data.size});
}

std::size_t state_of_constants() {
  const cpu::Region& constants = cpu::program().from_host;
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(constants.begin), constants.size});
}

}  // namespace

std::optional<std::vector<UsedArray>> DevicePieces::used() {
  std::vector<UsedArray> used = {{nullptr, state_of_constants()}};
  for (const auto& array : cpu::memory().buffers()) {
    const bool is_used = array->cold_cache.touched();
    if (array->cold_cache.overlaps() || (is_used && cpu::heap().is_in(*array))) return std::nullopt;
    if (is_used) used.push_back({reinterpret_cast<const void*>(array->data.begin), state_of(*array)});
  }
  return used;
}

bool DevicePieces::is_unchanged(const std::vector<UsedArray>& arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [](const UsedArray& used) {
    if (!used.begin) return used.state == state_of_constants();
    const cpu::Buffer* const array = cpu::memory().owner(reinterpret_cast<std::uintptr_t>(used.begin));
    return array && state_of(*array) == used.state;
  });
}

void DevicePieces::note_write(const MemoryPiece& piece) { cpu::memory().note_write(piece.bytes.data()); }

std::vector<MemoryPiece> DevicePieces::pieces() {
  std::vector<MemoryPiece> pieces;
  for (const auto& array : cpu::memory().buffers())
    for (std::size_t at = 0; at < array->data.size; at += kPiece)
      pieces.push_back(piece_of(*array, at, std::min(kPiece, array->data.size - at)));
  const cpu::Region& constants = cpu::program().from_host;
  pieces.push_back({{reinterpret_cast<char*>(constants.begin), constants.size}, {}, true});
  return pieces;
}

std::size_t DevicePieces::version() { return cpu::memory().version(); }

std::shared_ptr<void> DevicePieces::open() {
  return std::make_shared<cpu::Memory::Access>(cpu::memory(), true);
}

}  // namespace workbook

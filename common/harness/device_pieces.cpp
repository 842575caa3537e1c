#include "harness/device_pieces.hpp"

#include <algorithm>

#include "cpu/memory.hpp"
#include "cpu/program.hpp"

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

}  // namespace

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

/// \file
/// The memory of the CPU device, for Repeats.
#pragma once

#include "play/runtime/repeats.hpp"

namespace workbook {

/// Its arrays, with the bytes that have been written, and the constants that host code has filled.
class DevicePieces : public LaunchMemory {
 public:
  std::optional<std::vector<UsedArray>> used() override;
  bool is_unchanged(const std::vector<UsedArray>& arrays) override;
  void note_write(const MemoryPiece& piece) override;
  std::vector<MemoryPiece> pieces() override;
  std::size_t version() override;
  std::shared_ptr<void> open() override;
};

}  // namespace workbook

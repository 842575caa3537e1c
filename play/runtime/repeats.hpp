/// \file
/// Launches of a program that need not run again, such as those of a benchmark's loop.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "play/program/runtime.hpp"

namespace workbook {

/// Some bytes of the device's memory, and what is known about them.
struct MemoryPiece {
  std::span<char> bytes, known;
  bool can_change;  ///< also while the version stays the same
};
/// An array that a launch has used, and a number that is another one whenever its content may be.
struct UsedArray {
  const void* begin;
  std::size_t state;
};
/// All memory that a kernel can use.
class LaunchMemory {
 public:
  virtual ~LaunchMemory() = default;
  /// The arrays that the last launch has used. Nothing if it has read where it has written, or something that
  /// is no memory: the same launch after it may do something else.
  virtual std::optional<std::vector<UsedArray>> used() = 0;
  virtual bool is_unchanged(const std::vector<UsedArray>& arrays) = 0;
  /// The bytes of a piece have been written.
  virtual void note_write(const MemoryPiece& piece) = 0;
  virtual std::vector<MemoryPiece> pieces() = 0;
  /// Another number whenever pieces that cannot change otherwise may have changed.
  virtual std::size_t version() = 0;
  /// The pieces may be read and written as long as this lives.
  virtual std::shared_ptr<void> open() = 0;
};

/// Knows what launches do to the memory. Kernels have no state but the device's memory. So where the same
/// kernel is launched with the same arguments in the state in which it was launched the last time, it leaves
/// the state that it left then. States are told apart by hashes. A launch that has read nothing that it has
/// written need not run again as long as nobody has written the arrays that it used: of these, only what the
/// host shares is hashed.
class Repeats {
 public:
  explicit Repeats(std::size_t most_bytes = std::size_t{512} << 20) : most_bytes_(most_bytes) {}

  /// Calls `run` for a launch on that GPU, or does to the memory what the launch is known to do. Returns
  /// whether it has called `run`, which returns whether it did something besides changing memory. Without the
  /// bytes of its arguments, each launch runs.
  bool run(const cpu::Launch& launch, const program::Arguments& arguments, int gpu, LaunchMemory& memory,
           const std::function<bool()>& run);

  /// Forgets all launches: the next one of each may not be possible any more.
  void clear();

  /// What the caller keeps about the last launch: those on a GPU of a kernel with the same arguments share
  /// it.
  std::size_t& row() { return last_->row; }

 private:
  struct Known {
    std::size_t row = 0;
    bool has_run = false;
    std::optional<std::vector<UsedArray>> used;  ///< by the last run, where a second one would do the same
    bool is_complete = false;                    ///< whether the rest says all that the last run did
    std::vector<std::size_t> before;             ///< hashes of the memory
    std::vector<std::pair<std::size_t, std::string>> changes;  ///< pieces, and what they became
    std::vector<std::size_t> after;
    std::size_t bytes = 0;  ///< of the changes
  };
  void forget(Known& known);
  void learn(Known& known, std::vector<std::size_t>&& before, LaunchMemory& memory);
  void repeat(const Known& known, LaunchMemory& memory);
  const std::vector<std::size_t>& hashes_of(LaunchMemory& memory);

  const std::size_t most_bytes_;  ///< of the changes of all launches
  std::size_t bytes_ = 0;
  std::map<std::string, Known> known_;
  Known* last_ = nullptr;
  std::vector<std::size_t> hashes_;  ///< of the pieces, when the memory had the version
  std::size_t version_ = 0;
};

}  // namespace workbook

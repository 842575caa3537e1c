#include "play/runtime/repeats.hpp"

#include <algorithm>
#include <string_view>

namespace workbook {
namespace {

/// The launch, its arguments and its GPU, as bytes.
std::string key_of(const cpu::Launch& launch, const program::Arguments& arguments, int gpu) {
  std::string key;
  const auto add = [&](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(launch.kernel);
  for (const cpu::uint3& extent : {launch.grid, launch.block}) {
    add(extent.x);
    add(extent.y);
    add(extent.z);
  }
  add(launch.shared_bytes);
  add(gpu);
  return key.append(static_cast<const char*>(arguments.bytes), arguments.size);
}

/// A hash of a piece: of its place, and of all that is known about its bytes.
std::size_t hash_of(const MemoryPiece& piece) {
  const auto of_bytes = [](std::span<const char> bytes) {
    return std::hash<std::string_view>()({bytes.data(), bytes.size()});
  };
  std::size_t hash = reinterpret_cast<std::size_t>(piece.bytes.data());
  for (const std::size_t more : {piece.bytes.size(), of_bytes(piece.bytes), of_bytes(piece.known)})
    hash = 31 * hash + more;
  return hash;
}

std::string content_of(const MemoryPiece& piece) {
  return std::string(piece.bytes.data(), piece.bytes.size()).append(piece.known.data(), piece.known.size());
}
void set_content(const MemoryPiece& piece, const std::string& content) {
  std::copy_n(content.data(), piece.bytes.size(), piece.bytes.data());
  std::copy_n(content.data() + piece.bytes.size(), piece.known.size(), piece.known.data());
}

}  // namespace

bool Repeats::run(const cpu::Launch& launch, const program::Arguments& arguments, int gpu,
                  LaunchMemory& memory, const std::function<bool()>& run) {
  Known& known = known_[key_of(launch, arguments, gpu)];
  last_ = &known;
  if (!arguments.bytes) {
    run();
    return true;
  }
  if (known.used && memory.is_unchanged(*known.used)) return false;
  if (!known.has_run) {  // most launches are not repeated: the first costs no hash of all memory
    known.has_run = true;
    if (!run()) known.used = memory.used();
    return true;
  }
  std::vector<std::size_t> before = hashes_of(memory);
  if (known.is_complete && known.before == before) {
    repeat(known, memory);
    return false;
  }
  forget(known);
  known.used.reset();
  if (run()) return true;
  known.used = memory.used();
  learn(known, std::move(before), memory);
  return true;
}

void Repeats::clear() {
  known_.clear();
  last_ = nullptr;
  bytes_ = 0;
}

/// The hashes of all pieces, of which only those are computed that may have changed since the last call.
const std::vector<std::size_t>& Repeats::hashes_of(LaunchMemory& memory) {
  const std::vector<MemoryPiece> pieces = memory.pieces();
  const bool is_same = memory.version() == version_ && hashes_.size() == pieces.size();
  hashes_.resize(pieces.size());
  std::shared_ptr<void> open;
  if (!is_same) open = memory.open();
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!is_same || pieces[i].can_change) hashes_[i] = hash_of(pieces[i]);
  open.reset();
  version_ = memory.version();
  return hashes_;
}

/// Does to the memory, whose hashes are those before the launch, what the launch does.
void Repeats::repeat(const Known& known, LaunchMemory& memory) {
  if (known.changes.empty()) return;
  const std::vector<MemoryPiece> pieces = memory.pieces();
  std::shared_ptr<void> open = memory.open();
  for (const auto& [piece, content] : known.changes) {
    set_content(pieces[piece], content);
    memory.note_write(pieces[piece]);
  }
  open.reset();
  hashes_ = known.after;
  version_ = memory.version();
}

void Repeats::forget(Known& known) {
  bytes_ -= known.bytes;
  known.bytes = 0;
  known.changes.clear();
  known.is_complete = false;
}

/// Notes what a launch has done to a memory that had those hashes, if it is not too much.
void Repeats::learn(Known& known, std::vector<std::size_t>&& before, LaunchMemory& memory) {
  known.after = hashes_of(memory);
  if (known.after.size() != before.size()) return;
  const std::vector<MemoryPiece> pieces = memory.pieces();
  const std::shared_ptr<void> open = memory.open();
  for (std::size_t piece = 0; piece < before.size(); ++piece) {
    if (known.after[piece] == before[piece]) continue;
    known.changes.emplace_back(piece, content_of(pieces[piece]));
    const std::size_t bytes = known.changes.back().second.size();
    known.bytes += bytes;
    bytes_ += bytes;
    if (bytes_ > most_bytes_) return forget(known);
  }
  known.before = std::move(before);
  known.is_complete = true;
}

}  // namespace workbook

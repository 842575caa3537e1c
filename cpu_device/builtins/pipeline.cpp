/// \file
/// The asynchronous copies of the dialect (pipeline.hpp).
#include "cpu_device/dialect/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cpu_device/builtins/check_access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/place_names.hpp"

namespace cpu {
namespace {

[[noreturn]] void unsupported_copy(std::uintptr_t instruction, const std::string& what,
                                   const std::string& look_at) {
  stop_launch({"unsupported asynchronous copy",
               fmt::format("  {} {} at {}", running_thread_name(), what, place_text(instruction)), look_at});
}

void check_sizes(std::uintptr_t instruction, size_t bytes, size_t zeros) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
    unsupported_copy(
        instruction, fmt::format("copies {} bytes, {} of them zeros", bytes, zeros),
        "__pipeline_memcpy_async copies 4, 8 or 16 bytes, and zeros replace at most that many of them");
}

[[noreturn]] void wrong_memory(std::uintptr_t instruction, void* to, const void* from, unsigned size) {
  unsupported_copy(instruction,
                   fmt::format("copies from {} to {}", memory_name(from, size), memory_name(to, size)),
                   "__pipeline_memcpy_async copies to shared memory (its first argument) from device memory "
                   "(its second)");
}

}  // namespace

/// The read is taken to happen at the issue. The bytes are moved at once too: a thread that looked at them
/// before the wait would be stopped.
void pipeline_copy(void* to, const void* from, size_t bytes, size_t zeros) {
  refuse_on_host("__pipeline_memcpy_async()", CALLER);
  Device& d = device();
  const auto instruction = reinterpret_cast<std::uintptr_t>(CALLER);
  const auto source = reinterpret_cast<std::uintptr_t>(from), target = reinterpret_cast<std::uintptr_t>(to);
  const auto size = static_cast<unsigned>(bytes), read = static_cast<unsigned>(bytes - zeros);
  d.steps.count_call(instruction);
  check_sizes(instruction, bytes, zeros);
  const auto offset = d.shared_memory.offset(target);
  if (!offset || (read > 0 && !d.launch.is_global(source))) wrong_memory(instruction, to, from, size);
  const Access store = {instruction, target, size, AccessKind::kStore};
  if (source % size != 0) misaligned({instruction, source, size, AccessKind::kLoad}, false);
  if (target % size != 0) misaligned(store, false);

  Site* load = read > 0 ? &check_global(d, {instruction, source, read, AccessKind::kLoad}, size) : nullptr;
  check_shared(d, store, *offset, d.sites.at(instruction, Space::kShared, AccessKind::kStore, size));
  Site& copy = d.sites.at(instruction, Space::kCopy, AccessKind::kLoad, size);
  if (load) copy.buffer = load->buffer;
  log_access(d, copy, packed({source, target, read > 0, read > 0 ? size - read : 0}));
  d.copies.issue(d.thread.number, *offset, size, instruction);
  std::memcpy(to, from, read);
  std::memset(static_cast<char*>(to) + read, 0, zeros);
}

void pipeline_commit() {
  refuse_on_host("__pipeline_commit()", CALLER);
  device().copies.commit(device().thread.number);
}

void pipeline_wait(size_t left) {
  refuse_on_host("__pipeline_wait_prior()", CALLER);
  constexpr size_t kMostLeft = 8;  // cuda_pipeline_primitives.h
  Device& d = device();
  const auto instruction = reinterpret_cast<std::uintptr_t>(CALLER);
  const unsigned thread = d.thread.number;
  d.steps.count_call(instruction);
  // The second of the two writes that a copy counts as. It cannot race with an earlier access: nobody has
  // touched the destination since the first, but for accesses that have got a note.
  for (const AsyncCopy& copy : d.copies.wait(thread, std::min(left, kMostLeft))) {
    const std::uintptr_t target = d.shared_memory.address(copy.offset);
    check_shared(d, {instruction, target, copy.size, AccessKind::kStore}, copy.offset,
                 d.sites.at(instruction, Space::kShared, AccessKind::kStore, copy.size));
  }
}

}  // namespace cpu

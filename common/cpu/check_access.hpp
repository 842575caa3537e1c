/// \file
/// The checks of one access of the running thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/access.hpp"
#include "cpu/access_mistakes.hpp"
#include "cpu/device.hpp"
#include "cpu/heap.hpp"
#include "cpu/memory.hpp"

namespace cpu {

/// Checks an access to device memory and records it in the shadows of its array. Returns its site. `counted`
/// is the size for which the access counts: an asynchronous copy that ends in zeros reads less than it.
inline Site& check_global(Device& device, const Access& access, unsigned counted) {
  BlockState& block = device.block;
  Site& site = block.sites.at(access.instruction, Space::kGlobal, access.kind, counted);
  if (!site.buffer || !site.buffer->data.contains(access.address)) {
    site.buffer = memory().owner(access.address);
    if (!site.buffer || !site.buffer->data.contains(access.address)) out_of_bounds(access);
  }
  Buffer& buffer = *site.buffer;
  if (!buffer.data.contains(access.address + access.size - 1)) out_of_bounds(access);
  if (heap().is_in(buffer)) {
    if (!heap().is_in_use(access.address, access.size)) not_on_heap(access, buffer);
    site.buffer = nullptr;  // so that each access comes here
  }
  const std::size_t offset = access.address - buffer.pages.begin;
  if (access.needs_value() && !buffer.written.has(offset, access.size)) uninitialised_global(access, buffer);
  if (access.kind != AccessKind::kLoad) buffer.written.add(offset, access.size);
  if (!block.races.is_on()) return site;
  block.sites.give_number(site);
  WordHistory* const words = buffer.last_accesses.from(offset / 4, device.launch.number);
  block.races.check(access, false, words, block.thread.number, site.number);
  return site;
}

/// Checks an access to shared memory at that offset.
inline void check_shared(BlockState& block, const Access& access, std::size_t offset, Site& site) {
  if (const AsyncCopy* copy = block.copies.to(offset, access.size)) return copy_in_flight(access, *copy);
  if (access.needs_value() && !block.shared_shadow.has(offset, access.size))
    return uninitialised_shared(access);
  if (access.kind != AccessKind::kLoad) block.shared_shadow.write(offset, access.size);
  if (!block.races.is_on()) return;
  block.sites.give_number(site);
  block.races.check(access, true, block.shared_shadow.from(offset), block.thread.number, site.number);
}

// The usual case of a plain load or store of 4, 8 or 16 bytes, for which nothing is out of line: almost all
// accesses are. These return false where one of the functions above must do the access: it may then have been
// recorded in some of the shadows, where the second time changes nothing.

[[gnu::always_inline]] inline bool check_race_quickly(BlockState& block, const Site& site, WordHistory* words,
                                                      bool shared, unsigned size, AccessKind kind) {
  return site.asked_for_number &&
         block.races.check_quickly(words, shared, size / 4, block.thread.number,
                                   kind == AccessKind::kLoad ? Role::kRead : Role::kWrite, site.number);
}

[[gnu::always_inline]] inline bool check_global_quickly(Device& device, const Site& site,
                                                        std::uintptr_t address, unsigned size,
                                                        AccessKind kind) {
  if (!site.buffer || !site.buffer->data.contains(address, size)) return false;
  Buffer& buffer = *site.buffer;
  const std::size_t offset = address - buffer.pages.begin;
  if (kind == AccessKind::kStore)
    buffer.written.add(offset, size);
  else if (!buffer.written.has(offset, size))
    return false;
  if (!device.block.races.is_on()) return true;
  return buffer.last_accesses.is_of(offset / 4, device.launch.number) &&
         check_race_quickly(device.block, site, buffer.last_accesses.at(offset / 4), false, size, kind);
}

[[gnu::always_inline]] inline bool check_shared_quickly(BlockState& block, const Site& site,
                                                        std::uintptr_t address, unsigned size,
                                                        AccessKind kind) {
  const auto offset = block.shared_memory.offset(address, size);
  if (!offset || block.copies.any_to(*offset, size / 4)) return false;
  if (kind == AccessKind::kStore)
    block.shared_shadow.write_words(*offset, size / 4);
  else if (!block.shared_shadow.has_words(*offset, size / 4))
    return false;
  if (!block.races.is_on()) return true;
  return check_race_quickly(block, site, block.shared_shadow.from(*offset), true, size, kind);
}

/// Checks an access whose instruction has accessed this space before.
[[gnu::always_inline]] inline bool check_quickly(Device& device, const Site& site, std::uintptr_t address,
                                                 unsigned size, AccessKind kind) {
  return site.space == Space::kGlobal   ? check_global_quickly(device, site, address, size, kind)
         : site.space == Space::kShared ? check_shared_quickly(device.block, site, address, size, kind)
                                        : false;
}

/// Adds an access of the running thread to the request that it is part of.
[[gnu::always_inline]] inline void log_access(BlockState& block, Site& site, std::uintptr_t address) {
  block.log.add(site, block.thread.lane, *block.thread.flow, address);
}

}  // namespace cpu

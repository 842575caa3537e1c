/// \file
/// The checks of one access of the running thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/access_mistakes.hpp"
#include "cpu_device/memory/heap.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running/device.hpp"

namespace cpu {

/// Checks an access to device memory and records it in the shadows of its array. Returns its site. `counted`
/// is the size for which the access counts: an asynchronous copy that ends in zeros reads less than it.
inline Site& check_global(Device& device, const Access& access, unsigned counted) {
  Site& site = device.sites.at(access.instruction, Space::kGlobal, access.kind, counted);
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
  if (!device.races.is_on()) return site;
  device.sites.give_number(site);
  WordHistory* const words = buffer.last_accesses.from(offset / 4, device.launch.number);
  device.races.check(access, false, words, device.thread.number, site.number);
  if (device.races.has_open_store()) device.steps.settle_next_store();
  return site;
}

/// Checks an access to shared memory at that offset.
inline void check_shared(Device& device, const Access& access, std::size_t offset, Site& site) {
  if (const AsyncCopy* copy = device.copies.to(offset, access.size)) return copy_in_flight(access, *copy);
  if (access.needs_value() && !device.shared_shadow.has(offset, access.size))
    return uninitialised_shared(access);
  if (access.kind != AccessKind::kLoad) device.shared_shadow.write(offset, access.size);
  if (!device.races.is_on()) return;
  device.sites.give_number(site);
  device.races.check(access, true, device.shared_shadow.from(offset), device.thread.number, site.number);
  if (device.races.has_open_store()) device.steps.settle_next_store();
}

// The usual case of a plain load or store of 4, 8 or 16 bytes, for which nothing is out of line: almost all
// accesses are. These return false where one of the functions above must do the access: it may then have been
// recorded in some of the shadows, where the second time changes nothing.

[[gnu::always_inline]] inline bool check_race_quickly(Device& device, const Site& site, WordHistory* words,
                                                      bool shared, unsigned size, AccessKind kind) {
  return site.asked_for_number &&
         device.races.check_quickly(words, shared, size / 4, device.thread.number,
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
  if (!device.races.is_on()) return true;
  return buffer.last_accesses.is_of(offset / 4, device.launch.number) &&
         check_race_quickly(device, site, buffer.last_accesses.at(offset / 4), false, size, kind);
}

[[gnu::always_inline]] inline bool check_shared_quickly(Device& device, const Site& site,
                                                        std::uintptr_t address, unsigned size,
                                                        AccessKind kind) {
  const auto offset = device.shared_memory.offset(address, size);
  if (!offset || device.copies.any_to(*offset, size / 4)) return false;
  if (kind == AccessKind::kStore)
    device.shared_shadow.write_words(*offset, size / 4);
  else if (!device.shared_shadow.has_words(*offset, size / 4))
    return false;
  if (!device.races.is_on()) return true;
  return check_race_quickly(device, site, device.shared_shadow.from(*offset), true, size, kind);
}

/// Checks an access whose instruction has accessed this space before.
[[gnu::always_inline]] inline bool check_quickly(Device& device, const Site& site, std::uintptr_t address,
                                                 unsigned size, AccessKind kind) {
  return site.space == Space::kGlobal   ? check_global_quickly(device, site, address, size, kind)
         : site.space == Space::kShared ? check_shared_quickly(device, site, address, size, kind)
                                        : false;
}

/// Adds an access of the running thread to the request that it is part of.
[[gnu::always_inline]] inline void log_access(Device& device, Site& site, std::uintptr_t address) {
  device.log.add(site, device.thread.lane, *device.thread.flow, address);
}

}  // namespace cpu

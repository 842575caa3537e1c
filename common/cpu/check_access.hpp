/// \file
/// The checks of one access of the running thread. Inline because every access of every thread comes here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/access.hpp"
#include "cpu/access_mistakes.hpp"
#include "cpu/device.hpp"
#include "cpu/memory.hpp"

namespace cpu {

/// Checks an access to device memory and records it in the shadows of its array. Returns its site. `counted`
/// is the size for which the access counts: an asynchronous copy that ends in zeros reads less than it.
[[gnu::always_inline]] inline Site& check_global(Device& device, const Access& access, unsigned counted) {
  BlockState& block = device.block;
  Site& site = block.sites.at(access.instruction, Space::kGlobal, access.kind, counted);
  if (!site.buffer || !site.buffer->data.contains(access.address)) {
    site.buffer = memory().owner(access.address);
    if (!site.buffer || !site.buffer->data.contains(access.address)) out_of_bounds(access);
  }
  Buffer& buffer = *site.buffer;
  if (!buffer.data.contains(access.address + access.size - 1)) out_of_bounds(access);
  const std::size_t offset = access.address - buffer.pages.begin;
  if (access.kind != AccessKind::kStore && !buffer.written.has(offset, access.size))
    uninitialised_global(access, buffer);
  if (access.kind != AccessKind::kLoad) buffer.written.add(offset, access.size);
  if (!block.races.is_on()) return site;
  if (!site.number) block.sites.give_number(site);
  WordHistory* const words = buffer.last_accesses.from(offset / 4, device.launch.number);
  block.races.check(access, false, words, block.thread.number, site.number);
  return site;
}

/// Checks an access to shared memory at that offset.
[[gnu::always_inline]] inline void check_shared(BlockState& block, const Access& access, std::size_t offset,
                                                Site& site) {
  if (const AsyncCopy* copy = block.copies.to(offset, access.size)) return copy_in_flight(access, *copy);
  if (access.kind != AccessKind::kStore && !block.shared_shadow.has(offset, access.size))
    return uninitialised_shared(access);
  if (access.kind != AccessKind::kLoad) block.shared_shadow.write(offset, access.size);
  if (!block.races.is_on()) return;
  if (!site.number) block.sites.give_number(site);
  block.races.check(access, true, block.shared_shadow.from(offset), block.thread.number, site.number);
}

/// Adds an access of the running thread to the request that it is part of.
[[gnu::always_inline]] inline void log_access(BlockState& block, Site& site, std::uintptr_t address) {
  block.log.add(site, block.thread.lane, *block.thread.flow, address);
}

}  // namespace cpu

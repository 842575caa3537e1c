#include "cpu_device/memory/access_sites.hpp"

#include "cpu_device/program_image/source_line.hpp"

namespace cpu {
namespace {

/// Whether nvcc may merge two loads of one source line.
bool may_merge(const Site& first, const Site& next) {
  return first.size == next.size && first.shared_loads.merges_with(next.shared_loads, first.size) &&
         same_line(first.instruction, next.instruction);
}

}  // namespace

void Sites::begin_launch() {
  for (const auto& [key, site] : sites_) {
    site->buffer = nullptr;
    site->number = 0;
    site->asked_for_number = false;
    if (site->shared_loads.any()) site->shared_loads = {};
  }
  numbered_.clear();
}

Site& Sites::find(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
  auto& site = sites_[key_of(instruction, space, kind, size)];
  if (!site) {
    site = std::make_unique<Site>();
    site->instruction = instruction;
    site->space = space;
    site->kind = kind;
    site->size = size;
  }
  return *site;
}

bool Sites::shared_loads_may_merge() {
  std::vector<const Site*> loads;
  for (const auto& [key, site] : sites_) {
    if (!site->shared_loads.any()) continue;
    if (site->shared_loads.merges_iterations()) return true;
    loads.push_back(site.get());
  }
  for (const Site* first : loads)
    for (const Site* next : loads)
      if (may_merge(*first, *next)) return true;
  return false;
}

std::vector<const Site*> Sites::mergeable_shared_loads() {
  std::vector<const Site*> loads, mergeable;
  for (const auto& [key, site] : sites_) {
    if (!site->shared_loads.any()) continue;
    if (site->shared_loads.merges_iterations()) mergeable.push_back(site.get());
    loads.push_back(site.get());
  }
  for (const Site* first : loads)
    for (const Site* next : loads)
      if (may_merge(*first, *next)) mergeable.insert(mergeable.end(), {first, next});
  return mergeable;
}

void Sites::give_number(Site& site) {
  if (site.asked_for_number) return;
  site.asked_for_number = true;
  if (numbered_.size() == UINT8_MAX) return;
  numbered_.push_back(&site);
  site.number = static_cast<std::uint8_t>(numbered_.size());
}

}  // namespace cpu

#include "cpu/sites.hpp"

namespace cpu {

void Sites::begin_launch() {
  for (const auto& [key, site] : sites_) {
    site->buffer = nullptr;
    site->number = 0;
  }
  numbered_.clear();
}

Site& Sites::find(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
  const std::uintptr_t access = static_cast<unsigned>(space) * 4 + static_cast<unsigned>(kind);
  auto& site = sites_[(instruction * 16 + access) * 32 + size];
  if (!site) {
    site = std::make_unique<Site>();
    site->instruction = instruction;
    site->space = space;
    site->kind = kind;
    site->size = size;
  }
  return *site;
}

void Sites::give_number(Site& site) {
  if (numbered_.size() == UINT8_MAX) return;
  numbered_.push_back(&site);
  site.number = static_cast<std::uint8_t>(numbered_.size());
}

}  // namespace cpu

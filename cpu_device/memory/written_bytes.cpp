#include "cpu_device/memory/written_bytes.hpp"

#include <algorithm>

namespace cpu {

void WrittenBytes::set(std::size_t begin, std::size_t end, bool written) {
  for (std::size_t offset = begin; offset < end;) {
    const auto size = static_cast<unsigned>(std::min(kGroup - offset % kGroup, end - offset));
    const auto bits = static_cast<std::uint16_t>(mask(offset, size));
    std::uint16_t& group = groups_[offset / kGroup];
    group = static_cast<std::uint16_t>(written ? group | bits : group & ~bits);
    offset += size;
  }
}

void WrittenBytes::add(const WrittenBytes& other, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin / kGroup; i < end / kGroup; ++i) groups_[i] |= other.groups_[i];
}

}  // namespace cpu

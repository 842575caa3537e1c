#include "cpu/request_trace.hpp"

#include <fmt/format.h>

#include <utility>

#include "cpu/device.hpp"
#include "cpu/names.hpp"
#include "cpu/source_line.hpp"

namespace cpu {
namespace {

/// The address that a lane accesses; of an asynchronous copy the one that it reads, if it reads any.
std::optional<std::uintptr_t> address_of(const Site& site, const Request& request, unsigned lane) {
  const std::uintptr_t address = request.address[lane];
  if (site.space != Space::kCopy) return address;
  const Copy copy = unpacked_copy(address, site.size);
  return copy.reads ? std::optional(copy.source) : std::nullopt;
}

/// The first address that one of the request's lanes accesses.
std::optional<std::uintptr_t> first_address(const Site& site, const Request& request) {
  for (const unsigned lane : lanes_of(request.mask))
    if (const auto address = address_of(site, request, lane)) return address;
  return std::nullopt;
}

}  // namespace

bool RequestTrace::in_first_warp() {
  return device().block.number == 0 && device().block.thread.number < kWarpSize;
}

workbook::RequestKind kind_of(const Site& site) {
  if (site.space == Space::kCopy) return workbook::RequestKind::kCopy;
  switch (site.kind) {
    case AccessKind::kLoad:
      return workbook::RequestKind::kLoad;
    case AccessKind::kStore:
      return workbook::RequestKind::kStore;
    case AccessKind::kAtomic:
      break;
  }
  return workbook::RequestKind::kAtomic;
}

workbook::MemorySpace space_of(const Site& site) {
  return site.space == Space::kShared ? workbook::MemorySpace::kShared : workbook::MemorySpace::kGlobal;
}

std::optional<workbook::TracedRequest> traced(const Site& site, const Request& request,
                                              const workbook::Counts& cost) {
  const std::optional<std::uintptr_t> first = first_address(site, request);
  if (!first) return std::nullopt;
  const SourceLine& place = source_line(site.instruction);
  const NamedPlace array = array_at(*first);
  const bool shared = site.space == Space::kShared;
  workbook::TracedRequest traced = {.place = fmt::format("{}:{}", place.file, place.line),
                                    .kind = kind_of(site),
                                    .space = space_of(site),
                                    .array = array.name,
                                    .bytes = site.size,
                                    .element = static_cast<unsigned>(array.element_size),
                                    .start = shared ? 0 : static_cast<unsigned>(array.begin % 32),
                                    .offsets = std::vector<long long>(kWarpSize, -1),
                                    .sectors = cost.load_sectors + cost.store_sectors + cost.atomic_sectors,
                                    .wavefronts = cost.shared_load_wavefronts + cost.shared_store_wavefronts};
  // The sector of an element depends on where the array begins; shared memory begins with the array's.
  const std::uintptr_t origin = shared ? array.begin : array.begin / 32 * 32;
  for (const unsigned lane : lanes_of(request.mask))
    if (const auto address = address_of(site, request, lane))
      traced.offsets[lane] = static_cast<long long>(*address - origin);
  return traced;
}

void RequestTrace::add(const Site& site, const Request& request, const workbook::Counts& cost) {
  if (requests_.size() == workbook::kMostTracedRequests) return;
  if (auto kept = traced(site, request, cost)) requests_.push_back(std::move(*kept));
}

std::vector<workbook::TracedRequest> RequestTrace::take() { return std::exchange(requests_, {}); }

}  // namespace cpu

#include <fmt/format.h>

#include <bit>

#include "cpu/device.hpp"
#include "cpu/finding.hpp"

namespace cpu {
namespace {

const char* operation(const Site& site) {
  if (site.space == Space::kCopy) return "copy";
  switch (site.kind) {
    case AccessKind::kLoad:
      return "load";
    case AccessKind::kStore:
      return "store";
    case AccessKind::kAtomic:
      break;
  }
  return "atomic";
}

/// Of an asynchronous copy, the address that it reads.
std::uintptr_t address_of(const Site& site, const Request& request, int lane) {
  const std::uintptr_t address = request.address[lane];
  return site.space == Space::kCopy ? unpacked_copy(address).source : address;
}

}  // namespace

void trace_request(const Site& site, const Request& request, long long sectors, long long wavefronts) {
  auto& requests = device().requests;
  if (requests.size() == workbook::kMostTracedRequests) return;
  const SourceLine& place = source_line(site.instruction);
  const NamedPlace array = array_at(address_of(site, request, std::countr_zero(request.mask)));
  workbook::TracedRequest traced = {.place = fmt::format("{}:{}", place.file, place.line),
                                    .operation = operation(site),
                                    .space = site.space == Space::kShared ? "shared" : "global",
                                    .array = array.name,
                                    .bytes = site.size,
                                    .offsets = std::vector<long long>(kWarpSize, -1),
                                    .sectors = sectors,
                                    .wavefronts = wavefronts};
  // Which sector an address is in depends on where the array lies; shared memory it has for itself.
  const std::uintptr_t origin = site.space == Space::kShared ? array.begin : array.begin / 32 * 32;
  for (std::uint32_t lanes = request.mask; lanes; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    traced.offsets[static_cast<std::size_t>(lane)] =
        static_cast<long long>(address_of(site, request, lane) - origin);
  }
  requests.push_back(std::move(traced));
}

}  // namespace cpu

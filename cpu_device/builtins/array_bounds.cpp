/// \file
/// Indices that an array of known size does not have. The compiler reports them (-fsanitize=bounds); their
/// addresses alone could belong to the next array.
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/device.hpp"

namespace cpu {
namespace {

/// The arguments that the compiler passes to the handler of -fsanitize=bounds, as the sanitizer's runtime
/// declares it (compiler-rt, ubsan_handlers.h).
struct SourceLocation {
  const char* file;
  std::uint32_t line, column;
};
struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t info;  ///< of an integer: bit 0 is set when it is signed, the others are the log of its bits
  char name[1];        ///< with quotes: 'float [256]'
};
struct OutOfBounds {
  SourceLocation location;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

/// The text of an index, of which the compiler passes the bits.
std::string index_text(const TypeDescriptor& type, std::uintptr_t index) {
  const bool is_signed = type.info & 1;
  const unsigned unused = 64 - (1u << (type.info >> 1));
  return is_signed ? fmt::format("{}", static_cast<std::intptr_t>(index << unused) >> unused)
                   : fmt::format("{}", index << unused >> unused);
}

void index_out_of_bounds(const OutOfBounds& where, std::uintptr_t index, const void* return_address) {
  if (!grid_runs) return;
  stop_launch({"out of bounds of an array",
               fmt::format("  {} uses index {} of an array of type {} at {}", running_thread_name(),
                           index_text(*where.index, index), where.array->name,
                           place_text(reinterpret_cast<std::uintptr_t>(return_address))),
               "is the index at least 0 and below the array's size, for every thread and every block size?"});
}

}  // namespace
}  // namespace cpu

extern "C" void __ubsan_handle_out_of_bounds(void* where, unsigned long index) {
  cpu::index_out_of_bounds(*static_cast<const cpu::OutOfBounds*>(where), index, CALLER);
}

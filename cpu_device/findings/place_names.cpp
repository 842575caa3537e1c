#include "cpu_device/findings/place_names.hpp"

#include <fmt/format.h>

#include "cpu_device/coordinates.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/memory/shared_memory.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/program_image/symbols.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {

static std::string thread_text(const uint3& t, const uint3& block) {
  return fmt::format("thread ({},{},{}) of block ({},{},{})", t.x, t.y, t.z, block.x, block.y, block.z);
}

std::string thread_name(unsigned thread) {
  const Running& r = running();
  return thread_text(coordinates(thread, r.launch.block), r.block.index) +
         (r.gpu_launches ? fmt::format(" of GPU {}", r.gpu) : "");
}

std::string grid_thread_name(std::uint32_t thread) {
  const LaunchState& launch = running().launch;
  const unsigned in_block = thread % launch.numbers_per_block, block = thread / launch.numbers_per_block;
  const GpuLaunches* const launches = running().gpu_launches;
  if (!launches) return thread_text(coordinates(in_block, launch.block), coordinates(block, launch.grid));
  const GpuLaunch& of = launches->of_block(block);
  return thread_text(coordinates(in_block, of.block), coordinates(block - of.first_block, of.grid)) +
         fmt::format(" of GPU {}", of.gpu);
}

std::string running_thread_name() { return thread_name(running().thread.number); }

std::string place_text(const std::string& file, int line) {
  const std::string name = tidy_name(file);
  if (name == function_at(running().launch.kernel).file) return fmt::format("line {}", line);
  return fmt::format("{}:{}", name, line);
}

std::string place_text(std::uintptr_t instruction) {
  const SourceLine place = source_line(instruction);
  return (place.is_near ? "or near " : "") + place_text(place.file, place.line);
}

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kLoad:
      return "reads";
    case AccessKind::kStore:
      return "writes";
    case AccessKind::kAtomic:
      break;
  }
  return "updates";
}

std::string global_name(const Buffer& buffer, std::uintptr_t address, unsigned size) {
  const auto offset = static_cast<std::intptr_t>(address - buffer.data.begin);
  const auto element = static_cast<std::intptr_t>(buffer.element_size);
  const std::intptr_t first = (offset - (offset < 0 ? element - 1 : 0)) / element;
  if (size <= buffer.element_size) return fmt::format("{}[{}]", buffer.name, first);
  return fmt::format("{}[{}..{}]", buffer.name, first,
                     first + static_cast<std::intptr_t>(size) / element - 1);
}

std::string shared_name(std::uintptr_t address, unsigned size) {
  const NamedPlace array = array_at(address);
  return fmt::format("{}[{}]", array.name, (address - array.begin) / size);
}

std::string memory_name(const void* pointer, unsigned size) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (shared_memory().offset(address)) return shared_name(address, size);
  const Buffer* buffer = memory().nearest(address);
  return buffer && running().launch.is_global(address) ? global_name(*buffer, address, size)
                                                       : fmt::format("address {:#x}", address);
}

NamedPlace array_at(std::uintptr_t address) {
  const SharedMemory& shared = shared_memory();
  if (shared.dynamic().contains(address)) return {"dynamic shared memory", shared.dynamic().begin};
  if (shared.statics().contains(address)) {
    const ThreadLocalVariable variable = thread_local_variable(address - shared.statics().begin);
    return {variable.name, address - variable.offset};
  }
  const Buffer* buffer = memory().owner(address);
  return {buffer->name, buffer->data.begin, buffer->element_size};
}

}  // namespace cpu

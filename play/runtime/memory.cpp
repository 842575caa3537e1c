#include "play/runtime/memory.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "cpu_device/access.hpp"
#include "cpu_device/memory/memory.hpp"
#include "play/runtime/gpus.hpp"
#include "play/runtime/graphs.hpp"
#include "play/runtime/session.hpp"
#include "system/plural.hpp"

namespace program {

using workbook::plural;
using workbook::session;

namespace {

/// The array that an address of device memory is in or near; null where it is the host's, as behind a
/// variable of the device.
const cpu::Buffer* array_of(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const bool in_arena = cpu::memory().arena().contains(number);
  if (!in_arena && !cpu::memory().adopted().contains(number) && !cpu::memory().near_host_array(number))
    return nullptr;
  const cpu::Buffer* array = cpu::memory().nearest(number);
  return in_arena || (array && array->data.contains(number)) ? array : nullptr;
}

}  // namespace

void require_inside(const char* call, const char* does, const void* address, size_t bytes,
                    const void* caller) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  if (const std::string* name = cpu::memory().released_at(begin))
    refuse_call("freed memory", fmt::format("{} {} {}, which has been freed", call, does, *name),
                "is cudaFree called too early, or the pointer used too late?", caller);
  const cpu::Buffer* array = array_of(address);
  if (!array || bytes == 0) return;
  const cpu::Region& data = array->data;
  if (begin >= data.begin && begin + bytes <= data.begin + data.size) return;
  const long long offset = static_cast<long long>(begin - data.begin);
  refuse_call(
      "copy out of bounds",
      fmt::format("{} {} {} of {}{}, which has {}", call, does, plural(static_cast<long long>(bytes), "byte"),
                  array->name, offset ? fmt::format(" from byte {} on", offset) : "",
                  plural(static_cast<long long>(data.size), "byte")),
      "are the sizes in bytes, and those of the allocation?", caller);
}

cudaError_t allocate_named(void** address, size_t bytes, const char* name, size_t element_size, int gpu) {
  const auto lock = use_device("an allocation");
  if (session->backend->footprint(bytes) > session->backend->free_bytes())
    return workbook::last_error = cudaErrorMemoryAllocation;
  *address = session->backend->allocate(bytes, 0, name, element_size, gpu);
  session->arrays[*address] = name;
  return cudaSuccess;
}

void release(const char* call, void* address, const Place& place) {
  const auto lock = lock_device();
  if (!address || !session) return;
  if (session->arrays.erase(address) == 0) {
    const std::string* name = cpu::memory().released_at(reinterpret_cast<std::uintptr_t>(address));
    refuse_call("wrong free",
                name ? fmt::format("{} frees {}, which has been freed before", call, *name)
                     : fmt::format("{} gets an address that no allocation has returned", call),
                "is it the pointer from cudaMalloc, unchanged, and freed once?", place);
  }
  if (!give_back(address)) session->backend->release(address);
}

bool is_allocated(void* address) { return session->arrays.contains(address); }
void set_allocated(void* address, const std::string& name, bool allocated) {
  if (allocated)
    session->arrays[address] = name;
  else
    session->arrays.erase(address);
}

void copy_bytes(const char* call, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                const void* caller) {
  if (bytes == 0) return;
  const auto lock = use_device("a copy");
  show_variables_of(current_gpu());
  require_inside(call, "writes", to, bytes, caller);
  require_inside(call, "reads", from, bytes, caller);
  const cpu::Buffer *target = array_of(to), *source = array_of(from);
  const auto only_device = [](const cpu::Buffer* array) { return array && !array->shared_with_host; };
  const bool wants_device_source = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool wants_device_target = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault) {
    const auto check_side = [&](const char* side, const cpu::Buffer* array, bool wants_device) {
      if (wants_device ? array != nullptr : !only_device(array)) return;
      refuse_call(
          "wrong direction of a copy",
          fmt::format("{}: its {} is {}, but its last argument says {} memory", call, side,
                      array ? fmt::format("{} in device memory", array->name) : "host memory",
                      wants_device ? "device" : "host"),
          "does the last argument name the direction, and do the first two come in the order (to, from)?",
          caller);
    };
    check_side("source", source, wants_device_source);
    check_side("destination", target, wants_device_target);
  }
  const cpu::Memory::Access open(cpu::memory(), true);
  std::memmove(to, from, bytes);
  if (target) cpu::memory().set_initialised(to, bytes, true);
}

void copy_box(const char* call, const cudaMemcpy3DParms& copy, const void* caller) {
  if (copy.srcArray || copy.dstArray)
    refuse_call("not supported", fmt::format("{} copies from or to a cudaArray", call),
                "textures are not supported: use memory from cudaMalloc", caller);
  const auto row = [](const cudaPitchedPtr& box, const cudaPos& at, size_t y, size_t z) {
    return static_cast<char*>(box.ptr) + ((at.z + z) * box.ysize + at.y + y) * box.pitch + at.x;
  };
  for (size_t z = 0; z < copy.extent.depth; ++z)
    for (size_t y = 0; y < copy.extent.height; ++y)
      copy_bytes(call, row(copy.dstPtr, copy.dstPos, y, z), row(copy.srcPtr, copy.srcPos, y, z),
                 copy.extent.width, copy.kind, caller);
}

/// The copy that cudaMemcpy2D() describes.
static cudaMemcpy3DParms plane(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                               size_t height, cudaMemcpyKind kind) {
  return {.srcArray = nullptr,
          .srcPos = {},
          .srcPtr = {const_cast<void*>(from), from_pitch, width, height},
          .dstArray = nullptr,
          .dstPos = {},
          .dstPtr = {to, to_pitch, width, height},
          .extent = {width, height, 1},
          .kind = kind};
}

void fill_rows(const char* call, const cudaMemsetParams& fill, const void* caller) {
  const auto lock = use_device("a memset");
  show_variables_of(current_gpu());
  std::vector<char> row(fill.width * fill.elementSize);
  for (size_t i = 0; i < fill.width; ++i)
    std::memcpy(&row[i * fill.elementSize], &fill.value, fill.elementSize);
  for (size_t y = 0; y < fill.height; ++y) {
    char* const to = static_cast<char*>(fill.dst) + y * fill.pitch;
    require_inside(call, "writes", to, row.size(), caller);
    if (!array_of(to) && !row.empty())
      refuse_call("not device memory", fmt::format("{} gets an address of host memory", call),
                  "is it the pointer that cudaMalloc has set?", caller);
    session->backend->upload(to, row.data(), row.size());
  }
}

cudaError_t allocate(void** address, size_t bytes, const char* name, size_t element_size) {
  require_no_capture("cudaMalloc",
                     "allocate before cudaStreamBeginCapture, or capture with cudaStreamCaptureModeRelaxed",
                     CALLER, true);
  return allocate_named(address, bytes, name, element_size, current_gpu());
}
cudaError_t allocate_managed(void** address, size_t bytes, const char* name, size_t element_size) {
  const auto lock = use_device("an allocation");
  const cudaError_t error = allocate_named(address, bytes, name, element_size, current_gpu());
  if (error == cudaSuccess) cpu::memory().share_with_host(*address);
  return error;
}

cudaError_t register_host(void* memory, size_t bytes, const char* name, size_t element_size) {
  const auto lock = use_device("cudaHostRegister");
  if (bytes == 0) return cudaErrorInvalidValue;
  if (!cpu::memory().add_host_array({reinterpret_cast<std::uintptr_t>(memory), bytes}, name, element_size))
    refuse_call("not supported",
                fmt::format("cudaHostRegister gets {}, which shares a page of 4096 bytes with another array "
                            "that kernels may use",
                            name),
                "allocate it with aligned_alloc(4096, ...) or cudaMallocHost, and register it once", CALLER);
  return cudaSuccess;
}
void* mapped(void* host) {
  const auto lock = use_device("cudaHostGetDevicePointer");
  const cpu::Buffer* const array = array_of(host);
  if (!array || !array->shared_with_host)
    refuse_call("not mapped", "cudaHostGetDevicePointer gets memory that kernels cannot use",
                "is it from cudaHostAlloc, cudaMallocHost or cudaMallocManaged, or registered with "
                "cudaHostRegister before?",
                CALLER);
  return host;
}

}  // namespace program

cudaError_t cudaFree(void* device) {
  program::release("cudaFree", device, CALLER);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* host) {
  program::release("cudaFreeHost", host, CALLER);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* host) {
  const auto lock = program::use_device("cudaHostUnregister");
  if (!cpu::memory().remove_host_array(host))
    program::refuse_call("wrong free", "cudaHostUnregister gets memory that is not registered",
                         "is it the address that cudaHostRegister got, and given once?", CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  program::require_default_stream("cudaMemcpy", CALLER);
  program::copy_bytes("cudaMemcpy", to, from, bytes, kind, CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const char* const call = "cudaMemcpyAsync";
  const void* const caller = CALLER;
  program::enqueue(
      call, stream, cudaGraphNodeTypeMemcpy,
      [=] { program::copy_bytes(call, to, from, bytes, kind, caller); }, caller);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  program::require_default_stream("cudaMemcpy2D", CALLER);
  program::copy_box("cudaMemcpy2D", program::plane(to, to_pitch, from, from_pitch, width, height, kind),
                    CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const char* const call = "cudaMemcpy2DAsync";
  const void* const caller = CALLER;
  program::enqueue(
      call, stream, cudaGraphNodeTypeMemcpy,
      [=, copy = program::plane(to, to_pitch, from, from_pitch, width, height, kind)] {
        program::copy_box(call, copy, caller);
      },
      caller);
  return cudaSuccess;
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  program::require_default_stream("cudaMemcpy3D", CALLER);
  program::copy_box("cudaMemcpy3D", *copy, CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* device, int value, size_t bytes) {
  program::require_default_stream("cudaMemset", CALLER);
  program::fill_rows("cudaMemset", {device, 0, static_cast<unsigned>(value), 1, bytes, 1}, CALLER);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* device, int value, size_t bytes, cudaStream_t stream) {
  const char* const call = "cudaMemsetAsync";
  const cudaMemsetParams fill = {device, 0, static_cast<unsigned>(value), 1, bytes, 1};
  const void* const caller = CALLER;
  program::enqueue(
      call, stream, cudaGraphNodeTypeMemset, [=] { program::fill_rows(call, fill, caller); }, caller);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* all_bytes) {
  const auto lock = program::use_device("cudaMemGetInfo");
  *free_bytes = *all_bytes = workbook::session->backend->free_bytes();
  return cudaSuccess;
}

#include "play/runtime/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cpu_device/access.hpp"
#include "cpu_device/memory/heap.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/segments.hpp"

namespace program {
namespace {

int gpus = 1;
thread_local int current = 0;
/// A GPU, and another one whose memory it may use. Never destroyed, for calls after main.
auto& accesses = *new std::set<std::pair<int, int>>;
std::size_t accesses_lost = 0;

/// The variables of all GPUs but the one whose variables are in their places.
struct Variables {
  int shown = 0;
  std::vector<std::vector<std::string>> of_gpu;  ///< the parts of the program that hold variables
};
Variables variables;

std::string content_of(const cpu::Region& part) {
  return std::string(reinterpret_cast<const char*>(part.begin), part.size);
}

bool is_accessible(const cpu::Buffer& array, int gpu) {
  const int its = static_cast<int>(array.gpu);
  if (its == gpu || array.shared_with_host || cpu::heap().is_in(array)) return true;
  const auto from_pool = pool_allows(reinterpret_cast<const void*>(array.data.begin), gpu);
  return from_pool.value_or(accesses.contains({gpu, its}));
}

}  // namespace

void make_gpus(int count) {
  gpus = count;
  if (count == 1) return;
  std::vector<std::string> first;
  for (const cpu::Region& part : cpu::program().of_each_gpu) first.push_back(content_of(part));
  variables.of_gpu.assign(static_cast<std::size_t>(count), first);
}
bool is_gpu(int number) { return number >= 0 && number < gpus; }
int current_gpu() { return current; }

std::function<void()> on_current_gpu(std::function<void()> work) {
  return [gpu = current, work = std::move(work)] {
    const int before = std::exchange(current, gpu);
    work();
    current = before;
  };
}

void show_variables_of(int gpu) {
  if (gpu == variables.shown) return;
  auto& hidden = variables.of_gpu[static_cast<std::size_t>(variables.shown)];
  const auto& wanted = variables.of_gpu[static_cast<std::size_t>(gpu)];
  const std::vector<cpu::Region> parts = cpu::program().of_each_gpu;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    hidden[i] = content_of(parts[i]);
    std::copy(wanted[i].begin(), wanted[i].end(), reinterpret_cast<char*>(parts[i].begin));
  }
  variables.shown = gpu;
}

std::size_t lost_accesses() { return accesses_lost; }
void note_lost_access() { ++accesses_lost; }

void require_access(int gpu, const Place& launch) {
  for (const auto& array : cpu::memory().buffers())
    if (array->cold_cache.touched() && !is_accessible(*array, gpu))
      refuse_call(
          "memory of another GPU",
          fmt::format("a kernel on GPU {} uses {}, which is in the memory of GPU {}", gpu, array->name,
                      array->gpu),
          fmt::format("should cudaSetDevice choose another GPU before the launch, or before the "
                      "allocation? If not, call cudaDeviceEnablePeerAccess({}, 0) while GPU {} is the "
                      "current one; a memory pool wants cudaMemPoolSetAccess instead, and a graph's node for "
                      "memory accessDescs",
                      array->gpu, gpu),
          launch);
}

}  // namespace program

using namespace program;

cudaError_t cudaSetDevice(int device) {
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = gpus;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_gpu(device) || !is_gpu(peer)) return cudaErrorInvalidDevice;
  *can = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  if (!is_gpu(device) || !is_gpu(peer) || device == peer) return cudaErrorInvalidDevice;
  *value = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  if (!is_gpu(peer) || peer == current) return cudaErrorInvalidDevice;
  const auto lock = use_device("cudaDeviceEnablePeerAccess");
  return accesses.insert({current, peer}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const auto lock = use_device("cudaDeviceDisablePeerAccess");
  if (accesses.erase({current, peer}) == 0) return cudaErrorPeerAccessNotEnabled;
  note_lost_access();
  return cudaSuccess;
}

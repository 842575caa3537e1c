#include "play/program/pools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cpu_device/access.hpp"
#include "cpu_device/memory/memory.hpp"
#include "play/runtime/gpus.hpp"
#include "play/runtime/graphs.hpp"
#include "play/runtime/memory.hpp"

struct CUmemPoolHandle_st {
  int gpu = 0;           ///< whose memory it is
  std::set<int> others;  ///< GPUs that may access it
  std::uint64_t release_threshold = 0, used = 0, used_high = 0;
  int reuse[3] = {1, 1, 1};  ///< of memory that was freed, for the first three attributes; it is not reused
  /// What CUDA would keep: freed memory is given back at the next wait, but for the threshold.
  std::uint64_t reserved() const { return std::max(used, std::min(release_threshold, used_high)); }
};

namespace program {
namespace {

/// An array of a graph keeps its address, and its memory, until the program ends. It is allocated from one of
/// the graph's nodes to another.
struct GraphArray {
  std::string name;
  std::size_t bytes;
  int gpu;               ///< whose memory it is
  std::set<int> others;  ///< GPUs that may access it
};

struct Pools {
  std::list<CUmemPoolHandle_st> all;                              // handles stay valid
  std::map<int, cudaMemPool_t> defaults, chosen;                  ///< of each GPU that a call has named
  std::map<void*, std::pair<cudaMemPool_t, std::size_t>> arrays;  ///< that are allocated, with their bytes
  std::map<void*, GraphArray> of_graphs;
  std::map<int, CUmemPoolHandle_st> graphs;  ///< what the arrays of graphs use on each GPU
};
Pools& pools() {  // never destroyed, for calls after main
  static auto& all = *new Pools;
  return all;
}

cudaMemPool_t new_pool(int gpu) {
  const auto lock = lock_device();
  pools().all.emplace_back().gpu = gpu;
  return &pools().all.back();
}
cudaMemPool_t default_pool(int gpu) {
  const auto lock = lock_device();
  cudaMemPool_t& pool = pools().defaults[gpu];
  if (!pool) pool = new_pool(gpu);
  return pool;
}
/// That of cudaMallocAsync().
cudaMemPool_t chosen_pool(int gpu) {
  const auto lock = lock_device();
  const auto found = pools().chosen.find(gpu);
  return found == pools().chosen.end() ? default_pool(gpu) : found->second;
}

void use(void* address, cudaMemPool_t pool, std::size_t bytes) {
  const auto lock = lock_device();
  pools().arrays[address] = {pool, bytes};
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
}

/// Allocates an array that is there once the work that this returns has been done.
std::function<void()> allocate_for_graph(const char* call, void** address, const GraphArray& wanted,
                                         std::size_t element_size, const Place& place) {
  const auto lock = use_device(call);
  if (allocate_named(address, wanted.bytes, wanted.name.c_str(), element_size, wanted.gpu) != cudaSuccess)
    refuse_call("out of memory", fmt::format("{} finds no {} bytes for a graph", call, wanted.bytes),
                "smaller sizes, with --set?", place);
  void* const array = *address;
  set_allocated(array, wanted.name, false);
  pools().of_graphs.insert_or_assign(array, wanted);
  return [=, name = wanted.name, bytes = wanted.bytes, pool = &pools().graphs[wanted.gpu]] {
    const auto in_use = use_device(call);
    if (is_allocated(array))
      refuse_call("array allocated twice",
                  fmt::format("a graph is launched again, and {} has not been freed since", name),
                  "free it in the graph, or between the launches", place);
    set_allocated(array, name, true);
    use(array, pool, bytes);
    cpu::memory().set_initialised(array, bytes, false);
  };
}

}  // namespace

bool give_back(void* address) {
  const auto lock = lock_device();
  const auto found = pools().arrays.find(address);
  if (found == pools().arrays.end()) return false;
  found->second.first->used -= found->second.second;
  pools().arrays.erase(found);
  const auto array = pools().of_graphs.find(address);
  if (array == pools().of_graphs.end()) return false;
  cpu::memory().set_initialised(address, array->second.bytes, false);
  return true;
}

cudaError_t allocate_in_stream(void** address, size_t bytes, const char* name, size_t element_size,
                               cudaMemPool_t pool, cudaStream_t stream) {
  const char* const call = "cudaMallocAsync";
  const auto lock = use_device(call);
  if (!pool) pool = chosen_pool(gpu_of(stream));
  if (is_captured(stream)) {  // the array keeps the access that the pool gives now
    const GraphArray wanted = {name, bytes, pool->gpu, pool->others};
    enqueue(call, stream, cudaGraphNodeTypeMemAlloc,
            allocate_for_graph(call, address, wanted, element_size, CALLER), CALLER);
    return cudaSuccess;
  }
  const cudaError_t error = allocate_named(address, bytes, name, element_size, pool->gpu);
  if (error == cudaSuccess) use(*address, pool, bytes);
  return error;
}

std::optional<bool> pool_allows(const void* array, int gpu) {
  const auto of_graph = pools().of_graphs.find(const_cast<void*>(array));
  if (of_graph != pools().of_graphs.end())
    return of_graph->second.gpu == gpu || of_graph->second.others.contains(gpu);
  const auto found = pools().arrays.find(const_cast<void*>(array));
  if (found == pools().arrays.end()) return std::nullopt;
  const CUmemPoolHandle_st& pool = *found->second.first;
  return pool.gpu == gpu || pool.others.contains(gpu);
}

}  // namespace program

using namespace program;

cudaError_t cudaFreeAsync(void* device, cudaStream_t stream) {
  const void* const caller = CALLER;
  enqueue(
      "cudaFreeAsync", stream, cudaGraphNodeTypeMemFree, [=] { release("cudaFreeAsync", device, caller); },
      caller);
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  const bool of_gpu = properties->location.type == cudaMemLocationTypeDevice;
  if (of_gpu && !is_gpu(properties->location.id)) return cudaErrorInvalidDevice;
  *pool = new_pool(of_gpu ? properties->location.id : current_gpu());
  return cudaSuccess;
}
/// Gives GPUs access to memory, or takes it from them.
static cudaError_t set_accesses(std::set<int>& others, const cudaMemAccessDesc* accesses, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int gpu = accesses[i].location.id;
    if (!is_gpu(gpu)) return cudaErrorInvalidDevice;
    if (accesses[i].flags != cudaMemAccessFlagsProtNone)
      others.insert(gpu);
    else if (others.erase(gpu) != 0)
      note_lost_access();
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses, size_t count) {
  const auto lock = lock_device();
  return set_accesses(pool->others, accesses, count);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  *pool = default_pool(device);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  *pool = chosen_pool(device);
  return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  const auto lock = lock_device();
  pools().chosen[device] = pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  cuuint64_t& bytes = *static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return bytes = pool->release_threshold, cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
      return bytes = pool->reserved(), cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      return bytes = pool->used_high, cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent:
      return bytes = pool->used, cudaSuccess;
    default:
      return *static_cast<int*>(value) = pool->reuse[attribute - 1], cudaSuccess;
  }
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return pool->release_threshold = *static_cast<cuuint64_t*>(value), cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:  // to 0: from here on
      return pool->used_high = pool->used, cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      return cudaErrorInvalidValue;
    default:
      return pool->reuse[attribute - 1] = *static_cast<int*>(value), cudaSuccess;
  }
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     size_t count, cudaMemAllocNodeParams* array) {
  const char* const call = "cudaGraphAddMemAllocNode";
  const cudaMemLocation& location = array->poolProps.location;
  const bool of_gpu = location.type == cudaMemLocationTypeDevice;
  if (of_gpu && !is_gpu(location.id)) return cudaErrorInvalidDevice;
  GraphArray wanted = {"array of a graph", array->bytesize, of_gpu ? location.id : current_gpu(), {}};
  if (const cudaError_t error = set_accesses(wanted.others, array->accessDescs, array->accessDescCount))
    return error;
  return add_checked(call, node, graph, before, count, cudaGraphNodeTypeMemAlloc,
                     allocate_for_graph(call, &array->dptr, wanted, 1, CALLER), CALLER);
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                    size_t count, void* device) {
  const char* const call = "cudaGraphAddMemFreeNode";
  const void* const caller = CALLER;
  return add_checked(
      call, node, graph, before, count, cudaGraphNodeTypeMemFree, [=] { release(call, device, caller); },
      caller);
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  const auto lock = lock_device();
  cuuint64_t& bytes = *static_cast<cuuint64_t*>(value);
  const CUmemPoolHandle_st& used = pools().graphs[device];
  bytes = attribute == cudaGraphMemAttrUsedMemCurrent ? used.used : used.used_high;
  if (attribute == cudaGraphMemAttrReservedMemCurrent) bytes = used.reserved();
  return cudaSuccess;
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*) {
  if (!is_gpu(device)) return cudaErrorInvalidDevice;
  const auto lock = lock_device();
  CUmemPoolHandle_st& used = pools().graphs[device];
  used.used_high = used.used;
  return cudaSuccess;
}

/// \file
/// What nvcc declares before the first line of a CUDA file, for files with a `main` of their own,
/// which the command "play" of the workbook runs on the CPU device. play/translation/translate.hpp says what
/// becomes of CUDA's keywords.
///
/// Such a file is compiled as one with kernels, but for its host functions, which the translation marks as
/// not traced. The templates of C++ in it are traced. So all its symbols but main are made local, and the
/// linker mixes none of them with the plain program's.
#pragma once

#define WORKBOOK_PROGRAM

// Those that nvcc includes, before any of ours.
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#include "cpu_device/dialect/cuda.hpp"
#include "cpu_device/dialect/unsupported.hpp"
#include "play/program/graphs.hpp"
#include "play/program/pools.hpp"
#include "play/program/ptx.hpp"
#include "play/program/runtime.hpp"

#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
// By these, headers know that CUDA's have been included.
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define CUDART_CB
#define CUDARTAPI

// As in kernel files (cpu/dialect.hpp), but host code may end the program, and kernels have a heap.
__asm__(
    ".set exit, program_exit\n"
    ".set malloc, workbook_malloc\n"
    ".set free, workbook_free\n"
    ".set _Znwm, workbook_new\n"
    ".set _Znam, workbook_new\n"
    ".set _ZdlPv, workbook_delete\n"
    ".set _ZdaPv, workbook_delete\n"
    ".set _ZdlPvm, workbook_sized_delete\n"
    ".set _ZdaPvm, workbook_sized_delete\n"
    ".set memcpy, __tsan_memcpy\n"
    ".set memmove, __tsan_memmove\n"
    ".set memset, __tsan_memset\n"
    ".set __assert_fail, workbook_assert_fail\n"
    ".set __cxa_allocate_exception, workbook_allocate_exception");

using namespace cpu;

namespace program {

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes = 0;
  cudaStream_t stream;
  const char* file;  ///< of the launch
  int line;
  bool cooperative = false;
  Configuration(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream), file(file), line(line) {}
};

/// kernel<<<configuration>>>(arguments...)
template <class... Parameters>
void start(const Configuration& c, void (*kernel)(Parameters...), Parameters... arguments) {
  static_assert((sizeof(Parameters) + ... + 0) <= 32764,
                "the parameters of a kernel have at most 32764 bytes");
  const auto body = [=]() WORKBOOK_UNTRACED { kernel(arguments...); };
  const cpu::Launch started = {.kernel = reinterpret_cast<const void*>(kernel),
                               .grid = {c.grid.x, c.grid.y, c.grid.z},
                               .block = {c.block.x, c.block.y, c.block.z},
                               .shared_bytes = c.shared_bytes,
                               .thread = cpu::run_thread<decltype(body)>,
                               .closure = &body,
                               .closure_bytes = sizeof body,
                               .cooperative = c.cooperative};
  if constexpr ((std::is_trivially_copyable_v<Parameters> && ...)) {
    unsigned char bytes[(sizeof(Parameters) + ... + 1)];
    size_t size = 0;
    ((__builtin_memcpy(bytes + size, &arguments, sizeof arguments), size += sizeof arguments), ...);
    launch(started, {bytes, size}, c.stream, c.file, c.line);
  } else {
    launch(started, {}, c.stream, c.file, c.line);
  }
}

/// A launch of a kernel that a variable points to.
template <class... Parameters>
struct ByPointer {
  void (*kernel)(Parameters...);
  Configuration configuration;
  void operator()(Parameters... arguments) const { start(configuration, kernel, arguments...); }
};
template <class... Parameters>
ByPointer<Parameters...> by_pointer(void (*kernel)(Parameters...), Configuration configuration) {
  return {kernel, configuration};
}

/// A __device__ variable: the translation puts one of these after each.
struct Variable {
  template <class T>
  Variable(const char* name, T& variable) {
    add_variable(name, const_cast<const void*>(static_cast<const volatile void*>(&variable)), sizeof(T),
                 sizeof(std::remove_all_extents_t<T>));
  }
};

template <class T>
struct ElementSize {
  static constexpr size_t kBytes = sizeof(T);
};
template <>
struct ElementSize<void> {
  static constexpr size_t kBytes = 1;
};

/// The arguments are given by their addresses.
template <class... Parameters, size_t... Numbers>
void start_by_addresses(const Configuration& c, void (*kernel)(Parameters...), void** arguments,
                        std::index_sequence<Numbers...>) {
  start<Parameters...>(c, kernel, *static_cast<Parameters*>(arguments[Numbers])...);
}
template <class... Parameters>
void start_at(const void* kernel, const Configuration& c, void** arguments) {
  start_by_addresses(c, reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel)), arguments,
                     std::index_sequence_for<Parameters...>());
}

/// The translation makes `(void*)kernel` one of these: how the kernel is called is noted.
struct KernelAddress {
  void* address;
  template <class... Parameters>
  KernelAddress(void (*kernel)(Parameters...)) : address(reinterpret_cast<void*>(kernel)) {
    add_starter(address, start_at<Parameters...>);
  }
  operator void*() const { return address; }
};

}  // namespace program

// --- Functions of the runtime that know types ---
// One that may find a mistake is inlined into the line that calls it.

template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMalloc(T** address, size_t bytes, const char* name = "array") {
  return program::allocate(reinterpret_cast<void**>(address), bytes, name, program::ElementSize<T>::kBytes);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocFromPoolAsync(T** address, size_t bytes, const char* name,
                                                                  cudaMemPool_t pool, cudaStream_t stream) {
  return program::allocate_in_stream(reinterpret_cast<void**>(address), bytes, name,
                                     program::ElementSize<T>::kBytes, pool, stream);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocAsync(T** address, size_t bytes, const char* name,
                                                          cudaStream_t stream) {
  return cudaMallocFromPoolAsync(address, bytes, name, nullptr, stream);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocAsync(T** address, size_t bytes, const char* name,
                                                          cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(address, bytes, name, pool, stream);
}
template <class T>
cudaError_t cudaMallocManaged(T** address, size_t bytes, const char* name, unsigned = cudaMemAttachGlobal) {
  return program::allocate_managed(reinterpret_cast<void**>(address), bytes, name,
                                   program::ElementSize<T>::kBytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** address, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return cudaMallocManaged(address, bytes, "managed");
}
template <class T>
cudaError_t cudaMallocHost(T** address, size_t bytes, unsigned = 0) {
  return cudaMallocManaged(address, bytes, "pinned");
}
template <class T>
cudaError_t cudaHostAlloc(T** address, size_t bytes, unsigned = 0) {
  return cudaMallocManaged(address, bytes, "pinned");
}
/// Host memory of the program's own. The translation adds the name.
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaHostRegister(T* memory, size_t bytes, const char* name,
                                                           unsigned) {
  return program::register_host(const_cast<void*>(static_cast<const volatile void*>(memory)), bytes, name,
                                program::ElementSize<T>::kBytes);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(program::mapped(host));
  return cudaSuccess;
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMallocPitch(T** address, size_t* pitch, size_t width,
                                                          size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(address, *pitch * height);
}

/// A copy knows from the addresses which memory is meant.
[[gnu::always_inline]] inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
[[gnu::always_inline]] inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int,
                                                              size_t bytes, cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes,
                                                             size_t offset = 0,
                                                             cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return cudaMemcpy(reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(&symbol)) + offset, from,
                    bytes, cudaMemcpyDefault);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes,
                                                                  size_t offset = 0,
                                                                  cudaMemcpyKind = cudaMemcpyHostToDevice,
                                                                  cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(&symbol)) + offset, from,
                         bytes, cudaMemcpyDefault, stream);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes,
                                                               size_t offset = 0,
                                                               cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, cudaMemcpyDefault);
}
template <class T>
[[gnu::always_inline]] inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                                                    size_t offset = 0,
                                                                    cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                                                    cudaStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, cudaMemcpyDefault,
                         stream);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = const_cast<std::remove_const_t<T>*>(&symbol);
  return cudaSuccess;
}

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  program::start_by_addresses({grid, block, shared_bytes, stream, file, line}, kernel, arguments,
                              std::index_sequence_for<Parameters...>());
  return cudaSuccess;
}
[[gnu::always_inline]] inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block,
                                                           void** arguments, size_t shared_bytes = 0,
                                                           cudaStream_t stream = nullptr,
                                                           const char* file = __builtin_FILE(),
                                                           int line = __builtin_LINE()) {
  const program::Starter start = program::starter_of(kernel, nullptr, "cudaLaunchKernel");
  start(kernel, {grid, block, shared_bytes, stream, file, line}, arguments);
  return cudaSuccess;
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr, const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) {
  program::Configuration configuration(grid, block, shared_bytes, stream, file, line);
  configuration.cooperative = true;
  program::start_by_addresses(configuration, kernel, arguments, std::index_sequence_for<Parameters...>());
  return cudaSuccess;
}
[[gnu::always_inline]] inline cudaError_t cudaLaunchCooperativeKernel(
    const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
    cudaStream_t stream = nullptr, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  program::Configuration configuration(grid, block, shared_bytes, stream, file, line);
  configuration.cooperative = true;
  program::starter_of(kernel, nullptr, "cudaLaunchCooperativeKernel")(kernel, configuration, arguments);
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return program::allow_shared_bytes((const void*)kernel, value);
}
/// What does not depend on a compiler for GPUs: registers and memory of a kernel are 0.
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel kernel) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->maxDynamicSharedSizeBytes = (int)program::allowed_shared_bytes((const void*)kernel);
  attributes->ptxVersion = attributes->binaryVersion = program::compute_capability();
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel kernel, int threads,
                                                          size_t shared_bytes) {
  *blocks = cpu::resident_blocks((const void*)kernel, threads, shared_bytes);
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* threads, Kernel kernel,
                                               size_t shared_bytes = 0, int most = 0) {
  *threads = most > 0 && most < 1024 ? most : 1024;
  *blocks = cpu::multiprocessors() * cpu::resident_blocks((const void*)kernel, *threads, shared_bytes);
  return cudaSuccess;
}

// --- Graphs (program/graphs.hpp) ---

struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

namespace program {

/// Launches the kernel in the recorder: the arguments are copied, and nothing runs.
[[gnu::always_inline]] inline void record(const char* call, const cudaKernelNodeParams& node) {
  const Starter start = starter_of(node.func, node.extra, call);
  start(node.func, {node.gridDim, node.blockDim, node.sharedMemBytes, recorder()}, node.kernelParams);
}

}  // namespace program

[[gnu::always_inline]] inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                                 const cudaGraphNode_t* before, size_t count,
                                                                 const cudaKernelNodeParams* kernel) {
  program::record("cudaGraphAddKernelNode", *kernel);
  return program::add_recorded(node, graph, before, count);
}
[[gnu::always_inline]] inline cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                                       const cudaKernelNodeParams* kernel) {
  program::record("cudaGraphKernelNodeSetParams", *kernel);
  return program::set_recorded(node);
}
[[gnu::always_inline]] inline cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* kernel) {
  program::record("cudaGraphExecKernelNodeSetParams", *kernel);
  return program::set_recorded(exec, node);
}
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  cudaKernelNodeParams kernel;
  struct {
    cudaMemcpy3DParms copyParams;
  } memcpy;
  cudaMemsetParams memset;
  cudaHostNodeParams host;
  struct {
    cudaGraph_t graph;
  } graph;
  cudaMemAllocNodeParams alloc;
  struct {
    void* dptr;
  } free;
  cudaConditionalNodeParams conditional;
};
[[gnu::always_inline]] inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* before, size_t count,
                                                           cudaGraphNodeParams* p) {
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, before, count, &p->kernel);
    case cudaGraphNodeTypeMemcpy:
      return cudaGraphAddMemcpyNode(node, graph, before, count, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, before, count, &p->memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, before, count, &p->host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, before, count, p->graph.graph);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, before, count);
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, before, count, &p->alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(node, graph, before, count, p->free.dptr);
    case cudaGraphNodeTypeConditional:
      return cudaGraphAddConditionalNode(node, graph, before, count, &p->conditional);
    default:
      program::refuse_node(p->type);
  }
}
/// As CUDA 13 has it.
[[gnu::always_inline]] inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                           const cudaGraphNode_t* before,
                                                           const cudaGraphEdgeData*, size_t count,
                                                           cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, before, count, parameters);
}
/// For kernels.
[[gnu::always_inline]] inline void cudaGraphSetConditional(cudaGraphConditionalHandle condition,
                                                           unsigned value) {
  program::set_condition(condition, value);
}
/// As before CUDA 12.
[[gnu::always_inline]] inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                               cudaGraphNode_t*, char*, size_t) {
  return cudaGraphInstantiate(exec, graph);
}
[[gnu::always_inline]] inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec,
                                                                        cudaGraph_t graph,
                                                                        unsigned long long flags = 0) {
  return cudaGraphInstantiate(exec, graph, flags);
}
/// As before CUDA 12.
[[gnu::always_inline]] inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                                              cudaGraphNode_t*,
                                                              cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  *result = info.result;
  return error;
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

#define WORKBOOK_UNSUPPORTED(name, why) \
  template <class... Types>             \
  __attribute__((unavailable("not supported: " why))) cudaError_t name(Types...);
#define WORKBOOK_NO_GRAPHS                                                                              \
  "of graphs there are captures and nodes for kernels, copies, memsets, host functions, memory, child " \
  "graphs and conditions"
WORKBOOK_UNSUPPORTED(cudaGraphDebugDotPrint, WORKBOOK_NO_GRAPHS)
WORKBOOK_UNSUPPORTED(cudaGraphInstantiateWithParams, WORKBOOK_NO_GRAPHS)
WORKBOOK_UNSUPPORTED(cudaGraphKernelNodeGetParams, WORKBOOK_NO_GRAPHS)
#undef WORKBOOK_NO_GRAPHS
enum { cudaIpcMemLazyEnablePeerAccess = 1 };
#define WORKBOOK_NO_IPC "memory and events that processes share"
typedef unsigned long long cudaIpcMemHandle_t __attribute__((unavailable("not supported: " WORKBOOK_NO_IPC)));
typedef unsigned long long cudaIpcEventHandle_t
    __attribute__((unavailable("not supported: " WORKBOOK_NO_IPC)));
WORKBOOK_UNSUPPORTED(cudaIpcGetMemHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcOpenMemHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcCloseMemHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcGetEventHandle, WORKBOOK_NO_IPC)
WORKBOOK_UNSUPPORTED(cudaIpcOpenEventHandle, WORKBOOK_NO_IPC)
#undef WORKBOOK_NO_IPC
#undef WORKBOOK_UNSUPPORTED

inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
inline cudaPitchedPtr make_cudaPitchedPtr(void* memory, size_t pitch, size_t width, size_t height) {
  return {memory, pitch, width, height};
}

// --- What has nothing to do here: work ends before its launch or copy returns ---

inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned,
                                        cudaStream_t = nullptr) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetAttribute(cudaStream_t, cudaStreamAttrID, cudaStreamAttrValue* value) {
  *value = {};
  return cudaSuccess;
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, T*, size_t = 0, unsigned = cudaMemAttachSingle) {
  return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

// --- Functions of kernels that kernel files of the workbook do without ---

namespace program {

/// An atomic on a pair of 16-bit numbers, as the hardware has it for 4 bytes.
template <class Pair>
[[gnu::always_inline]] inline Pair add_pair(Pair* address, Pair value) {
  unsigned* const word = reinterpret_cast<unsigned*>(address);
  unsigned before = atomicAdd(word, 0u);
  for (;;) {
    Pair old, sum;
    unsigned bits;
    __builtin_memcpy(&old, &before, sizeof old);
    sum = __hadd2(old, value);
    __builtin_memcpy(&bits, &sum, sizeof bits);
    const unsigned found = atomicCAS(word, before, bits);
    if (found == before) return old;
    before = found;
  }
}

}  // namespace program

[[gnu::always_inline]] inline __half2 atomicAdd(__half2* address, __half2 value) {
  return program::add_pair(address, value);
}
[[gnu::always_inline]] inline __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
  return program::add_pair(address, value);
}

[[gnu::always_inline]] inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
[[gnu::always_inline]] inline unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
/// The sine and the cosine of pi times a number.
[[gnu::always_inline]] inline void sincospi(double a, double* sine, double* cosine) {
  const double reduced = a - 2 * std::nearbyint(a / 2);
  *sine = std::sin(M_PI * reduced);
  *cosine = std::cos(M_PI * reduced);
}
/// The lanes of `mask` that pass the same value.
template <class T>
[[gnu::always_inline]] inline unsigned __match_any_sync(unsigned mask, T value) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  unsigned same = mask;
  for (unsigned i = 0; i < 8 * sizeof value; ++i) {
    const unsigned set = __ballot_sync(mask, bits >> i & 1);
    same &= bits >> i & 1 ? set : ~set;
  }
  return same;
}

namespace program {

/// The lanes' values, combined in each of them.
template <class T, class Operation>
[[gnu::always_inline]] inline T over_lanes(unsigned mask, T value, Operation operation) {
  T all = __shfl_sync(mask, value, __builtin_ctz(mask));
  for (unsigned left = mask & (mask - 1); left; left &= left - 1)
    all = operation(all, __shfl_sync(mask, value, __builtin_ctz(left)));
  return all;
}

template <class T>
[[gnu::always_inline]] inline T reduce_add(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a + b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_min(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a < b ? a : b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_max(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_and(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a & b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_or(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a | b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_xor(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a ^ b; });
}

}  // namespace program

namespace program {

enum class Towards { kZero, kDown, kUp };

/// A result that was rounded to nearest, rounded in another way instead. `error` has the sign of what the
/// rounding has left out.
template <class T>
[[gnu::always_inline]] inline T rounded(T nearest, T error, Towards towards) {
  const bool down = towards == Towards::kDown || (towards == Towards::kZero && nearest > 0);
  if (down) return error < 0 ? std::nextafter(nearest, T(-INFINITY)) : nearest;
  return error > 0 ? std::nextafter(nearest, T(INFINITY)) : nearest;
}
/// D. Knuth's sum of two numbers and its exact error.
template <class T>
[[gnu::always_inline]] inline T rounded_sum(T a, T b, Towards towards) {
  const T sum = a + b, of_b = sum - a;
  return rounded(sum, (a - (sum - of_b)) + (b - of_b), towards);
}
template <class T>
[[gnu::always_inline]] inline T rounded_product(T a, T b, Towards towards) {
  const T product = a * b;
  return rounded(product, std::fma(a, b, -product), towards);
}
template <class T>
[[gnu::always_inline]] inline T rounded_quotient(T a, T b, Towards towards) {
  const T quotient = a / b, left = std::fma(-quotient, b, a);
  return rounded(quotient, b < 0 ? -left : left, towards);
}
template <class T>
[[gnu::always_inline]] inline T rounded_root(T a, Towards towards) {
  const T root = std::sqrt(a);
  return rounded(root, std::fma(-root, root, a), towards);
}

}  // namespace program

#define WORKBOOK_ROUNDED(suffix, towards)                                                            \
  [[gnu::always_inline]] inline float __fadd_##suffix(float a, float b) {                            \
    return program::rounded_sum(a, b, program::Towards::towards);                                    \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __fsub_##suffix(float a, float b) {                            \
    return program::rounded_sum(a, -b, program::Towards::towards);                                   \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __fmul_##suffix(float a, float b) {                            \
    return program::rounded_product(a, b, program::Towards::towards);                                \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __fdiv_##suffix(float a, float b) {                            \
    return program::rounded_quotient(a, b, program::Towards::towards);                               \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __frcp_##suffix(float a) { return __fdiv_##suffix(1.0f, a); }  \
  [[gnu::always_inline]] inline float __fsqrt_##suffix(float a) {                                    \
    return program::rounded_root(a, program::Towards::towards);                                      \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __dadd_##suffix(double a, double b) {                         \
    return program::rounded_sum(a, b, program::Towards::towards);                                    \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __dmul_##suffix(double a, double b) {                         \
    return program::rounded_product(a, b, program::Towards::towards);                                \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __ddiv_##suffix(double a, double b) {                         \
    return program::rounded_quotient(a, b, program::Towards::towards);                               \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __drcp_##suffix(double a) { return __ddiv_##suffix(1.0, a); } \
  [[gnu::always_inline]] inline double __dsqrt_##suffix(double a) {                                  \
    return program::rounded_root(a, program::Towards::towards);                                      \
  }
WORKBOOK_ROUNDED(rd, kDown)
WORKBOOK_ROUNDED(ru, kUp)
WORKBOOK_ROUNDED(rz, kZero)
#undef WORKBOOK_ROUNDED

namespace program {
/// %warpid and %smid. Which multiprocessor runs a block is not known before on a GPU either.
[[gnu::always_inline]] inline unsigned warp_index() {
  const uint3 t = cpu::thread_index(), b = cpu::block_extent();
  return (t.x + b.x * (t.y + b.y * t.z)) / 32;
}
[[gnu::always_inline]] inline unsigned multiprocessor_index() {
  const uint3 b = cpu::block_index(), g = cpu::grid_extent();
  return (b.x + g.x * (b.y + g.y * b.z)) % cpu::multiprocessors();
}
}  // namespace program

// A kernel's clock() is program::clock(), too: the translation knows it from the C library's.
[[gnu::always_inline]] inline long long clock64() { return program::clock(); }
[[gnu::always_inline]] inline void __nanosleep(unsigned) {}

// Kernel files of the workbook do without these, and cpu/unsupported.hpp says so.
#define __reduce_add_sync ::program::reduce_add
#define __reduce_min_sync ::program::reduce_min
#define __reduce_max_sync ::program::reduce_max
#define __reduce_and_sync ::program::reduce_and
#define __reduce_or_sync ::program::reduce_or
#define __reduce_xor_sync ::program::reduce_xor

// An atomic for a block alone is counted as the plain one.
#define WORKBOOK_SCOPES(name)                                     \
  template <class T, class... V>                                  \
  [[gnu::always_inline]] inline auto name##_block(T* a, V... v) { \
    return name(a, static_cast<T>(v)...);                         \
  }
WORKBOOK_SCOPES(atomicAdd)
WORKBOOK_SCOPES(atomicSub)
WORKBOOK_SCOPES(atomicExch)
WORKBOOK_SCOPES(atomicMin)
WORKBOOK_SCOPES(atomicMax)
WORKBOOK_SCOPES(atomicInc)
WORKBOOK_SCOPES(atomicDec)
WORKBOOK_SCOPES(atomicCAS)
WORKBOOK_SCOPES(atomicAnd)
WORKBOOK_SCOPES(atomicOr)
WORKBOOK_SCOPES(atomicXor)
#undef WORKBOOK_SCOPES

// Templates: a function of the user's of the same name is preferred.
template <class T = unsigned>
[[gnu::always_inline]] inline T umin(T a, T b) {
  return a < b ? a : b;
}
template <class T = unsigned>
[[gnu::always_inline]] inline T umax(T a, T b) {
  return a < b ? b : a;
}

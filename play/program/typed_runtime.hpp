/// \file
/// Functions of the runtime that know types. One that may find a mistake is inlined into the line that calls
/// it.
#pragma once

#include "play/program/start.hpp"

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

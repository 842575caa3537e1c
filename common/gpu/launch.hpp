/// \file
/// Starting a kernel on a GPU: the one place with <<<>>>, so that kernel files are C++ that any compiler can
/// parse.
#pragma once

#include "gpu/current_gpu.hpp"
#include "gpu/error.hpp"

namespace gpu {

/// The stream that this thread's launches go to. The workbook's programs leave it as it is; a library that is
/// called with a stream sets it for one call, by an OnStream.
inline thread_local cudaStream_t launch_stream = cudaStreamPerThread;

/// While it exists, this thread launches on `stream`; null is the legacy default stream.
struct OnStream {
  cudaStream_t before = launch_stream;
  explicit OnStream(void* stream) {
    launch_stream = stream ? static_cast<cudaStream_t>(stream) : cudaStreamLegacy;
  }
  ~OnStream() { launch_stream = before; }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
};

/// The grid of a launch, which also notes where in the sources the launch stands.
struct Grid {
  dim3 size;
  const char* file;
  int line;

  Grid(unsigned blocks, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : size(blocks), file(file), line(line) {}
  Grid(dim3 size, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : size(size), file(file), line(line) {}
};

// [launch]
/// Starts `kernel` on `grid` blocks of `block` threads, with `shared_bytes` of dynamic shared memory each.
/// The kernel runs on its own while the caller goes on. \throws gpu::Error when it cannot be started.
template <class... Params, class... Args>
void launch_shared(void (*kernel)(Params...), Grid grid, dim3 block, size_t shared_bytes, Args... args) {
  if (shared_bytes > 0)  // more than 48 KiB, with the kernel's own arrays, must be allowed first
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)),
          "dynamic shared memory", grid.file, grid.line);
  kernel<<<grid.size, block, shared_bytes, launch_stream>>>(args...);
  check(cudaGetLastError(), "kernel launch", grid.file, grid.line);
}

/// The same without dynamic shared memory.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), Grid grid, dim3 block, Args... args) {
  launch_shared(kernel, grid, block, 0, args...);
}
// [launch]

/// The most shared memory that a block may have on this device, its kernel's own arrays included.
inline int most_shared_bytes() {
  int device = 0, bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes;
}

/// The stream of that GPU, where several run: of GPU 0 the thread's own. While a graph is recorded, it is
/// part of the graph.
cudaStream_t stream_of_gpu(int gpu);

/// Runs body(gpu) for each of the GPUs 0 to gpus - 1, in one of several processes for its own. Its launches
/// run on that GPU, one launch after another, beside what the other GPUs run.
template <class Body>
void on_each_gpu(int gpus, const Body& body) {
  if (own_gpu) return body(*own_gpu);
  for (int gpu = 1; gpu < gpus; ++gpu) stream_of_gpu(gpu);  // none waits for what GPU 0 is given below
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const OnStream stream(stream_of_gpu(gpu));
    const CurrentGpu here(gpu);
    body(gpu);
  }
}

/// Starts a kernel that may begin before the launch ahead of it in the stream has ended: it must call
/// cudaGridDependencySynchronize() before it touches what that one writes. Compute capability 9.0 and newer.
template <class... Params, class... Args>
void launch_dependent(void (*kernel)(Params...), Grid grid, dim3 block, Args... args) {
  cudaLaunchAttribute may_overlap = {};
  may_overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  may_overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid.size;
  config.blockDim = block;
  config.stream = launch_stream;
  config.attrs = &may_overlap;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, Params(args)...), "dependent launch", grid.file, grid.line);
}

/// Multiprocessors of this device.
inline int multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Threads that all multiprocessors of this device hold at once.
inline int resident_threads() {
  int device = 0, each = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&each, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return each * multiprocessors();
}

/// The block's dynamic shared memory as an array of T; its size is what `launch_shared` was given.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];
  return reinterpret_cast<T*>(dynamic_shared_memory);
}

}  // namespace gpu

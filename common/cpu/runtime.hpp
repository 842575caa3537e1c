/// \file
/// The line between kernels and the CPU device that runs them. Kernel code is compiled so that each of its
/// memory accesses calls the device; the device is ordinary code. The two must share no inline function, or
/// the linker would keep one copy for both and accesses would go uncounted. So this header, the only one that
/// both include, holds plain data and declarations of functions that live in the device.
#pragma once

#include <stddef.h>

namespace cpu {

struct uint3 {
  unsigned x, y, z;
};

/// One kernel launch: `thread(closure)` runs the kernel's body for the thread that the device has made
/// current.
struct Launch {
  const void* kernel;  ///< its address, from which messages get its name
  uint3 grid, block;
  size_t shared_bytes;
  void (*thread)(const void* closure);
  const void* closure;
};

/// Runs all threads of all blocks and returns when the grid is done.
/// \throws cpu::Finding at the first thing a kernel does that a GPU would not survive or define.
void run(const Launch& launch);

// threadIdx, blockIdx, blockDim and gridDim. A thread never sees them change, so the compiler may ask once.
[[gnu::const]] uint3 thread_index();
[[gnu::const]] uint3 block_index();
[[gnu::const]] uint3 block_extent();
[[gnu::const]] uint3 grid_extent();

/// __syncthreads().
void barrier();

/// The block's dynamic shared memory, 16-byte aligned.
[[gnu::const]] void* dynamic_shared_memory();

}  // namespace cpu

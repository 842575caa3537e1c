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
  const void* closure;  ///< with the kernel's arguments
  size_t closure_bytes;
  bool cooperative = false;  ///< its blocks may wait for each other at grid.sync()
};

/// The most shared memory that a block may have, its own arrays included: 227 KiB, as on compute
/// capability 9.0, unless a program names another card (launch_limits.hpp).
int most_shared_bytes();

/// Multiprocessors: 132, as an H200 has, or another card's. The CPU device runs blocks on all cores of the
/// machine.
int multiprocessors();

/// Threads that all multiprocessors hold at once: 132 times 2048, as on an H200, or another card's number.
int resident_threads();

/// Runs all threads of all blocks and returns when the grid is done.
/// \throws cpu::Finding at the first mistake of the kernel that the device can see.
void run(const Launch& launch);

/// Runs body(what, gpu) for each of the GPUs 0 to gpus - 1 and returns when all have ended. Its launches run
/// on that GPU, one after another, while the other GPUs run theirs (gpus.hpp). \throws cpu::Finding like run
void on_each_gpu(int gpus, void (*body)(const void* what, int gpu), const void* what);

// threadIdx, blockIdx, blockDim and gridDim. A thread never sees them change, so the compiler may call each
// once.
[[gnu::const]] uint3 thread_index();
[[gnu::const]] uint3 block_index();
[[gnu::const]] uint3 block_extent();
[[gnu::const]] uint3 grid_extent();

/// The function that a thread calls to reach its block's barrier: __syncthreads(), or a vote such as
/// __syncthreads_count().
enum class BarrierOperation : unsigned char { kSync, kCount, kAnd, kOr, kGrid };
struct BarrierVote {
  int in_favour;
  int threads;  ///< that reached the barrier: those of the block that have not ended
};
/// Waits for all threads of the block, and counts those that came with `predicate` true.
BarrierVote barrier(BarrierOperation operation, bool predicate);

/// grid.sync() of cooperative groups: waits for all threads of the grid.
void grid_barrier();
/// Whether the launch is cooperative.
[[gnu::const]] bool is_cooperative();
/// Blocks of a kernel that a multiprocessor has room for, as far as threads and shared memory tell.
int resident_blocks(const void* kernel, unsigned threads, size_t shared_bytes);

// Warp operations: each waits for all lanes that `mask` names.
/// __syncwarp().
void warp_sync(unsigned mask);
/// The bits that lane `source` of the warp passed as `value`.
unsigned long long warp_shuffle(unsigned mask, unsigned long long value, int source);
/// A bit for each lane of `mask` that passed true.
unsigned warp_ballot(unsigned mask, bool predicate);
/// __activemask(): the lanes of the warp that call it together.
unsigned warp_active();
[[gnu::const]] unsigned lane_index();

/// Which threads a fence or an atomic reaches: those of the block, of the GPU, or of all GPUs.
enum class Scope : unsigned char { kBlock, kDevice, kSystem };

/// __threadfence_block(), __threadfence() or __threadfence_system().
void thread_fence(Scope scope);

/// __trap() in that line of that file.
[[noreturn]] void trap(const char* file, int line);
/// abort() and exit(status) there: in a kernel a finding.
[[noreturn]] void abort_in_line(const char* file, int line);
[[noreturn]] void exit_in_line(int status, const char* file, int line);

// Atomics on global and shared memory; each returns the old value. Those with _system in their names are
// atomic for the threads of all GPUs, the others for those of one.
#define WORKBOOK_ATOMIC(name, T) \
  T name(T* address, T value);   \
  T name##_system(T* address, T value);
WORKBOOK_ATOMIC(atomicAdd, int)
WORKBOOK_ATOMIC(atomicAdd, unsigned)
WORKBOOK_ATOMIC(atomicAdd, unsigned long long)
WORKBOOK_ATOMIC(atomicAdd, float)
WORKBOOK_ATOMIC(atomicAdd, double)
WORKBOOK_ATOMIC(atomicMin, int)
WORKBOOK_ATOMIC(atomicMin, unsigned)
WORKBOOK_ATOMIC(atomicMin, unsigned long long)
WORKBOOK_ATOMIC(atomicMax, int)
WORKBOOK_ATOMIC(atomicMax, unsigned)
WORKBOOK_ATOMIC(atomicMax, unsigned long long)
WORKBOOK_ATOMIC(atomicExch, int)
WORKBOOK_ATOMIC(atomicExch, unsigned)
WORKBOOK_ATOMIC(atomicExch, unsigned long long)
WORKBOOK_ATOMIC(atomicExch, float)
WORKBOOK_ATOMIC(atomicInc, unsigned)  // the second argument is the limit
WORKBOOK_ATOMIC(atomicDec, unsigned)
WORKBOOK_ATOMIC(atomicSub, int)
WORKBOOK_ATOMIC(atomicSub, unsigned)
WORKBOOK_ATOMIC(atomicAnd, int)
WORKBOOK_ATOMIC(atomicAnd, unsigned)
WORKBOOK_ATOMIC(atomicOr, int)
WORKBOOK_ATOMIC(atomicOr, unsigned)
WORKBOOK_ATOMIC(atomicXor, int)
WORKBOOK_ATOMIC(atomicXor, unsigned)
#undef WORKBOOK_ATOMIC
#define WORKBOOK_COMPARE_AND_SWAP(T)            \
  T atomicCAS(T* address, T expected, T value); \
  T atomicCAS_system(T* address, T expected, T value);
WORKBOOK_COMPARE_AND_SWAP(int)
WORKBOOK_COMPARE_AND_SWAP(unsigned)
WORKBOOK_COMPARE_AND_SWAP(unsigned long long)
#undef WORKBOOK_COMPARE_AND_SWAP

/// Loads and stores of 1, 2, 4, 8 or 16 bytes that do not race with one another: __ldcv(), __stwt(), and
/// those of cuda::atomic_ref.
void strong_load(void* to, const void* from, size_t bytes, bool acquires);
void strong_store(void* to, const void* from, size_t bytes);

// Asynchronous copies from device memory to shared memory (pipeline.hpp).
/// Begins to copy `bytes` (4, 8 or 16) bytes, the last `zeros` of which become 0 instead.
void pipeline_copy(void* to, const void* from, size_t bytes, size_t zeros);
/// Puts the copies that the thread has begun since its last commit into one group.
void pipeline_commit();
/// Waits for all groups of the thread but the last `left`.
void pipeline_wait(size_t left);

// Tensor cores (wmma.hpp).
enum class FragmentUse : unsigned char { kA, kB, kAccumulator };
enum class FragmentNumber : unsigned char { kHalf, kBfloat16, kTf32, kFloat, kInt8, kUint8, kInt32 };

/// One lane's part of a matrix of a product m x k times k x n.
struct WarpFragment {
  FragmentUse use;
  FragmentNumber number;
  int m, n, k;
  int count;       ///< its elements
  void* elements;  ///< 2 bytes each of kHalf and kBfloat16, else 4
};

/// A matrix in memory: rows, or columns, one after another from `first` on, `stride` elements apart.
struct WarpMatrix {
  const void* first;
  unsigned stride;
  bool by_columns;
};

// All 32 lanes of the warp call each of these with the same arguments, except for their own elements.
void warp_load(const WarpFragment& to, const WarpMatrix& from);
void warp_store(void* to, const WarpMatrix& layout, const WarpFragment& from);
/// d = a * b + c. Integers that are too large wrap around, or saturate.
void warp_multiply(const WarpFragment& d, const WarpFragment& a, const WarpFragment& b, const WarpFragment& c,
                   bool saturates = false);

/// ldmatrix: `count` (1, 2 or 4) 8x8 matrices of 16-bit elements from shared memory. Lane l passes the
/// address of row l % 8 of matrix l / 8; lanes from 8 * count on pass nothing that matters. Lane 4 * g + t
/// gets two elements of each matrix, those of row g in columns 2 * t and 2 * t + 1, and of the matrix's
/// transpose if `transposed`.
void load_matrices(unsigned* to, int count, bool transposed, const void* row);

/// Where an address is in the block's shared memory: PTX instructions name it so, in 32 bits. \throws Finding
/// where it is elsewhere
size_t shared_offset(const void* address);
void* at_shared_offset(size_t offset);

/// The block's dynamic shared memory, 16-byte aligned.
[[gnu::const]] void* dynamic_shared_memory();

/// The C library's printf in a kernel: blocks print in their order.
int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The C library's functions in a kernel: traced like any other access.
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

}  // namespace cpu

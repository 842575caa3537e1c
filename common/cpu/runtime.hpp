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
};

/// The most shared memory that a block may have, its own arrays included: 227 KiB, as on compute
/// capability 9.0.
int most_shared_bytes();

/// Multiprocessors: 132, as an H200 has. The CPU device runs blocks on all cores of the machine.
[[gnu::const]] int multiprocessors();

/// Runs all threads of all blocks and returns when the grid is done.
/// \throws cpu::Finding at the first mistake of the kernel that the device can see.
void run(const Launch& launch);

// threadIdx, blockIdx, blockDim and gridDim. A thread never sees them change, so the compiler may call each
// once.
[[gnu::const]] uint3 thread_index();
[[gnu::const]] uint3 block_index();
[[gnu::const]] uint3 block_extent();
[[gnu::const]] uint3 grid_extent();

/// The function that a thread calls to reach its block's barrier: __syncthreads(), or a vote such as
/// __syncthreads_count().
enum class BarrierOperation : unsigned char { kSync, kCount, kAnd, kOr };
struct BarrierVote {
  int in_favour;
  int threads;  ///< that reached the barrier: those of the block that have not ended
};
/// Waits for all threads of the block, and counts those that came with `predicate` true.
BarrierVote barrier(BarrierOperation operation, bool predicate);

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

/// __threadfence(), or __threadfence_block().
void thread_fence(bool whole_device);

/// __trap() in that line of that file.
[[noreturn]] void trap(const char* file, int line);
/// abort() and exit(status) there: in a kernel a finding.
[[noreturn]] void abort_in_line(const char* file, int line);
[[noreturn]] void exit_in_line(int status, const char* file, int line);

// Atomics on global and shared memory; each returns the old value.
int atomicAdd(int* address, int value);
unsigned atomicAdd(unsigned* address, unsigned value);
unsigned long long atomicAdd(unsigned long long* address, unsigned long long value);
float atomicAdd(float* address, float value);
double atomicAdd(double* address, double value);
int atomicMin(int* address, int value);
unsigned atomicMin(unsigned* address, unsigned value);
unsigned long long atomicMin(unsigned long long* address, unsigned long long value);
int atomicMax(int* address, int value);
unsigned atomicMax(unsigned* address, unsigned value);
unsigned long long atomicMax(unsigned long long* address, unsigned long long value);
int atomicExch(int* address, int value);
unsigned atomicExch(unsigned* address, unsigned value);
unsigned long long atomicExch(unsigned long long* address, unsigned long long value);
float atomicExch(float* address, float value);
int atomicCAS(int* address, int expected, int value);
unsigned atomicCAS(unsigned* address, unsigned expected, unsigned value);
unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                             unsigned long long value);
unsigned atomicInc(unsigned* address, unsigned limit);
unsigned atomicDec(unsigned* address, unsigned limit);
int atomicSub(int* address, int value);
unsigned atomicSub(unsigned* address, unsigned value);
int atomicAnd(int* address, int value);
unsigned atomicAnd(unsigned* address, unsigned value);
int atomicOr(int* address, int value);
unsigned atomicOr(unsigned* address, unsigned value);
int atomicXor(int* address, int value);
unsigned atomicXor(unsigned* address, unsigned value);

// Asynchronous copies from device memory to shared memory (pipeline.hpp).
/// Begins to copy `bytes` (4, 8 or 16) bytes, the last `zeros` of which become 0 instead.
void pipeline_copy(void* to, const void* from, size_t bytes, size_t zeros);
/// Puts the copies that the thread has begun since its last commit into one group.
void pipeline_commit();
/// Waits for all groups of the thread but the last `left`.
void pipeline_wait(size_t left);

// Tensor cores (wmma.hpp).
enum class FragmentUse : unsigned char { kA, kB, kAccumulator };
enum class FragmentNumber : unsigned char { kHalf, kBfloat16, kTf32, kFloat };

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
/// d = a * b + c.
void warp_multiply(const WarpFragment& d, const WarpFragment& a, const WarpFragment& b,
                   const WarpFragment& c);

/// The block's dynamic shared memory, 16-byte aligned.
[[gnu::const]] void* dynamic_shared_memory();

/// The C library's printf in a kernel: blocks print in their order.
int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The C library's functions in a kernel: traced like any other access.
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

}  // namespace cpu

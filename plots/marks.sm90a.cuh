/// \file
/// For plots/timelines.py: what the warpgroups of a multiprocessor do, and when. plots/timelines.patch
/// includes this in kernels and puts the marks there.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace DEVICE {

/// Activities of a warpgroup, in the order of DOING in timelines.py; each lasts until the next mark.
enum class Doing { kNothing, kWaiting, kCopying, kMultiplying, kSoftmax, kEpilogue, kWaitingForTurn };

constexpr int kMarkedBlocks = 64, kMarkedGroups = 5, kMarksOfGroup = 1024;

/// A block of multiprocessor 0.
struct MarkedBlock {
  unsigned number;  ///< in the process, from 0 on
  unsigned block;   ///< blockIdx.x
  unsigned count[kMarkedGroups];
  unsigned long long marks[kMarkedGroups][kMarksOfGroup];  ///< clock * 8 + Doing
};

/// The last blocks: a later one takes the place of the one that ran kMarkedBlocks before.
static __device__ MarkedBlock marked_blocks[kMarkedBlocks];
static __device__ unsigned marked_block_count;

struct Marking {
  MarkedBlock* place;  ///< null on other multiprocessors
  unsigned count[kMarkedGroups];
};

__device__ inline Marking& marking() {
  __shared__ Marking of_block;
  return of_block;
}

/// One thread calls it, before a __syncthreads() that precedes all marks.
__device__ inline void begin_marks() {
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  marking() = {};
  if (multiprocessor != 0) return;
  const unsigned number = atomicAdd(&marked_block_count, 1);
  MarkedBlock* const place = &marked_blocks[number % kMarkedBlocks];
  place->number = number;
  place->block = blockIdx.x;
  marking().place = place;
}

/// The first thread of each warpgroup notes what the group does from now on.
__device__ inline void mark(Doing doing) {
  const int group = threadIdx.x / 128;
  MarkedBlock* const place = marking().place;
  if (threadIdx.x % 128 != 0 || !place) return;
  unsigned long long clock;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
  const unsigned at = marking().count[group]++;
  if (at < kMarksOfGroup) place->marks[group][at] = clock * 8 + static_cast<unsigned>(doing);
  place->count[group] = at + 1;
}

// --- On the host ---

inline void save_marks() {
  const char* const path = std::getenv("WORKBOOK_MARKS");
  if (!path) return;
  static MarkedBlock blocks[kMarkedBlocks];
  const cudaError_t error = cudaMemcpyFromSymbol(blocks, marked_blocks, sizeof blocks);
  std::FILE* const file = error == cudaSuccess ? std::fopen(path, "wb") : nullptr;
  if (!file || std::fwrite(blocks, sizeof blocks, 1, file) != 1 || std::fclose(file) != 0)
    std::fprintf(stderr, "%s: marks were not saved (%s)\n", path, cudaGetErrorString(error));
}

/// Saves the marks when the program ends. It is called after CUDA has started, so that CUDA ends later.
inline void save_marks_at_exit() {
  static const int registered = std::atexit(save_marks);
  (void)registered;
}

}  // namespace DEVICE

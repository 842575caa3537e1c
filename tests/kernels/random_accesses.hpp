/// \file
/// A kernel that runs a small program: which thread does what, in plain data. The tests of the race detector
/// make thousands of them at random.
#pragma once

#include "device_name.hpp"

namespace DEVICE::test_kernels {

enum class Does : unsigned char {
  kLoad,
  kStore,       ///< every byte becomes `value`
  kAtomic,      ///< atomicAdd(word, 1); what it returns is the thread's ticket
  kFence,       ///< __threadfence()
  kFenceBlock,  ///< __threadfence_block()
  kSyncWarp,    ///< __syncwarp(mask)
  kShuffle,     ///< __shfl_sync(mask, ...)
  kBallot,      ///< __ballot_sync(mask, ...)
  kSkipUnless,  ///< unless the ticket is `value`, the thread skips its next `size` operations
};

struct RandomOperation {
  Does does;
  bool shared;         ///< in the block's shared memory, not in the array in device memory
  unsigned char size;  ///< bytes of a load or store: 1, 2, 4, 8 or 16
  unsigned char offset, value;
  unsigned mask;
};

constexpr int kMostOperations = 128, kMostActors = 80, kMostSegments = 6, kMostBlocks = 3, kMostThreads = 70;
/// Bytes of the array in device memory and of that in shared memory, at the most.
constexpr int kMostBytes = 40;

/// The program of one launch. It is passed by value, so it is in each thread's local memory.
struct RandomProgram {
  int blocks, threads;
  /// A __syncthreads() that all threads pass is between one segment and the next.
  int segments;
  /// Thread that sets the shared memory to 0 before anything else, or -1: the program uses none. A
  /// __syncthreads() follows.
  int initialises;
  /// The actor that a thread is, or -1: it only passes the barriers.
  signed char actor[kMostBlocks][kMostThreads];
  /// Actor a does operations[first[a][s]] to operations[first[a][s + 1] - 1] in segment s.
  unsigned char first[kMostActors][kMostSegments + 1];
  RandomOperation operations[kMostOperations];
};

/// Marks what has been executed: done[i] is 0 until operations[i] has been. Then it is at least 1: 1 plus the
/// ticket for an atomic, 2 for a kSkipUnless that skips.
using Done = unsigned long long;

/// Runs a program whose array in device memory is `array`. `done` has kMostOperations elements, all 0.
void random_accesses(const RandomProgram& program, char* array, Done* done);

}  // namespace DEVICE::test_kernels

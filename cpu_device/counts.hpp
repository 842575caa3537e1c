/// \file
/// The CPU device's counts, in the units of the GPU's own counters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace workbook {

/// Traffic of the launches since the last reset. The names in brackets are Nsight Compute's metrics.
struct Counts {
  long long kernels = 0;
  long long threads = 0;         ///< of all launches, those without work included
  long long load_requests = 0;   ///< warp instructions [l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum]
  long long load_sectors = 0;    ///< 32-byte sectors [l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum]
  long long store_requests = 0;  ///< [l1tex__t_requests_pipe_lsu_mem_global_op_st.sum]
  long long store_sectors = 0;   ///< [l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum]
  /// The bytes of these sectors that lanes use: of each request, the distinct ones. What several lanes of a
  /// warp load together (a broadcast) counts once, so load_bytes / (32 * load_sectors), the efficiency, is at
  /// most 1. Atomics are not included.
  long long load_bytes = 0;
  long long store_bytes = 0;              ///< the same for stores
  long long shared_requests = 0;          ///< warp instructions that access shared memory, loads and stores
  long long shared_load_wavefronts = 0;   ///< [l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum]
  long long shared_store_wavefronts = 0;  ///< [l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum]
  /// nvcc may merge loads of neighbouring words of shared memory. The hardware then executes fewer and wider
  /// ones: the requests and wavefronts of shared loads are an upper bound.
  bool shared_loads_may_merge = false;
  long long shared_atomic_requests = 0;  ///< warp instructions; they are no part of the wavefronts
  long long atomic_sectors = 0;  ///< of atomics on global memory, while no two lanes access one address
  bool contended = false;        ///< lanes of a warp did: the hardware's count of that is not known
  // Requests and sectors of another GPU's memory, which pass over NVLink; they are among those above. Atomics
  // are stores here.
  long long peer_requests = 0;
  long long peer_load_sectors = 0;
  long long peer_store_sectors = 0;
  long long barriers = 0;  ///< of blocks: each __syncthreads() that a block completes, or vote at one
  /// DRAM traffic of a cold cache, launch by launch [dram__bytes_read.sum]
  long long compulsory_read_bytes = 0;
  long long compulsory_write_bytes = 0;
  long long accesses = 0;                    ///< loads and stores of single threads that were traced
  long long accesses_of_busiest_block = 0;   ///< of the current or last launch
  long long accesses_of_busiest_blocks = 0;  ///< of the busiest block of each launch, added up
  /// It is not known which lanes ran a loop's iterations together: requests and sectors may be off.
  bool approximate = false;

  bool operator==(const Counts&) const = default;
  Counts& operator+=(const Counts& other) {
    kernels += other.kernels;
    threads += other.threads;
    load_requests += other.load_requests;
    load_sectors += other.load_sectors;
    store_requests += other.store_requests;
    store_sectors += other.store_sectors;
    load_bytes += other.load_bytes;
    store_bytes += other.store_bytes;
    shared_requests += other.shared_requests;
    shared_load_wavefronts += other.shared_load_wavefronts;
    shared_store_wavefronts += other.shared_store_wavefronts;
    shared_atomic_requests += other.shared_atomic_requests;
    atomic_sectors += other.atomic_sectors;
    peer_requests += other.peer_requests;
    peer_load_sectors += other.peer_load_sectors;
    peer_store_sectors += other.peer_store_sectors;
    barriers += other.barriers;
    contended |= other.contended;
    compulsory_read_bytes += other.compulsory_read_bytes;
    compulsory_write_bytes += other.compulsory_write_bytes;
    accesses += other.accesses;
    accesses_of_busiest_block = std::max(accesses_of_busiest_block, other.accesses_of_busiest_block);
    accesses_of_busiest_blocks += other.accesses_of_busiest_blocks;
    approximate |= other.approximate;
    shared_loads_may_merge |= other.shared_loads_may_merge;
    return *this;
  }
};

struct Dim3 {
  unsigned x, y, z;
};

/// kBarrier is no request, but may have the counts of a line (SiteCounts).
enum class RequestKind : unsigned char { kLoad, kStore, kAtomic, kCopy, kBarrier };
enum class MemorySpace : unsigned char { kGlobal, kShared };

/// One access of the lanes of a warp with one instruction.
struct TracedRequest {
  std::string place;  ///< of the instruction: "chapters/01_multiply_add/02_fused.cuh:14"
  RequestKind kind = RequestKind::kLoad;
  MemorySpace space = MemorySpace::kGlobal;  ///< kGlobal for an asynchronous copy, which reads it
  std::string array;
  unsigned bytes = 0;    ///< per lane
  unsigned element = 0;  ///< bytes of an element of the array; 0 where that is not known
  /// In global memory, the array's first byte, counted as `offsets` are; 0 in shared memory.
  unsigned start = 0;
  /// By lane, the first byte that it accesses: in global memory from the start of the sector that the array
  /// begins in, in shared memory from the array's start; -1 for a lane that takes no part.
  std::vector<long long> offsets;
  long long sectors = 0, wavefronts = 0;  ///< what the request is counted as
  bool unfinished = false;                ///< a finding has ended the launch before all its lanes had run
};

/// Requests of a launch that are kept; later ones are dropped.
constexpr std::size_t kMostTracedRequests = 512;

/// The cost of one instruction in a launch. The sums over all of a launch are its counts, but for
/// `compulsory_*`, `kernels`, `threads` and the busiest block, which belong to no instruction.
struct SiteCounts {
  std::string file;  ///< relative to the project, absolute outside of it; empty when unknown
  int line = 0;      ///< 0 when unknown
  RequestKind kind = RequestKind::kLoad;
  MemorySpace space = MemorySpace::kGlobal;
  std::string array;   ///< of its first request; of a barrier empty
  unsigned bytes = 0;  ///< per lane
  Counts counts;
};

/// The requests of one warp with one instruction.
struct WarpRequests {
  std::size_t site = 0;   ///< in LaunchCounts::sites
  std::size_t block = 0;  ///< linear
  unsigned warp = 0;      ///< in its block
  long long executed = 0;
  std::vector<TracedRequest> first;  ///< of them
};

/// Which requests are kept where instructions are logged: those of the first two blocks and the last one, in
/// each of them of the first two warps and the last one, and the first so many of one instruction.
constexpr std::size_t kFirstLoggedBlocks = 2;
constexpr unsigned kFirstLoggedWarps = 2;
constexpr std::size_t kMostLoggedExecutions = 16;

/// The cost of one launch on the CPU device.
struct LaunchCounts {
  std::string kernel;  ///< with its template arguments: "fused<4>"
  Dim3 grid, block;
  Counts counts;
  // Where instructions are logged:
  std::vector<TracedRequest> requests;  ///< of the first warp of the first block
  std::vector<SiteCounts> sites;
  std::vector<WarpRequests> warps;
  bool ended_early = false;  ///< by a finding; the counts are those so far
  long long times = 1;       ///< launches of this kind that had the same counts
};

}  // namespace workbook

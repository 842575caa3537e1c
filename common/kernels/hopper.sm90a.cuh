/// \file
/// For kernels on a Hopper GPU: its instructions in PTX, each once. Barriers that count bytes (mbarrier),
/// tiles that the tensor memory accelerator (TMA) copies, and matrix products of a warpgroup, which is four
/// warps (wgmma). Target sm_90a. Sources: NVIDIA, PTX ISA, "mbarrier", "Tensors" and "Asynchronous Warpgroup
/// Level Matrix Instructions"; CUDA Driver API, "Tensor Map Object Management".
#pragma once
#include <cuda.h>
#include <cudaTypedefs.h>

#include "mma.gpu.cuh"

namespace DEVICE {

// [warpgroup]
/// The number of this thread's warpgroup in its block. The shuffle changes no value, but it tells the
/// compiler that all lanes of a warp have the same number. Whatever depends on it can then be computed once
/// per warp, in uniform registers, which is where wgmma expects the addresses of its tiles.
__device__ inline int warpgroup_index() {
  return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x / 128), 0);
}
// [warpgroup]

// [registers]
/// All warps of a warpgroup call one of these: each of their threads then has `Count` registers, a multiple
/// of eight. Those that one warpgroup gives up are there for another to take. The kernel must be compiled for
/// a fixed number of threads (__launch_bounds__(threads, 1)).
template <int Count>
__device__ inline void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
// [registers]

// --- Barriers ---

// [barriers]
/// A barrier in shared memory (mbarrier). Its phases are numbered 0, 1, 2, ..., and a phase's parity is its
/// number modulo 2. A phase is complete when the expected number of threads has arrived and all bytes
/// that expect_tx has added have been written.
using Barrier = unsigned long long;

/// Makes a barrier that expects `arrivals` threads in each phase.
__device__ inline void init_barrier(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

/// Makes the barriers that this thread has initialised visible to the TMA and to the cluster's other blocks.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives, and makes the phase wait for `bytes` more bytes, which asynchronous copies will write.
__device__ inline void arrive_expect_tx(Barrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// Returns as soon as the barrier's current phase has the other parity: the phase that the caller means is
/// then complete. Parities alone are compared, so a caller that means phase p may come while p or p + 1 is
/// the current one, not earlier and not later. On a fresh barrier phase 0 is the current one, and waiting for
/// parity 1 returns at once.
__device__ inline void wait(Barrier* barrier, int parity) {
  int ended;
  do {
    asm volatile(
        "{\n.reg .pred ended;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "selp.b32 %0, 1, 0, ended;\n}"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (!ended);
}
// [barriers]

// [remote]
/// Arrives at the barrier of block `rank` of the cluster, at the same offset in its shared memory as
/// `barrier` has here. It is not a release at cluster scope, which would first wait for this thread's writes:
/// those who arrive here have only read.
__device__ inline void arrive_remote(Barrier* barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}
// [remote]

// [exchange]
/// Stores two floats at the same place in the shared memory of block `rank` of the cluster; `barrier`, at the
/// same place there too, counts their bytes.
__device__ inline void send_pair(float first, float second, void* place, Barrier* barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 place, barrier;\n"
      "mapa.shared::cluster.u32 place, %0, %2;\n"
      "mapa.shared::cluster.u32 barrier, %1, %2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [place], {%3, %4}, [barrier];\n}" ::"r"(
          shared_address(place)),
      "r"(shared_address(barrier)), "r"(rank), "r"(__float_as_uint(first)), "r"(__float_as_uint(second))
      : "memory");
}

/// Returns when the phase of this parity is complete; what other blocks have sent can then be read.
__device__ inline void wait_in_cluster(Barrier* barrier, int parity) {
  int ended;
  do {
    asm volatile(
        "{\n.reg .pred ended;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 ended, [%1], %2;\n"
        "selp.b32 %0, 1, 0, ended;\n}"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (!ended);
}
// [exchange]

// [state]
/// Goes round a pipeline: the stage that is next, and the parity of the phase in which it is filled.
template <int Stages>
struct PipelineState {
  int stage = 0, parity = 0;
  __device__ void advance() {
    if (++stage < Stages) return;
    stage = 0;
    parity ^= 1;
  }
};
// [state]

// --- Tiles, copied by the TMA ---

/// Starts to fetch the description of a matrix, which the first copy would otherwise wait for.
__device__ inline void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// [load]
/// Starts the copy of a tile, the one at (row, column) of the matrix that `map` describes, to shared memory.
/// Elements outside the matrix become zeros. One thread calls it; `barrier` counts the bytes.
__device__ inline void tma_load(__nv_bfloat16* tile, const CUtensorMap* map, int row, int column,
                                Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
}
// [load]

// [multicast]
/// The same for every block of the cluster whose bit is set in `blocks`: the tile is written to the same
/// address in each of them, and counted by the barrier at the same address.
__device__ inline void tma_load_multicast(unsigned short blocks, __nv_bfloat16* tile, const CUtensorMap* map,
                                          int row, int column, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}
// [multicast]

// [store]
/// Makes what this thread has written to shared memory visible to the TMA.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Starts the copy of a tile from shared memory to (row, column) of the matrix. Elements outside the matrix
/// are not stored. One thread calls it.
__device__ inline void tma_store(const CUtensorMap* map, int row, int column, const __nv_bfloat16* tile) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(column), "r"(row), "r"(shared_address(tile))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Returns when the stores that this thread has started have read their tiles, which may then be overwritten.
__device__ inline void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/// Stores four 8x8 matrices to shared memory; lanes hold and address them as in ldmatrix_x4().
__device__ inline void stmatrix_x4(unsigned row, const unsigned* matrices) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(matrices[0]), "r"(matrices[1]), "r"(matrices[2]), "r"(matrices[3])
               : "memory");
}
// [store]

// [bulk]
/// Starts the copy of `bytes` bytes, a multiple of 16, from shared memory to global memory, which may be
/// another GPU's; both start at multiples of 16 bytes. One thread calls it.
__device__ inline void bulk_store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Returns when all that this thread has had stored is written, not only read as in tma_store_wait_read().
__device__ inline void bulk_store_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// [bulk]

// --- Tiles of one of many matrices ---

/// tma_load() of the tile at (row, column) of one of the matrices of a stack, whose map stack_map() has made.
__device__ inline void tma_load(__nv_bfloat16* tile, const CUtensorMap* map, int matrix, int row, int column,
                                Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(tile)),
      "l"(map), "r"(column), "r"(row), "r"(matrix), "r"(shared_address(barrier))
      : "memory");
}

/// The same for tma_store().
__device__ inline void tma_store(const CUtensorMap* map, int matrix, int row, int column,
                                 const __nv_bfloat16* tile) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
               "r"(column), "r"(row), "r"(matrix), "r"(shared_address(tile))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// --- Products of a warpgroup ---

// [products]
/// The shared-memory matrix descriptor of a tile with rows of 128 bytes, swizzled as the TMA does it: wgmma
/// finds the 16-byte chunk c of row r at position c ^ r % 8 of the row. Offsets are in units of 16 bytes.
__device__ inline unsigned long long matrix_descriptor(const __nv_bfloat16* tile) {
  constexpr unsigned long long kLeadingByteOffset = 1ull << 16;           // not used with this swizzle
  constexpr unsigned long long kStrideByteOffset = (1024ull >> 4) << 32;  // from eight rows to the next eight
  constexpr unsigned long long kSwizzle128Bytes = 1ull << 62;
  return shared_address(tile) >> 4 | kLeadingByteOffset | kStrideByteOffset | kSwizzle128Bytes;
}

/// Before wgmma: orders it after this warp's writes to its registers, accumulators and first operands.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes the group of products that were started since the last call.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Returns when all groups of products but the last `Pending` are complete.
template <int Pending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// After wgmma_wait(): tells the compiler that the products have changed these accumulators, so that it does
/// not use them earlier.
template <int Count>
__device__ inline void wgmma_has_written(float (&acc)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(acc[i])::"memory");
}
template <int Rows64, int Count>
__device__ inline void wgmma_has_written(float (&acc)[Rows64][Count]) {
#pragma unroll
  for (int r = 0; r < Rows64; ++r) wgmma_has_written(acc[r]);
}
// [products]

/// Starts acc += x * w^T for tiles of 64x16 and 128x16 elements, given by their descriptors; with kAdd = 0,
/// acc = x * w^T. All four warps of the warpgroup call it, and each accumulates 16 rows. In each lane,
/// acc[4j..4j+3] are mma_m16n8k16()'s accumulators for the columns from 8j.
template <int kAdd = 1>
__device__ inline void wgmma(float (&acc)[64], unsigned long long x, unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, %66, 1, 1, 0, 0;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
        "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]),
        "+f"(acc[38]), "+f"(acc[39]), "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]),
        "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), "+f"(acc[48]), "+f"(acc[49]),
        "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
        "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]),
        "+f"(acc[62]), "+f"(acc[63])
      : "l"(x), "l"(w), "n"(kAdd));
}

/// The same for tiles of 64x16 and 64x16 elements.
template <int kAdd = 1>
__device__ inline void wgmma(float (&acc)[32], unsigned long long x, unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, %34, 1, 1, 0, 0;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31])
      : "l"(x), "l"(w), "n"(kAdd));
}

/// The same for tiles of 64x16 and 192x16 elements.
__device__ inline void wgmma(float (&acc)[96], unsigned long long x, unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, 1, 1, 1, 0, 0;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
        "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]),
        "+f"(acc[38]), "+f"(acc[39]), "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]),
        "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), "+f"(acc[48]), "+f"(acc[49]),
        "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
        "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]),
        "+f"(acc[62]), "+f"(acc[63]), "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]),
        "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]), "+f"(acc[72]), "+f"(acc[73]),
        "+f"(acc[74]), "+f"(acc[75]), "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]),
        "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), "+f"(acc[84]), "+f"(acc[85]),
        "+f"(acc[86]), "+f"(acc[87]), "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]),
        "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95])
      : "l"(x), "l"(w));
}

/// The same for tiles of 64x16 and 256x16 elements.
__device__ inline void wgmma(float (&acc)[128], unsigned long long x, unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, 1, 1, 1, 0, 0;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
        "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]),
        "+f"(acc[38]), "+f"(acc[39]), "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]),
        "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), "+f"(acc[48]), "+f"(acc[49]),
        "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
        "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]),
        "+f"(acc[62]), "+f"(acc[63]), "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]),
        "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]), "+f"(acc[72]), "+f"(acc[73]),
        "+f"(acc[74]), "+f"(acc[75]), "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79]),
        "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), "+f"(acc[84]), "+f"(acc[85]),
        "+f"(acc[86]), "+f"(acc[87]), "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]),
        "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95]), "+f"(acc[96]), "+f"(acc[97]),
        "+f"(acc[98]), "+f"(acc[99]), "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]),
        "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), "+f"(acc[108]), "+f"(acc[109]),
        "+f"(acc[110]), "+f"(acc[111]), "+f"(acc[112]), "+f"(acc[113]), "+f"(acc[114]), "+f"(acc[115]),
        "+f"(acc[116]), "+f"(acc[117]), "+f"(acc[118]), "+f"(acc[119]), "+f"(acc[120]), "+f"(acc[121]),
        "+f"(acc[122]), "+f"(acc[123]), "+f"(acc[124]), "+f"(acc[125]), "+f"(acc[126]), "+f"(acc[127])
      : "l"(x), "l"(w));
}

/// The descriptor of a tile that wgmma_by_rows() reads: `next_columns` is how many bytes after its first 64
/// columns the next 64 begin.
__device__ inline unsigned long long rows_descriptor(const __nv_bfloat16* tile, unsigned next_columns) {
  const unsigned long long upper_half = matrix_descriptor(tile) & 0xffffffffull << 32;
  return upper_half | (next_columns >> 4) << 16 | shared_address(tile) >> 4;
}

/// Starts acc += x * w, for 64x16 elements of x in registers and a tile of w of 16x64. x[0..3] of each lane
/// is mma_m16n8k16()'s first operand for the 16 rows of its warp; the rows of w are those of its tile, whose
/// descriptor says how far 64 columns are from the next 64.
__device__ inline void wgmma_by_rows(float (&acc)[32], const unsigned (&x)[4], unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(w));
}

/// The same for 16x128 elements of w.
__device__ inline void wgmma_by_rows(float (&acc)[64], const unsigned (&x)[4], unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
        "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]),
        "+f"(acc[38]), "+f"(acc[39]), "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]),
        "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), "+f"(acc[48]), "+f"(acc[49]),
        "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
        "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]),
        "+f"(acc[62]), "+f"(acc[63])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(w));
}

/// Stores what a warpgroup has accumulated as the tile at (row, column) of an m x n matrix in bfloat16, as
/// store_accumulator() does: n must be even. `Rows64` is the number of 64-row parts of the tile,
/// `Accumulators` that of a lane in each part, half its columns.
template <int Rows64, int Accumulators>
__device__ void store_accumulators(const float (&acc)[Rows64][Accumulators], __nv_bfloat16* matrix, int row,
                                   int column, int m, int n) {
  const int in_row = threadIdx.x / 32 % 4 * 16;
#pragma unroll
  for (int r = 0; r < Rows64; ++r)
#pragma unroll
    for (int j = 0; j < Accumulators / 4; ++j)
      store_accumulator(&acc[r][4 * j], matrix, row + r * 64 + in_row, column + 8 * j, m, n);
}

// --- Swizzled tiles in shared memory ---

constexpr int kSwizzledRowBytes = 128;                                       // a row of every tile
constexpr int kSwizzledColumns = kSwizzledRowBytes / sizeof(__nv_bfloat16);  // its elements
constexpr int kTileAlignment = 8 * kSwizzledRowBytes;  // the swizzle repeats after eight rows

/// The block's dynamic shared memory as a T that starts where tiles may. Launch with kSharedBytes<T>.
template <class T>
__device__ T& in_shared_memory() {
  auto* memory = dynamic_shared<unsigned char>();
  return *reinterpret_cast<T*>(memory + (-shared_address(memory)) % kTileAlignment);
}
template <class T>
constexpr size_t kSharedBytes = sizeof(T) + kTileAlignment;

// --- On the host ---

// [clusters]
/// Launches as many clusters of `blocks` blocks as the GPU runs at once, or `most`, if that is less.
template <class... Parameters, class... Arguments>
void launch_clusters(void (*kernel)(Parameters...), int blocks, int most, int threads, int shared_bytes,
                     Arguments... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  if (blocks > 8) check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = multiprocessors() / blocks * blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = launch_stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int resident = 0;
  check(cudaOccupancyMaxActiveClusters(&resident, kernel, &config));
  if (resident == 0) throw Error("this GPU cannot run a cluster of so many blocks");
  config.gridDim = blocks * (resident < most ? resident : most);
  check(cudaLaunchKernelEx(&config, kernel, arguments...));
}
// [clusters]

/// The TMA's description of a stack of `matrices` matrices of rows x columns, one after the other, which it
/// copies in swizzled tiles of `tile_rows` x kSwizzledColumns elements, each of one matrix. With `rank` 2,
/// there is one matrix. \throws gpu::Error unless the matrices and their rows start at multiples of 16 bytes.
inline CUtensorMap tensor_map(int rank, const __nv_bfloat16* first, int matrices, int rows, int columns,
                              int tile_rows) {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult how;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how));
    if (!found)
      throw Error("the driver has no cuTensorMapEncodeTiled: it must be one for CUDA 12.0 or newer");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  }();
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows),
                             static_cast<cuuint64_t>(matrices)};
  const cuuint64_t row_bytes = size[0] * sizeof *first, apart[] = {row_bytes, row_bytes * size[1]};
  const cuuint32_t tile[] = {kSwizzledColumns, static_cast<cuuint32_t>(tile_rows), 1}, every[] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, rank, const_cast<__nv_bfloat16*>(first), size, apart,
             tile, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error("the TMA cannot copy this matrix (CUresult " + std::to_string(result) +
                "): it and its rows must start at multiples of 16 bytes");
  return map;
}

/// For tma_load() and tma_store() of one matrix, and of one in a stack.
inline CUtensorMap tensor_map(const __nv_bfloat16* matrix, int rows, int columns, int tile_rows) {
  return tensor_map(2, matrix, 1, rows, columns, tile_rows);
}
inline CUtensorMap stack_map(const __nv_bfloat16* first, int matrices, int rows, int columns, int tile_rows) {
  return tensor_map(3, first, matrices, rows, columns, tile_rows);
}

}  // namespace DEVICE

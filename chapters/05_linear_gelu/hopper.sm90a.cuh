/// \file
/// What stages 15 to 22 say to a Hopper GPU in PTX, each instruction once: barriers that count bytes, tiles
/// that the tensor memory accelerator (TMA) copies, and products of a warpgroup, which is four warps. Target
/// sm_90a. Source of the formats: NVIDIA, PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions",
/// "Tensors", "mbarrier"; CUDA Driver API, "Tensor Map Object Management".
#pragma once
#include <cuda.h>
#include <cudaTypedefs.h>

#include "14_mma.gpu.cuh"

namespace DEVICE::linear_gelu {

// [warpgroup]
/// The number of this thread's warpgroup in the block. The shuffle gives each lane what it has, but tells the
/// compiler that a warp has one such number: what follows from it is computed once a warp, in the uniform
/// registers from which wgmma takes the places of its tiles.
__device__ inline int warpgroup() { return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x / 128), 0); }
// [warpgroup]

// --- Barriers ---

// [barriers]
/// A barrier in shared memory. Its phases have the parities 0, 1, 0, 1, ...; one ends when as many threads
/// have arrived as the barrier was made for, and all bytes have come that were announced.
using Barrier = unsigned long long;

__device__ inline void make_barrier(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

/// Lets the TMA, and the other blocks of a cluster, see the barriers that this thread has made.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives, and announces `bytes` that copies will bring.
__device__ inline void arrive_announcing(Barrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// Arrives at the barrier that lies in block `rank` of the cluster where this one lies here. Without
/// .release.cluster, which would wait for all that this thread has written: the readers wrote nothing.
__device__ inline void arrive_in_block(Barrier* barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

/// Returns when the phase of this parity has ended. It cannot tell that phase from the one before the last:
/// who waits must be less than two phases behind. Of a new barrier the phase "before the first", 1, has
/// ended.
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

/// Returns when all threads of two consumers have come: a barrier in which the producer has no part.
__device__ inline void meet_consumers() { asm volatile("bar.sync 1, 256;" ::: "memory"); }

// --- Flags in global memory, between blocks ---

/// Sets a flag: who finds it set finds all that this warp wrote before its last __syncwarp().
__device__ inline void set_flag(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

/// Returns when the flag has been set, and clears it.
__device__ inline void wait_for_flag(unsigned* flag) {
  unsigned is_set;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(is_set) : "l"(flag) : "memory");
  } while (!is_set);
  *flag = 0;
}

// --- Tiles, copied by the TMA ---

// [tiles]
/// Starts the copy of the tile at (row, column) of the matrix of `map`, with zeros for what the matrix does
/// not have. One thread calls it; the bytes arrive at `barrier`.
__device__ inline void load_tile(__nv_bfloat16* tile, const CUtensorMap* map, int row, int column,
                                 Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

/// The same to that place in all blocks of the cluster whose bits are set, each with the barrier that lies
/// where this one does.
__device__ inline void load_tile_for(unsigned short blocks, __nv_bfloat16* tile, const CUtensorMap* map,
                                     int row, int column, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

/// Lets the TMA see what this thread has written to shared memory.
__device__ inline void publish_writes() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Starts the copy of a tile to (row, column) of the matrix, of as much as the matrix has. One thread calls
/// it.
__device__ inline void store_tile(const CUtensorMap* map, int row, int column, const __nv_bfloat16* tile) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(column), "r"(row), "r"(shared_address(tile))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Returns when the copies that this thread has started have read their tiles.
__device__ inline void wait_for_stores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

/// Stores four squares of 8 x 8 elements, as load_squares() loads them.
__device__ inline void store_squares(unsigned row, const unsigned* squares) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(squares[0]),
               "r"(squares[1]), "r"(squares[2]), "r"(squares[3])
               : "memory");
}
// [tiles]

// --- Products of a warpgroup ---

// [products]
/// What the tensor cores are told of a tile: where it begins, that eight rows take 1024 bytes, and that the
/// 16 bytes number c of row r lie at place c ^ r % 8.
__device__ inline unsigned long long describe(const __nv_bfloat16* tile) {
  return shared_address(tile) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

/// Before products: lets them see the registers that this warp has written.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// After products: makes them a group.
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Returns when all groups of products but the last `Left` are done.
template <int Left>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory");
}
// [products]

/// Starts sum += x * w^T for tiles of 64 x 16 and 128 x 16 elements, by their descriptions, for all four
/// warps. A warp has 16 rows. Of a lane, sum[4 j] to sum[4 j + 3] are what mma.sync's four sums are of
/// columns 8 j on.
__device__ inline void start_product(float (&sum)[64], unsigned long long x, unsigned long long w) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 0;"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
        "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]),
        "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
        "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]),
        "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
        "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]),
        "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]),
        "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]),
        "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
        "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]),
        "+f"(sum[62]), "+f"(sum[63])
      : "l"(x), "l"(w));
}

/// The same for 64 x 16 and 256 x 16 elements.
__device__ inline void start_product(float (&sum)[128], unsigned long long x, unsigned long long w) {
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
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
        "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]), "+f"(sum[13]),
        "+f"(sum[14]), "+f"(sum[15]), "+f"(sum[16]), "+f"(sum[17]), "+f"(sum[18]), "+f"(sum[19]),
        "+f"(sum[20]), "+f"(sum[21]), "+f"(sum[22]), "+f"(sum[23]), "+f"(sum[24]), "+f"(sum[25]),
        "+f"(sum[26]), "+f"(sum[27]), "+f"(sum[28]), "+f"(sum[29]), "+f"(sum[30]), "+f"(sum[31]),
        "+f"(sum[32]), "+f"(sum[33]), "+f"(sum[34]), "+f"(sum[35]), "+f"(sum[36]), "+f"(sum[37]),
        "+f"(sum[38]), "+f"(sum[39]), "+f"(sum[40]), "+f"(sum[41]), "+f"(sum[42]), "+f"(sum[43]),
        "+f"(sum[44]), "+f"(sum[45]), "+f"(sum[46]), "+f"(sum[47]), "+f"(sum[48]), "+f"(sum[49]),
        "+f"(sum[50]), "+f"(sum[51]), "+f"(sum[52]), "+f"(sum[53]), "+f"(sum[54]), "+f"(sum[55]),
        "+f"(sum[56]), "+f"(sum[57]), "+f"(sum[58]), "+f"(sum[59]), "+f"(sum[60]), "+f"(sum[61]),
        "+f"(sum[62]), "+f"(sum[63]), "+f"(sum[64]), "+f"(sum[65]), "+f"(sum[66]), "+f"(sum[67]),
        "+f"(sum[68]), "+f"(sum[69]), "+f"(sum[70]), "+f"(sum[71]), "+f"(sum[72]), "+f"(sum[73]),
        "+f"(sum[74]), "+f"(sum[75]), "+f"(sum[76]), "+f"(sum[77]), "+f"(sum[78]), "+f"(sum[79]),
        "+f"(sum[80]), "+f"(sum[81]), "+f"(sum[82]), "+f"(sum[83]), "+f"(sum[84]), "+f"(sum[85]),
        "+f"(sum[86]), "+f"(sum[87]), "+f"(sum[88]), "+f"(sum[89]), "+f"(sum[90]), "+f"(sum[91]),
        "+f"(sum[92]), "+f"(sum[93]), "+f"(sum[94]), "+f"(sum[95]), "+f"(sum[96]), "+f"(sum[97]),
        "+f"(sum[98]), "+f"(sum[99]), "+f"(sum[100]), "+f"(sum[101]), "+f"(sum[102]), "+f"(sum[103]),
        "+f"(sum[104]), "+f"(sum[105]), "+f"(sum[106]), "+f"(sum[107]), "+f"(sum[108]), "+f"(sum[109]),
        "+f"(sum[110]), "+f"(sum[111]), "+f"(sum[112]), "+f"(sum[113]), "+f"(sum[114]), "+f"(sum[115]),
        "+f"(sum[116]), "+f"(sum[117]), "+f"(sum[118]), "+f"(sum[119]), "+f"(sum[120]), "+f"(sum[121]),
        "+f"(sum[122]), "+f"(sum[123]), "+f"(sum[124]), "+f"(sum[125]), "+f"(sum[126]), "+f"(sum[127])
      : "l"(x), "l"(w));
}

// [multiply]
/// Starts sum += x * w^T as a group, for tiles of kMmaDepth columns: a product for each 16 columns, which are
/// 32 bytes, and for each 64 rows of x.
template <int Squares, int Sums>
__device__ void multiply_tiles(float (&sum)[Squares][Sums], const __nv_bfloat16* x, const __nv_bfloat16* w) {
  begin_products();
#pragma unroll
  for (int r = 0; r < Squares; ++r) {
    const unsigned long long of_x = describe(x + r * 64 * kMmaDepth), of_w = describe(w);
#pragma unroll
    for (int i = 0; i < kMmaDepth / 16; ++i) start_product(sum[r], of_x + 2 * i, of_w + 2 * i);
  }
  end_products();
}
// [multiply]

/// Writes what a warpgroup has summed, for the tile at (row, column), as stage 14 does. n is even.
template <int Squares, int Sums>
__device__ void store_sums(const float (&sum)[Squares][Sums], __nv_bfloat16* product, int row, int column,
                           int m, int n) {
  const int in_row = threadIdx.x / 32 % 4 * 16;
#pragma unroll
  for (int r = 0; r < Squares; ++r)
#pragma unroll
    for (int j = 0; j < Sums / 4; ++j)
      store_square(&sum[r][4 * j], product, row + r * 64 + in_row, column + 8 * j, m, n);
}

// --- A ring of tiles ---

constexpr int kTileAlignment = 1024;  // as the swizzle wants it

// [ring]
/// In shared memory: `Slots` pairs of tiles, one of which is multiplied while others are on their way.
template <int Rows, int Columns, int Slots>
struct Ring {
  static constexpr int kRows = Rows, kColumns = Columns, kSlots = Slots;
  static constexpr int kSlotBytes = (Rows + Columns) * kRowBytes;
  alignas(kTileAlignment) __nv_bfloat16 x[Slots][Rows * kMmaDepth];
  alignas(kTileAlignment) __nv_bfloat16 w[Slots][Columns * kMmaDepth];
  Barrier full[Slots], empty[Slots];  // a phase ends when the tiles have come, and when all have read them

  /// One thread calls it, before all others use the ring. `readers` arrive at a slot's `empty`.
  __device__ void make_barriers(int readers) {
    for (int slot = 0; slot < Slots; ++slot) {
      make_barrier(&full[slot], 1);
      make_barrier(&empty[slot], readers);
    }
    publish_barriers();
  }
};
// [ring]

/// The block's dynamic shared memory as a T that begins where tiles may, and how much of it that takes.
template <class T>
__device__ T& in_shared_memory() {
  auto* memory = dynamic_shared<unsigned char>();
  return *reinterpret_cast<T*>(memory + (-shared_address(memory)) % kTileAlignment);
}
template <class T>
constexpr size_t kSharedBytes = sizeof(T) + kTileAlignment;

/// Goes round a ring: the slot, and the parity of the phase in which it is filled.
template <int Slots>
struct Turn {
  int slot = 0, parity = 0;
  __device__ void next() {
    if (++slot < Slots) return;
    slot = 0;
    parity ^= 1;
  }
};

// --- On the host ---

/// What the TMA knows of a matrix of rows x columns: its tiles are `tile_rows` x kMmaDepth, swizzled. \throws
/// gpu::Error unless the matrix and its rows begin at multiples of 16 bytes.
inline CUtensorMap tensor_map(const __nv_bfloat16* matrix, int rows, int columns, int tile_rows) {
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult how;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how));
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  }();
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t row_bytes = size[0] * sizeof *matrix;
  const cuuint32_t tile[] = {kMmaDepth, static_cast<cuuint32_t>(tile_rows)}, every[] = {1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(matrix), size, &row_bytes,
             tile, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error("the TMA takes no such matrix: it and its rows must begin at multiples of 16 bytes");
  return map;
}

/// The two maps that a kernel with rings `R` copies from.
struct Inputs {
  CUtensorMap x, w;
};
template <class R>
Inputs inputs_of(const __nv_bfloat16* x, const __nv_bfloat16* w, int m, int k, int n) {
  return {tensor_map(x, m, k, R::kRows), tensor_map(w, n, k, R::kColumns)};
}

}  // namespace DEVICE::linear_gelu

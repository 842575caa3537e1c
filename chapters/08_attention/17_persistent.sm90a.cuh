/// \file
/// Stage 17: one block per multiprocessor, which takes one piece of work after the other. The producer loads
/// the next queries as soon as the last scores have become weights, while the outputs are still being divided
/// and stored.
#pragma once
#include "16_three_groups.sm90a.cuh"

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [persistent attention]
/// o as in stage 14. gridDim.x blocks share the `count` pieces of work, one per head and T::kQueries queries.
/// With a mask these differ in length, so a block draws its next from `drawn`, which starts and ends as 0.
template <class T, class Mask>
__global__ void __launch_bounds__(T::kThreads, 1)
    flash_persistent(const __grid_constant__ HeadMaps maps, Sizes s, float scale, int count,
                     unsigned* drawn) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  T& shared = in_shared_memory<T>();
  const int consumer = warpgroup_index() - 1, blocks = gridDim.x;
  if (threadIdx.x == 0) shared.init_barriers();
  __syncthreads();
  PipelineState<T::kStages> state;
  int round = 0;
  if (consumer < 0) {
    give_up_registers<T::kProducerRegisters>();
    if (threadIdx.x != 0) return;
    for (int number = blockIdx.x; number < count; ++round) {
      const HalfPlace at = wgmma_place_of<T, Mask>(s, number);
      produce(shared, state, maps, at, s.key_head(at.head), round, number);
      number = Mask::kCausal ? blocks + atomicInc(drawn, count - 1) : number + blocks;
    }
    for (int c = 0; c < T::kConsumers; ++c) {
      wait(&shared.q_empty[c], round % 2 ^ 1);
      shared.work[c] = count;
      arrive(&shared.q_full[c]);
    }
  } else {
    take_registers<T::kConsumerRegisters>();
    for (;; ++round) {
      wait(&shared.q_full[consumer], round % 2);
      const int number = __shfl_sync(0xffffffffu, threadIdx.x % 32 == 0 ? shared.work[consumer] : 0, 0);
      if (number >= count) break;
      const HalfPlace at = wgmma_place_of<T, Mask>(s, number);
      const int first = at.first + 64 * consumer, steps = steps_of<T>(at);
      const int mine = own_steps<T, Mask>(s, first, steps);
      const Visibility<Mask> visibility(s, first);
      WgmmaSoftmax softmax(scale);
      WgmmaOutputs<T> o = {};
      Overlapped::attend(shared, state, visibility, softmax, o, consumer, mine);
      skip(shared, state, mine, steps);
      store_outputs(shared, maps, o, softmax, consumer, at.head, first);
    }
    tma_store_wait_read();
  }
#endif
}
// [persistent attention]

// --- On the host ---

/// The rows of all tiles of T::kQueries queries together.
template <class T>
int rows_of_tiles(int queries) {
  return ceil_div(queries, T::kQueries) * T::kQueries;
}

/// Whether tiles of 192 queries have rows without queries, more than a tenth of the queries, and tiles of 128
/// have fewer, as with 1024 queries. With a mask, the rows that they leave have few keys.
template <class Mask>
bool wastes_rows(int queries) {
  const int rows = rows_of_tiles<WideGroups>(queries);
  return !Mask::kCausal && rows > 1.1 * queries && rows > rows_of_tiles<TwoWideGroups>(queries);
}

template <class T, class Mask>
void launch_persistent_tiles(const Operands<BFloat16>& a, __nv_bfloat16* o, unsigned* drawn) {
  const int count = wgmma_blocks<T>(a.sizes);
  launch_shared(flash_persistent<T, Mask>, min(multiprocessors(), count), T::kThreads, kSharedBytes<T>,
                head_maps<T>(a, o), a.sizes, a.scale, count, drawn);
}

/// `o` by the tiles that suit the sizes. `drawn` serves one launch at a time.
template <class Mask>
void launch_persistent(const Operands<BFloat16>& a, __nv_bfloat16* o, unsigned* drawn) {
  if (a.sizes.d <= NarrowGroups::D)
    launch_persistent_tiles<NarrowGroups, Mask>(a, o, drawn);
  else if (wastes_rows<Mask>(a.sizes.queries))
    launch_persistent_tiles<TwoWideGroups, Mask>(a, o, drawn);
  else
    launch_persistent_tiles<WideGroups, Mask>(a, o, drawn);
}

/// The counter of this stage, which is never launched twice at a time.
static __device__ unsigned drawn_work = 0;

template <class Mask>
struct PersistentFlash {
  static void run(const Data& data) {
    void* drawn = nullptr;
    check(cudaGetSymbolAddress(&drawn, drawn_work));
    launch_persistent<Mask>(operands<BFloat16>(data), data[kHalfO<Mask>], static_cast<unsigned*>(drawn));
  }
  static Traffic traffic(const Shape& s) {
    if (s.dims[4] <= NarrowGroups::D) return wgmma_traffic<NarrowGroups, Mask>(s);
    return wastes_rows<Mask>(s.dims[2]) ? wgmma_traffic<TwoWideGroups, Mask>(s)
                                        : wgmma_traffic<WideGroups, Mask>(s);
  }
  static bool suits(const Shape& s) { return rows_are_chunks(s); }
};
#endif

struct Persistent {
  static constexpr Stage row = kOnHopper<Full>.with(
      {.name = "17_persistent", .idea = "persistent: the next queries load early, for short rows"});
#ifdef WORKBOOK_GPU
  using Runs = PersistentFlash<Full>;
#endif
};

struct PersistentCausal {
  static constexpr Stage row = kOnHopper<Causal>.with(
      {.name = "17_causal", .idea = "the same with a causal mask", .against = "09_masked"});
#ifdef WORKBOOK_GPU
  using Runs = PersistentFlash<Causal>;
#endif
};

}  // namespace DEVICE::attention

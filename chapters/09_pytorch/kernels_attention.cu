/// \file
/// Attention on a GPU, with the stages of chapter 08 as they are. For float32: 02_one_kernel and 03_mask for
/// the weights, 08_exp2 and 09_causal for the whole. For bfloat16: 13_weights, 12_mma, and 11_split where
/// there are few queries. On compute capability 9.0 also those of kernels_attention.sm90a.cu.
#include <stdexcept>

#include "../08_attention/02_one_kernel.cuh"
#include "../08_attention/09_causal.cuh"
#include "../08_attention/11_split.cuh"
#include "../08_attention/12_mma.gpu.cuh"
#include "../08_attention/13_weights.gpu.cuh"
#include "kernels.gpu.cuh"
#include "on_hopper.hpp"

namespace DEVICE::operators {

namespace stages = attention;
using stages::Causal;
using stages::Full;

struct Task {
  stages::Sizes sizes;
  workbook::Shape shape;

  explicit Task(const WorkbookAttention& a)
      : sizes{a.heads, a.key_heads, a.queries, a.keys, a.d},
        shape{{a.heads, a.key_heads, a.queries, a.keys, a.d}} {}
};

/// launch_shared(), with a message of its own where a block has not so much shared memory.
template <class... Params, class... Args>
void launch_tiles(void (*kernel)(Params...), dim3 grid, int threads, size_t shared_bytes, Args... args) {
  if (shared_bytes > static_cast<size_t>(most_shared_bytes()))
    throw std::runtime_error("this kernel needs " + std::to_string(shared_bytes) +
                             " bytes of shared memory per block, and this GPU has " +
                             std::to_string(most_shared_bytes()));
  launch_shared(kernel, grid, threads, shared_bytes, args...);
}

// --- The weights alone ---

/// Whether 18_cluster is faster than 02_one_kernel, from times on an H100 with d = 64, where it is, and d =
/// 16, where it is not: it takes as long for a small d as for 64, and for a few keys as for 512.
bool suits_cluster(const WorkbookAttention& a) {
#ifdef WORKBOOK_OPS_HOPPER
  return a.d > 32 && a.d <= 64 && a.keys > 256 && compute_capability() == 90;
#else
  return false;
#endif
}

template <class Mask>
void weights_in_float32(const WorkbookAttention& a, const float* q, const float* k, float* p) {
  if (!Mask::kCausal && suits_cluster(a)) return workbook_ops::launch_weights_on_hopper(a);
  const stages::Sizes s = Task(a).sizes;
  const int across = stages::threads_across(s);
  const auto kernel = across == 32   ? stages::weights_in_one_kernel<Mask, 32>
                      : across == 64 ? stages::weights_in_one_kernel<Mask, 64>
                                     : stages::weights_in_one_kernel<Mask, 128>;
  const unsigned tiles = static_cast<unsigned>(ceil_div(s.queries, stages::kRowQueries));
  launch(kernel, static_cast<unsigned>(s.heads) * tiles, stages::kRowGroups * across, q, k, p, s, a.scale);
}

template <class Tiles, class Mask>
void weights_in_tiles(const WorkbookAttention& a, const __nv_bfloat16* q, const __nv_bfloat16* k,
                      __nv_bfloat16* p) {
  const stages::Sizes s = Task(a).sizes;
  const int each = stages::tiles_per_block(s);
  const dim3 grid(static_cast<unsigned>(s.heads),
                  static_cast<unsigned>(ceil_div(ceil_div(s.queries, Tiles::kQueries), each)));
  launch_tiles(stages::weights_by_mma<Tiles, Mask>, grid, Tiles::kThreads,
               stages::kMmaAlignment + sizeof(Tiles), q, k, p, s, a.scale, each);
}

template <class Mask>
void weights_in_bfloat16(const WorkbookAttention& a, const __nv_bfloat16* q, const __nv_bfloat16* k,
                         __nv_bfloat16* p) {
  need_bfloat16();
  if (a.keys <= 256)
    weights_in_tiles<stages::WeightTiles256, Mask>(a, q, k, p);
  else if (a.keys <= 512)
    weights_in_tiles<stages::WeightTiles512, Mask>(a, q, k, p);
  else
    weights_in_tiles<stages::WeightTiles1024, Mask>(a, q, k, p);
}

// --- The whole ---

template <int D, class Mask>
void flash_in_float32(const WorkbookAttention& a, const float* q, const float* k, const float* v, float* o) {
  using Order = std::conditional_t<Mask::kCausal, stages::VisibleTiles, stages::EveryTile>;
  const stages::Sizes s = Task(a).sizes;
  launch_tiles(stages::flash<D, stages::LazySoftmax, Mask, Order>, stages::query_tiles(s), stages::kThreads,
               sizeof(stages::FlashTiles<D>), q, k, v, o, s, a.scale);
}

template <class Tiles, class Mask>
void flash_in_bfloat16(const WorkbookAttention& a, const __nv_bfloat16* q, const __nv_bfloat16* k,
                       const __nv_bfloat16* v, __nv_bfloat16* o) {
  const stages::Sizes s = Task(a).sizes;
  launch_tiles(stages::flash_by_mma<Tiles, Mask>,
               static_cast<unsigned>(s.heads) * static_cast<unsigned>(ceil_div(s.queries, Tiles::kQueries)),
               Tiles::kThreads, Tiles::kSharedBytes, q, k, v, o, s, a.scale);
}

void split_in_bfloat16(const WorkbookAttention& a, const __nv_bfloat16* q, const __nv_bfloat16* k,
                       const __nv_bfloat16* v, __nv_bfloat16* o) {
  const Task task(a);
  const auto rows = static_cast<unsigned>(stages::rows(task.shape));
  const int count = stages::part_count(task.shape);
  float* const outputs = static_cast<float*>(a.scratch);
  auto* const parts = reinterpret_cast<float2*>(outputs + count * stages::q_elements(task.shape));
  using Rows = stages::RowsInOrder;
  launch(a.d <= 64 ? stages::attend_to_part<64, Rows> : stages::attend_to_part<128, Rows>,
         dim3(rows, static_cast<unsigned>(count)), stages::kSplitThreads, q, k, v, outputs, parts, task.sizes,
         a.scale, stages::part_keys(task.shape), Rows{a.keys});
  launch(stages::combine, rows, stages::kSplitThreads, outputs, parts, o, count, a.d);
}

/// Whether a mask hides any key: one query sees all keys with a causal one as well.
bool is_masked(const WorkbookAttention& a) { return a.causal && a.queries > 1; }

/// Whether queries are split over their keys: there are too few for the tensor cores' tiles, and enough keys
/// for several parts.
bool is_split(const WorkbookAttention& a) {
  return a.type != kFloat32 && !is_masked(a) && a.queries <= 16 && stages::part_count(Task(a).shape) > 1;
}

/// Whether kernels_attention.sm90a.cu has a kernel: the TMA copies rows that are whole multiples of 16 bytes.
bool suits_hopper(const WorkbookAttention& a) {
#ifdef WORKBOOK_OPS_HOPPER
  return a.type != kFloat32 && a.d % 8 == 0 && are_aligned(a.q, a.k, a.v, a.out) &&
         compute_capability() == 90;
#else
  return false;
#endif
}

/// Whether 17_causal is faster than 16_causal although a kernel must set its counter to 0 first: on an H100,
/// from 1024 keys on, where blocks have several pieces of work.
bool draws_work(const WorkbookAttention& a) {
  constexpr int kKeys = 512, kTileQueries = 192;
  return suits_hopper(a) && is_masked(a) && a.keys > kKeys && a.keys <= workbook_ops::kShortRows &&
         1LL * a.heads * ceil_div(a.queries, kTileQueries) > multiprocessors();
}

template <class Function>
void with_mask(const WorkbookAttention& a, Function function) {
  if (is_masked(a))
    function(Causal());
  else
    function(Full());
}

template <class Mask, class T>
void run_attention(const WorkbookAttention& a, const T* q, const T* k, const T* v, T* o) {
  if constexpr (sizeof(T) == 4) {
    a.d <= 64 ? flash_in_float32<64, Mask>(a, q, k, v, o) : flash_in_float32<128, Mask>(a, q, k, v, o);
  } else {
    need_bfloat16();
    if (is_split(a)) return split_in_bfloat16(a, q, k, v, o);
    if (suits_hopper(a)) return workbook_ops::launch_attention_on_hopper(a);
    stages::with_mma_tiles(a.d, are_aligned(a.q, a.k, a.v),
                           [&](auto tiles) { flash_in_bfloat16<decltype(tiles), Mask>(a, q, k, v, o); });
  }
}

template <class T>
void run(const WorkbookAttention& a) {
  const auto in = [](const void* array) { return static_cast<const T*>(array); };
  T* const out = static_cast<T*>(a.out);
  with_mask(a, [&]<class Mask>(Mask) {
    if (a.v)
      run_attention<Mask>(a, in(a.q), in(a.k), in(a.v), out);
    else if constexpr (sizeof(T) == 4)
      weights_in_float32<Mask>(a, in(a.q), in(a.k), out);
    else
      weights_in_bfloat16<Mask>(a, in(a.q), in(a.k), out);
  });
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_attention_cuda(const WorkbookAttention* task, void* stream) {
  return guarded(stream, [&] { task->type == kFloat32 ? run<float>(*task) : run<__nv_bfloat16>(*task); });
}

long long workbook_attention_scratch(const WorkbookAttention* task) {
  const workbook::Shape shape = Task(*task).shape;
  if (is_split(*task)) return stages::split_outputs(shape) + stages::split_parts(shape);
  return draws_work(*task);
}

/// \file
/// Stage 11 with keys and values in pages, as a server has them whose texts grow while they are written.
#pragma once
#include "11_split.cuh"

namespace DEVICE::attention {

// [paged rows]
/// The row that holds a key of a head: page_table says which page, and a page's rows are one after the other.
/// A part is whole pages, which are whole steps of the kernel's loop: so no key past a head's last is asked
/// for.
struct RowsInPages {
  const unsigned* page_table;
  int pages;  ///< of a head
  __device__ size_t operator()(int head, int key) const {
    const unsigned page = page_table[head * pages + key / kPageKeys];
    return static_cast<size_t>(page) * kPageKeys + key % kPageKeys;
  }
};
// [paged rows]

// --- On the host ---

struct Paged {
  static constexpr Stage row =
      kInBFloat16<Full>.with({.name = "11_paged",
                              .idea = "the same with keys and values in pages of 64",
                              .output = {&kOPaged},
                              .kernels = 2,
                              .needs = "at most 16 queries; d of at most 128; pages of 64 keys"});
  static void run(const Data& data) {
    const auto* table = data[kPageTable];
    attend_and_combine(data, paged_part_keys(data.shape), RowsInPages{table, data.shape.dims[3] / kPageKeys},
                       data[kOPaged]);
  }
  /// A warp has 4 keys at a time, or 2 where d is more than 64, all in one page, whose number is a sector.
  static Traffic traffic(const Shape& s) {
    const long long warp_keys = s.dims[4] <= 64 ? 4 : 2, of_table = 32 * rows(s) * s.dims[3] / warp_keys;
    return Split::traffic(s, ceil_div(s.dims[3], paged_part_keys(s))) +
           Traffic{of_table, 0, repeated(of_table, 4 * page_count(s))};
  }
  static bool suits(const Shape& s) { return has_pages(s); }
};

}  // namespace DEVICE::attention

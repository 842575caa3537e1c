/// \file
/// Products of matrices that are spread over the lanes of a warp.
///
/// A GPU of compute capability 8.0 or more computes m16n8 products (mma.sync.m16n8k16, of TF32 m16n8k8;
/// NVIDIA's PTX manual, section "Matrix Fragments for mma.m16n8k16"), so a fragment of wmma is that of two
/// such products. The left operand has 16 lines (rows of A), the right one 8 (columns of B). Lane 4 * g + t
/// holds the elements of line g at the depths 2 * t and 2 * t + 1 of every 8x8 matrix; with TF32, those at
/// depth t of every 8x4 matrix; with 8 bits, those at the depths 4 * t to 4 * t + 3; in the accumulator,
/// those of line g of the left operand and lines 2 * t and 2 * t + 1 of the right one. 8x32x16 is the product
/// of the transposed matrices: B is its left operand.
///
/// How nvcc 13 compiles loads and stores for compute capability 9.0:
/// - 16-bit elements move in pairs, 32 bits at once. Where memory runs the other way, each 8x8 matrix moves
///   in the order of memory and is transposed between the lanes (MOVM).
/// - TF32 moves element by element. Accumulators of float move in pairs of 64 bits, or element by element
///   where memory runs the other way.
/// - 8-bit elements of one line move four at a time, 32 bits; element by element where memory runs the other
///   way. Unlike the others, these counts have not been compared with a GPU's.
/// - From shared memory, `__half` is loaded by ldmatrix, the matrices of one fragment in one request: the
///   wavefronts are those of the single loads.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <type_traits>

#include "cpu_device/access.hpp"
#include "cpu_device/builtins/trace.hpp"
#include "cpu_device/dialect/float16.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/warp_operations.hpp"

namespace cpu {
namespace {

constexpr int kMostLines = 32, kMostDepth = 32;

bool is_16_bit(const WarpFragment& f) {
  return f.number == FragmentNumber::kHalf || f.number == FragmentNumber::kBfloat16;
}

bool is_8_bit(const WarpFragment& f) {
  return f.number == FragmentNumber::kInt8 || f.number == FragmentNumber::kUint8;
}
unsigned bytes_of(const WarpFragment& f) { return is_16_bit(f) ? 2 : is_8_bit(f) ? 1 : 4; }

bool transposed(const WarpFragment& f) { return f.m == 8; }

/// Whether it is the operand of 16-line tiles.
bool is_left(const WarpFragment& f) { return (f.use == FragmentUse::kA) != transposed(f); }

/// Elements of the matrix that a lane holds; a fragment may hold them several times.
int own_elements(const WarpFragment& f) {
  switch (f.use) {
    case FragmentUse::kA:
      return f.m * f.k / static_cast<int>(kWarpSize);
    case FragmentUse::kB:
      return f.k * f.n / static_cast<int>(kWarpSize);
    default:
      return f.m * f.n / static_cast<int>(kWarpSize);
  }
}

/// An element of an operand: its line and the depth in it. An element of an accumulator: the lines of the
/// left and the right operand whose product it is.
struct ElementPlace {
  int line, depth;
};

/// Where element i of a lane's fragment belongs.
ElementPlace place_of(const WarpFragment& f, int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  if (f.use == FragmentUse::kAccumulator) {
    const ElementPlace in_tile = {group + 8 * (i / 2 % 2), 2 * member + i % 2};
    if (f.m == 16) return {in_tile.line, in_tile.depth + 8 * (i / 4)};
    return {in_tile.line + 16 * (i / 4), in_tile.depth};
  }
  if (f.number == FragmentNumber::kTf32)
    return is_left(f) ? ElementPlace{group + 8 * (i % 2), member + 4 * (i / 2)}
                      : ElementPlace{group + 8 * (i / 2), member + 4 * (i % 2)};
  if (is_8_bit(f) && f.k == 32)  // of mma.sync alone
    return is_left(f) ? ElementPlace{group + 8 * (i / 4 % 2), 4 * member + i % 4 + 16 * (i / 8)}
                      : ElementPlace{group, 4 * member + i % 4 + 16 * (i / 4)};
  if (is_8_bit(f))
    return is_left(f) ? ElementPlace{group + 8 * (i / 4 % 2) + 16 * (i / 8), 4 * member + i % 4}
                      : ElementPlace{group + 8 * (i / 4), 4 * member + i % 4};
  return is_left(f)
             ? ElementPlace{group + 8 * (i / 2 % 2) + 16 * (i / 8), 2 * member + i % 2 + 8 * (i / 4 % 2)}
             : ElementPlace{group + 8 * (i / 4), 2 * member + i % 2 + 8 * (i / 2 % 2)};
}

/// Whether memory runs along the depth of a line.
bool runs_along_depth(const WarpFragment& f, const WarpMatrix& matrix) {
  if (f.use == FragmentUse::kAccumulator) return matrix.by_columns == transposed(f);
  return matrix.by_columns == (f.use == FragmentUse::kB);
}

// --- Moving fragments ---

/// How a fragment moves to and from memory.
struct Transfer {
  unsigned element_bytes;
  int step;         ///< elements that move at once
  bool along;       ///< memory runs along the depth
  bool transposes;  ///< each 8x8 matrix is transposed between the lanes
};

Transfer transfer(const WarpFragment& f, const WarpMatrix& matrix) {
  const bool along = runs_along_depth(f, matrix);
  if (is_16_bit(f)) return {2, 2, along, !along};
  if (is_8_bit(f)) return {1, along ? 4 : 1, along, false};
  return {4, along && f.number != FragmentNumber::kTf32 ? 2 : 1, along, false};
}

/// The offset in memory, in elements, of a lane's elements from i on.
std::size_t offset_of(const WarpFragment& f, const WarpMatrix& matrix, const Transfer& how, int lane, int i) {
  ElementPlace place = place_of(f, lane, i);
  if (!how.along) std::swap(place.line, place.depth);
  if (how.transposes) {
    const int group = lane / 4, member = lane % 4;
    place.line += group - 2 * member;
    place.depth += 2 * member - group;
  }
  return static_cast<std::size_t>(place.line) * matrix.stride + static_cast<std::size_t>(place.depth);
}

/// One lane's part in a load or store.
struct Lane {
  WarpFragment fragment;
  WarpMatrix matrix;
  bool stores;
  bool agrees;  ///< with lane 0
};

void compare_lanes(void* const* lanes) {
  const auto& first = *static_cast<const Lane*>(lanes[0]);
  for (unsigned l = 0; l < kWarpSize; ++l) {
    auto& lane = *static_cast<Lane*>(lanes[l]);
    lane.agrees = lane.matrix.first == first.matrix.first && lane.matrix.stride == first.matrix.stride;
  }
}

/// Transposes every 8x8 matrix of 16-bit elements between the lanes.
void transpose_matrices(void* const* lanes) {
  const auto& fragment = static_cast<const Lane*>(lanes[0])->fragment;
  const auto elements = [&](int lane) {
    return static_cast<std::uint16_t*>(static_cast<Lane*>(lanes[lane])->fragment.elements);
  };
  const int own = own_elements(fragment);
  std::uint16_t transposed_elements[kWarpSize][kMostDepth];
  for (int lane = 0; lane < static_cast<int>(kWarpSize); ++lane)
    for (int i = 0; i < own; ++i) {
      const int line = lane / 4, depth = 2 * (lane % 4) + i % 2;
      transposed_elements[lane][i] = elements(4 * depth + line / 2)[i - i % 2 + line % 2];
    }
  for (int lane = 0; lane < static_cast<int>(kWarpSize); ++lane)
    std::copy_n(transposed_elements[lane], own, elements(lane));
}

std::string access_text(const Lane& lane, const void* caller) {
  return fmt::format("  {} {} a fragment {} {} at {}", running_thread_name(),
                     lane.stores ? "stores" : "loads", lane.stores ? "to" : "from",
                     memory_name(lane.matrix.first, bytes_of(lane.fragment)),
                     place_text(reinterpret_cast<std::uintptr_t>(caller)));
}

/// The first address must be a multiple of 32 bytes. With 8-bit elements, whose rows of 16 are shorter, it is
/// the size of a lane's fragment (PTX ISA, wmma.load).
unsigned alignment_of(const WarpFragment& f) {
  return is_8_bit(f) ? static_cast<unsigned>(own_elements(f)) : 32;
}

void check_alignment(const Lane& lane, const Transfer& how, const void* caller) {
  const auto instruction = reinterpret_cast<std::uintptr_t>(caller);
  const auto address = reinterpret_cast<std::uintptr_t>(lane.matrix.first);
  const bool stride_fits = lane.matrix.stride * how.element_bytes % 16 == 0;
  const unsigned alignment = alignment_of(lane.fragment);
  if ((address % alignment == 0 && stride_fits) || is_noted("misaligned fragment", instruction)) return;
  if (address % alignment != 0)
    return stop_or_note(
        {"misaligned fragment",
         fmt::format("{}\n  which is not a multiple of {} bytes", access_text(lane, caller), alignment),
         fmt::format(
             "does each tile begin at a multiple of {0} bytes? Declare shared tiles with __align__({0})",
             alignment),
         instruction});
  stop_or_note({"misaligned fragment",
                fmt::format("{}\n  with a leading dimension of {} elements: not a multiple of 16 bytes",
                            access_text(lane, caller), lane.matrix.stride),
                fmt::format("the leading dimension must be a multiple of {} elements of {} bytes",
                            16 / how.element_bytes, how.element_bytes),
                instruction});
}

void move_fragment(Lane lane, char* memory, const void* caller) {
  refuse_on_host("an operation of nvcuda::wmma", caller);
  const WarpFragment& f = lane.fragment;
  const Transfer how = transfer(f, lane.matrix);
  auto* elements = static_cast<char*>(f.elements);
  const int own = own_elements(f);

  check_alignment(lane, how, caller);
  warp_collective(compare_lanes, &lane, caller);
  if (!lane.agrees)
    stop_launch(
        {"fragment of several matrices",
         fmt::format("{}\n  with an address or leading dimension that differs from lane 0's",
                     access_text(lane, caller)),
         "all lanes of a warp must pass the same matrix: does the address depend on threadIdx % 32?"});

  if (lane.stores && how.transposes) warp_collective(transpose_matrices, &lane, caller);
  const unsigned bytes = how.element_bytes * static_cast<unsigned>(how.step);
  for (int i = 0; i < own; i += how.step) {
    char* there = memory + offset_of(f, lane.matrix, how, static_cast<int>(device().thread.lane), i) *
                               how.element_bytes;
    char* here = elements + static_cast<unsigned>(i) * how.element_bytes;
    trace_access(there, bytes, lane.stores ? AccessKind::kStore : AccessKind::kLoad, caller);
    std::memcpy(lane.stores ? there : here, lane.stores ? here : there, bytes);
  }
  if (lane.stores) return;
  if (how.transposes) warp_collective(transpose_matrices, &lane, caller);
  const std::size_t own_bytes = static_cast<std::size_t>(own) * how.element_bytes;
  for (int i = own; i < f.count; i += own)
    std::memcpy(elements + static_cast<unsigned>(i) * how.element_bytes, elements, own_bytes);
}

// --- Numbers ---

template <class Number>
Number element(const WarpFragment& f, int i) {
  switch (f.number) {
    case FragmentNumber::kInt8:
      return static_cast<const signed char*>(f.elements)[i];
    case FragmentNumber::kUint8:
      return static_cast<const unsigned char*>(f.elements)[i];
    case FragmentNumber::kInt32:
      return static_cast<Number>(static_cast<const int*>(f.elements)[i]);
    case FragmentNumber::kHalf:
      return detail::HalfFormat::widen(static_cast<const std::uint16_t*>(f.elements)[i]);
    case FragmentNumber::kBfloat16:
      return detail::Bfloat16Format::widen(static_cast<const std::uint16_t*>(f.elements)[i]);
    case FragmentNumber::kTf32:  // the last 13 bits are ignored
      return std::bit_cast<float>(static_cast<const std::uint32_t*>(f.elements)[i] & ~0x1fffu);
    default:
      return static_cast<const float*>(f.elements)[i];
  }
}

template <class Number>
void set_element(const WarpFragment& f, int i, Number value) {
  if (f.number == FragmentNumber::kInt32) {  // wraps around
    static_cast<int*>(f.elements)[i] = static_cast<int>(static_cast<long long>(value));
  } else if (f.number == FragmentNumber::kHalf) {
    static_cast<std::uint16_t*>(f.elements)[i] =
        detail::narrow<detail::HalfFormat>(static_cast<float>(value));
  } else {
    static_cast<float*>(f.elements)[i] = static_cast<float>(value);
  }
}

// --- The product ---

struct Product {
  const WarpFragment *d, *a, *b, *c;
  bool saturates;
};

/// Calls `visit(fragment, i, place)` for every element of a fragment of all lanes.
template <class Visit>
void for_each_element(void* const* lanes, const WarpFragment* Product::*fragment, Visit visit) {
  for (int lane = 0; lane < static_cast<int>(kWarpSize); ++lane) {
    const WarpFragment& f = *(static_cast<const Product*>(lanes[lane])->*fragment);
    for (int i = 0; i < own_elements(f); ++i) visit(f, i, place_of(f, lane, i));
  }
}

/// In float, or exactly in integers.
template <class Number>
void multiply(void* const* lanes) {
  const auto& first = *static_cast<const Product*>(lanes[0]);
  const bool swapped = transposed(*first.a);
  Number left[kMostLines][kMostDepth], right[kMostDepth][kMostDepth];
  const auto gather = [](Number(*lines)[kMostDepth]) {
    return [lines](const WarpFragment& f, int i, ElementPlace place) {
      lines[place.line][place.depth] = element<Number>(f, i);
    };
  };
  for_each_element(lanes, &Product::a, gather(swapped ? right : left));
  for_each_element(lanes, &Product::b, gather(swapped ? left : right));
  Number sum[kMostLines][kMostDepth];
  for_each_element(lanes, &Product::c, gather(sum));
  const int k = first.a->k;
  for_each_element(lanes, &Product::d, [&](const WarpFragment& d, int i, ElementPlace place) {
    Number total = sum[place.line][place.depth];
    for (int depth = 0; depth < k; ++depth) total += left[place.line][depth] * right[place.depth][depth];
    if constexpr (std::is_integral_v<Number>)
      if (first.saturates) total = std::clamp<Number>(total, INT_MIN, INT_MAX);
    set_element(d, i, total);
  });
}

}  // namespace

void warp_load(const WarpFragment& to, const WarpMatrix& from) {
  move_fragment({to, from, false, true}, static_cast<char*>(const_cast<void*>(from.first)), CALLER);
}

void warp_store(void* to, const WarpMatrix& layout, const WarpFragment& from) {
  move_fragment({from, layout, true, true}, static_cast<char*>(to), CALLER);
}

void warp_multiply(const WarpFragment& d, const WarpFragment& a, const WarpFragment& b, const WarpFragment& c,
                   bool saturates) {
  Product product = {&d, &a, &b, &c, saturates};
  warp_collective(is_8_bit(a) ? multiply<long long> : multiply<float>, &product, CALLER);
}

}  // namespace cpu

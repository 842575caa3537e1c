/// \file
/// Exercise 07.2, share_calls: what it asks for, and how the file that is judged is called.
#include "../numbers.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace gelu_dropout_numbers;

long long two(const Shape&) { return 2; }

constexpr auto kOffset = input<unsigned>("offset", two);

void fill(const Data& host) {
  const unsigned long long offset = ShareCalls::random(static_cast<unsigned>(host.shape.dims[0])).offset;
  unsigned* halves = host[kOffset];
  fill_x(host, 172);
  halves[0] = static_cast<unsigned>(offset);
  halves[1] = static_cast<unsigned>(offset >> 32);
}

constexpr auto kY = output<float>("y", elements, reference_y<ShareCalls>, {&kX, &kOffset});
constexpr const Array* kArrays[] = {&kX, &kOffset, &kY};

/// Warps whose lanes have four elements each.
long long warps(const Shape& s) { return (elements(s) + 127) / 128; }
/// The offset, and a float4 of x.
long long two_loads(const Shape& s) { return 2 * warps(s); }
long long x_and_offsets(const Shape& s) { return array_bytes(s) + 32 * warps(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can the last elements be computed in the same kernel?"},
    {Cost::kLoadRequests, two_loads,
     "a warp needs one request for a float4 of x per lane, and one for a call per lane: is x loaded as "
     "float4? Is draw() called once for four elements, and its result kept in a variable?"},
    {Cost::kReadBytes, x_and_offsets,
     "do neighbouring threads load neighbouring float4? Each call of draw() costs a warp a sector of 32 "
     "bytes: "
     "is it called once for four elements?"},
    {Cost::kStoreRequests, warps, "y can be stored as float4 too: is it?"},
    {Cost::kWrittenBytes, array_bytes, "do neighbouring threads store neighbouring float4?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "One Philox call has numbers for four elements. A thread that has all four needs one call for "
              "them, and one float4.",
          .lesson = "docs/07_gelu_dropout.md, stage 3",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kY},
          .roundings = roundings,
          .limits = kLimits,
          .shapes = kShorterLengths};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  Dropout dropout = gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::ShareCalls>(d.shape);
  dropout.random.offset = 0;
  gelu_dropout_share_calls::gelu_dropout(d[kX], d[kY], d.shape.dims[0], dropout,
                                         reinterpret_cast<const unsigned long long*>(d[kOffset]));
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE

/// \file
/// Exercise 07.3, bit_mask: what it asks for, and how the file that is judged is called.
#include "../numbers.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace gelu_dropout_numbers;

/// A third of x is 0, where y is 0 whether the element stays or not. So the mask does not follow from y.
void fill(const Data& host) {
  fill_x(host, 173);
  for (int i = 1; i < host.shape.dims[0]; i += 3) host[kX][i] = 0.0f;
}

long long words(const Shape& s) { return (elements(s) + 31) / 32; }

/// The parts of for_each_element() begin at multiples of 32, so no two cores have bits of the same word.
void reference_mask(const Data& host, double* expected, double*) {
  for (long long w = 0; w < words(host.shape); ++w) expected[w] = 0;
  for_each_element<BitMask>(host.shape, [&](unsigned i, bool kept) {
    if (kept) expected[i / 32] += 1u << i % 32;
  });
}

constexpr auto kY = output<float>("y", elements, reference_y<BitMask>, {&kX});
constexpr auto kMask = output<unsigned>("mask", words, reference_mask, {&kX});
constexpr const Array* kArrays[] = {&kX, &kY, &kMask};

long long none(const Shape&) { return 0; }
long long two_stores(const Shape& s) { return 2 * words(s); }

/// A word that is stored alone touches a sector of 32 bytes.
long long y_and_sectors(const Shape& s) { return array_bytes(s) + 32 * words(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can the kernel that computes y store the mask as well?"},
    {.cost = Cost::kReadBytes,
     .allowed = array_bytes,
     .excess = "only x is needed: is y, the mask or an element of x read again?",
     .scattered = kScatteredLoads},
    {Cost::kLoadRequests, words, "the lanes of a warp load 32 elements of x in one request: do they?"},
    {Cost::kAtomics, none, "a vote returns all 32 bits at once: can it take the place of the atomics?"},
    {Cost::kStoreRequests, two_stores,
     "a warp stores 32 elements of y in one request and a word of the mask in another: does it store more?"},
    {Cost::kWrittenBytes, y_and_sectors,
     "do the lanes of a warp store neighbouring elements of y, and does only one of them store the word?"},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A vote turns a decision of each lane into one word that all lanes have, without shared memory. "
          "All 32 lanes must take part in it, also those beyond the last element.",
      .lesson = "docs/07_gelu_dropout.md, stage 8",
      .arrays = kArrays,
      .fill = fill,
      .output = {&kY, &kMask},
      .roundings = roundings,
      .limits = kLimits,
      .shapes = kShorterLengths};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  gelu_dropout_bit_mask::gelu_dropout(
      d[kX], d[kY], d[kMask], d.shape.dims[0],
      gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::BitMask>(d.shape));
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE

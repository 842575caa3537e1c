/// \file
/// Exercise 01.4, sum: what it asks for, and how the file that is judged is called.
#include "../multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long partial_sums(const Shape& shape) { return block_count(shape); }

constexpr auto kX = input<float>("x", elements);
constexpr auto kPartial = scratch<float>("partial", partial_sums);

/// Odd multiples of 1/16: no element is zero, and all sums of a million of them are exact, in any order.
void fill(const Data& host) {
  float* x = host[kX];
  fill_uniform(x, host.shape.dims[0], -1.0f, 2.0f, 41);
  for (int i = 0; i < host.shape.dims[0]; ++i) x[i] = (2.0f * floorf(8.0f * x[i]) + 1.0f) / 16.0f;
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float* x = host[kX];
  *expected = *magnitude = 0;
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    *expected += x[i];
    *magnitude += fabs(x[i]);
  }
}

constexpr auto kTotal = output<float>("total", one, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kPartial, &kTotal};

/// With more elements those of a thread, a tree of 8 levels, the blocks of a thread, and the tree again.
int roundings(const Shape& s) {
  constexpr int kExact = 1'000'000, kThreads = 256;
  if (s.dims[0] <= kExact) return 0;
  return s.dims[0] / (block_count(s) * kThreads) + 1 + 8 + kMostBlocks / kThreads + 8;
}

constexpr int kBlocks[] = {32, 96, 1024, 256};

long long none(const Shape&) { return 0; }
long long reads(const Shape& s) { return array_bytes(s) + sector_bytes(block_count(s)); }
/// In a block of 256 threads the solution's tree takes 52: 8 stores; 4, 2 and then 6 times 1 warps with two
/// loads and a store; 8 warps' last load. Other trees may take a few more.
long long blocks(const Shape& s) { return partial_sums(s) + 1; }
long long wavefronts(const Shape& s) { return 64 * blocks(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, reads,
     "a float of x is needed once: do neighbouring threads load neighbouring floats, and is what they add up "
     "in between in registers and shared memory?"},
    {Cost::kSharedWavefronts, wavefronts,
     "a warp with one thread at work takes as long as a full one: does only one thread of each pair add, are "
     "these threads neighbours, and is what they read in different banks?",
     blocks},
    {Cost::kAtomics, none,
     "atomic additions come in another order in each run, and with it come other last bits"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "The threads of a block exchange values through shared memory, with a barrier after each step. "
              "The order of the additions is the same in every run.",
          .lesson = "docs/01_multiply_add.md, stage 5",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kTotal},
          .roundings = roundings,
          .limits = kLimits,
          .shapes = kShorterLengths,
          .blocks = kBlocks};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  const int blocks = block_count(d.shape);
  launch(multiply_add_sum::sum_blocks, blocks, d.block, d[kX], d[kPartial], d.shape.dims[0]);
  launch(multiply_add_sum::sum_blocks, 1, d.block, d[kPartial], d[kTotal], blocks);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE

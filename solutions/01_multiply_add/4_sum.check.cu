/// \file
/// Specification of exercise 01.4, sum.
#include "multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long partial_sums(const Shape& shape) { return block_count(shape); }

/// Odd multiples of 1/16: no element is zero, and all sums of a million of them are exact, in any order.
void fill(const Data& host) {
  float* x = host.floats("x");
  fill_uniform(x, host.shape.dims[0], -1.0f, 2.0f, 41);
  for (int i = 0; i < host.shape.dims[0]; ++i) x[i] = (2.0f * floorf(8.0f * x[i]) + 1.0f) / 16.0f;
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float* x = host.floats("x");
  *expected = *magnitude = 0;
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    *expected += x[i];
    *magnitude += fabs(x[i]);
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"partial", Type::kFloat32, Role::kScratch, partial_sums, nullptr},
                         {"total", Type::kFloat32, Role::kOutput, one, reference}};

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "total",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .shapes = kShorterLengths.data(),
          .shape_count = kShorterLengths.size(),
          .blocks = kBlocks,
          .block_count = sizeof kBlocks / sizeof kBlocks[0]};
}

}  // namespace DEVICE

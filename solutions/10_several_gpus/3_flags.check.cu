/// \file
/// Specification of exercise 10.3, flags.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr int kThreads = 128, kRounds = 2;

/// A shape is GPUs and blocks.
int gpus(const Shape& s) { return s.dims[0]; }
long long blocks(const Shape& s) { return s.dims[1]; }
long long elements(const Shape& s) { return blocks(s) * kThreads; }
long long sums(const Shape& s) { return kRounds * elements(s); }
long long flags(const Shape& s) { return blocks(s) * kMostGpus; }

void fill(const Data& host) {
  for (int gpu = 0; gpu < gpus(host.shape); ++gpu)
    fill_uniform(rows_on_gpus::floats(host, "value", gpu), elements(host.shape), -1.0f, 1.5f,
                 80u + static_cast<unsigned>(gpu));
}

void reference(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  for (long long i = 0; i < gpus(s) * sums(s); ++i) {
    const long long of_gpu = i % sums(s);
    expected[i] = magnitude[i] = 0;
    for (int gpu = 0; gpu < gpus(s); ++gpu) {
      const double value = rows_on_gpus::floats(host, "value", gpu)[of_gpu % elements(s)];
      expected[i] += value + static_cast<double>(of_gpu / elements(s));
      magnitude[i] += fabs(value) + 1;
    }
  }
}

int roundings(const Shape& s) { return gpus(s) + 2; }

const Array kArrays[] = {{"x", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"value", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"sums", Type::kFloat32, Role::kOutput, sums, reference},
                         {"flags", Type::kUint32, Role::kState, flags, nullptr},
                         {"turns", Type::kUint32, Role::kState, blocks, nullptr}};

constexpr Shape kShapes[] = {{{1, 1}}, {{2, 1}}, {{3, 2}}, {{8, 1}}, {{2, 5}},
                             {{1, 4}}, {{8, 3}}, {{3, 5}}, {{4, 32}}};

/// The loads of x and the stores of flags, one for each other GPU in each meeting of a block.
long long peer_bytes_to_read(const Shape& s) { return (gpus(s) - 1) * gpus(s) * 4 * sums(s); }
long long peer_bytes_to_write(const Shape& s) {
  return (gpus(s) - 1) * rows_on_gpus::meetings(s, blocks(s), 2 * kRounds);
}

const Limit kLimits[] = {
    {Cost::kPeerReadBytes, peer_bytes_to_read,
     "is a flag loaded over NVLink? Let each GPU poll flags in its own memory, which the others set"},
    {Cost::kPeerWrittenBytes, peer_bytes_to_write,
     "does one thread set the flag on each GPU, once per meeting?"},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A flag hands over what was written before it: barrier, fence, flag on the one side, wait, fence, "
          "barrier on the other. Turns that only grow need no reset.",
      .lesson = "docs/10_several_gpus.md, stage 1",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .output = "sums",
      .roundings = roundings,
      .limits = kLimits,
      .limit_count = sizeof kLimits / sizeof kLimits[0],
      .gpus = gpus,
      .dims = "GxB",
      .shapes = kShapes,
      .shape_count = sizeof kShapes / sizeof kShapes[0],
      .timed_shape = {{2, 64}}};
}

}  // namespace DEVICE

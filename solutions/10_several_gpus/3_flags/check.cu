/// \file
/// Exercise 10.3, flags: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

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

constexpr auto kX = scratch<float>("x", elements);
constexpr auto kValue = input<float>("value", elements);
constexpr auto kFlags = state<unsigned>("flags", flags);
constexpr auto kTurns = state<unsigned>("turns", blocks);

void fill(const Data& host) {
  for (int gpu = 0; gpu < gpus(host.shape); ++gpu)
    fill_uniform(host.of(kValue, gpu), elements(host.shape), -1.0f, 1.5f, 80u + static_cast<unsigned>(gpu));
}

void reference(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  for (long long i = 0; i < gpus(s) * sums(s); ++i) {
    const long long of_gpu = i % sums(s);
    expected[i] = magnitude[i] = 0;
    for (int gpu = 0; gpu < gpus(s); ++gpu) {
      const double value = host.of(kValue, gpu)[of_gpu % elements(s)];
      expected[i] += value + static_cast<double>(of_gpu / elements(s));
      magnitude[i] += fabs(value) + 1;
    }
  }
}

int roundings(const Shape& s) { return gpus(s) + 2; }

constexpr auto kSums = output<float>("sums", sums, reference, {&kValue});
constexpr const Array* kArrays[] = {&kX, &kValue, &kSums, &kFlags, &kTurns};

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
      .fill = fill,
      .output = {&kSums},
      .roundings = roundings,
      .limits = kLimits,
      .gpus = gpus,
      .dims = "GxB",
      .shapes = kShapes,
      .timed_shape = {{2, 64}}};
}

// --- How the file that is judged is called ---

namespace {

namespace rows = rows_on_gpus;

/// For `rounds` rounds: x = value + round, then sums[round] = x added up over all GPUs, each thread for
/// another one's element. turns[b] is how often block b has met the others in earlier launches.
__global__ void exchange(const float* value, const __grid_constant__ OnGpus<float> x, float* sums,
                         const __grid_constant__ OnGpus<unsigned> flags, unsigned* turns, int gpus, int me,
                         int rounds) {
  const int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  const int other = first + (blockDim.x - 1 - threadIdx.x);
  unsigned turn = turns[blockIdx.x];
  for (int round = 0; round < rounds; ++round) {
    x.of[me][i] = value[i] + static_cast<float>(round);
    meeting_flags::wait_for_others(flags, gpus, me, ++turn);
    float sum = 0.0f;
    for (int gpu = 0; gpu < gpus; ++gpu) sum += x.of[gpu][other];
    meeting_flags::wait_for_others(flags, gpus, me, ++turn);
    sums[round * gridDim.x * blockDim.x + other] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) turns[blockIdx.x] = turn;
}

void run(const Data& d) {
  const auto x = rows::on_gpus<float>(d, kX);
  const auto flags = rows::on_gpus<unsigned>(d, kFlags);
  const int gpus = d.shape.dims[0], blocks = d.shape.dims[1];
  // As if an earlier kernel had left it.
  on_each_gpu(gpus,
              [&](int gpu) { launch(rows::overwrite<float>, blocks, 128, x.of[gpu], 9.0f, blocks * 128LL); });
  on_each_gpu(gpus, [&](int gpu) {
    auto* turns = d.of(kTurns, gpu);
    launch(exchange, blocks, 128, d.of(kValue, gpu), x, d.of(kSums, gpu), flags, turns, gpus, gpu, 2);
  });
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE

#include "../../chapters/07_gelu_dropout/06_table.cuh"
#include "../../chapters/07_gelu_dropout/09_recomputed.cuh"
#include "dropout.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

using namespace gelu_dropout;

__host__ __device__ inline void philox_number(const PhiloxInput* in, unsigned* out, int i) {
  const unsigned *c = in[i].counter, *k = in[i].key;
  const uint4 counter = {c[0], c[1], c[2], c[3]};
  const uint2 key = {k[0], k[1]};
  const uint4 drawn = in[i].rounds == 7 ? philox<7>(counter, key) : philox(counter, key);
  out[4 * i] = drawn.x, out[4 * i + 1] = drawn.y, out[4 * i + 2] = drawn.z, out[4 * i + 3] = drawn.w;
}

__global__ void philox_numbers(const PhiloxInput* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) philox_number(in, out, i);
}

template <class Numbers>
__global__ void draw_kept(signed char* kept, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = Numbers::place(i);
  kept[i] = !dropout.drops(
      number<Numbers::kBits>(dropout.random.after_rounds<Numbers::kRounds>(at.call), at.number));
}

/// Stage 9 with another seed in each block, or with the call of lane 0 in every lane.
__global__ void wrong_calls(const float* x, const float* dy, float* dx, int n, Dropout dropout,
                            bool by_block) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = EightNumbers::place(i);
  if (by_block) dropout.random.seed += blockIdx.x;
  const unsigned call = by_block ? at.call : at.call / 32 * 32;
  dx[i] = dropout(dy[i] * gelu_slope(x[i]), number<16>(dropout.random(call), at.number));
}

static_assert(kTableFactors == kFactors);

__global__ void table_factors(const float* factors, float* out, unsigned neighbour) {
  __shared__ Table table;
  table.copy(factors);
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  out[2 * bits] = table.of(neighbour << 16 | bits, 1.0f).x;
  out[2 * bits + 1] = table.of(bits << 16 | neighbour, 1.0f).y;
}

template <class Numbers>
void draw(signed char* kept, int n, double p, unsigned long long seed, unsigned long long offset) {
  launch(draw_kept<Numbers>, (n + 255) / 256, 256, kept, n, make_dropout<Numbers::kBits>(p, seed, offset));
}

template <int Vectors>
void run_backward(const float* x, const float* dy, float* dx, int n, const Dropout& dropout) {
  launch(gelu_dropout::backward<float, Vectors, Erf>, (n + 1023) / 1024, 256, x, dy, dx,
         static_cast<unsigned>(n), dropout);
}

}  // namespace kernel

void philox_numbers(const PhiloxInput* in, unsigned* out, int n) {
  launch(kernel::philox_numbers, (n + 255) / 256, 256, in, out, n);
}

void philox_numbers_on_host(const PhiloxInput* in, unsigned* out, int n) {
  for (int i = 0; i < n; ++i) kernel::philox_number(in, out, i);
}

void draw_kept(signed char* kept, int n, Shared shared, double p, unsigned long long seed,
               unsigned long long offset) {
  switch (shared) {
    case Shared::kFour:
      return kernel::draw<gelu_dropout::FourNumbers>(kept, n, p, seed, offset);
    case Shared::kEight:
      return kernel::draw<gelu_dropout::EightNumbers>(kept, n, p, seed, offset);
    case Shared::kSixteen:
      return kernel::draw<gelu_dropout::SixteenNumbers>(kept, n, p, seed, offset);
    case Shared::kHalves:
      return kernel::draw<gelu_dropout::EightHalves>(kept, n, p, seed, offset);
    case Shared::kSevenRounds:
      return kernel::draw<gelu_dropout::EightOfSevenRounds>(kept, n, p, seed, offset);
  }
}

void backward(const float* x, const float* dy, float* dx, int n, double p, unsigned long long seed,
              unsigned long long offset, DropoutMistake mistake) {
  using namespace gelu_dropout;
  switch (mistake) {
    case DropoutMistake::kNone:
      return kernel::run_backward<2>(x, dy, dx, n, make_dropout<16>(p, seed, offset));
    case DropoutMistake::kNextOffset:
      return kernel::run_backward<2>(x, dy, dx, n, make_dropout<16>(p, seed, offset + 1));
    case DropoutMistake::kOtherVectors:
      return kernel::run_backward<1>(x, dy, dx, n, make_dropout<24>(p, seed, offset));
    case DropoutMistake::kSeedByBlock:
    case DropoutMistake::kLaneZero:
      launch(kernel::wrong_calls, (n + 255) / 256, 256, x, dy, dx, n, make_dropout<16>(p, seed, offset),
             mistake == DropoutMistake::kSeedByBlock);
  }
}

void table_factors(float* factors, float* out, unsigned neighbour) {
  kernel::launch_compute_table<kernel::Distribution>(factors, 1.0f);
  launch(kernel::table_factors, 65536 / kernel::kTableThreads, kernel::kTableThreads, factors, out,
         neighbour);
}

}  // namespace DEVICE::test_kernels

#include <cstring>

#include "compiler.hpp"
#include "device.hpp"

namespace DEVICE::test_kernels {
namespace kernel {

struct alignas(16) Wide {
  float values[16];
};
struct Pair {
  int first, second;
};

__global__ void copy_loop(const float* __restrict__ in, float* __restrict__ out, int length) {
  in += threadIdx.x * length;
  out += threadIdx.x * length;
  for (int i = 0; i < length; ++i) out[i] = in[i];
}

__global__ void clear_loop(float* out, int length) {
  out += threadIdx.x * length;
  for (int i = 0; i < length; ++i) out[i] = 0;
}

__global__ void fill_loop(int* out, int length) {
  out += threadIdx.x * length;
  for (int i = 0; i < length; ++i) out[i] = -1;
}

__global__ void shift_loop(float* x, int length) {
  for (int i = 0; i < length; ++i) x[i] = x[i + 1];
}

__global__ void clear_four(float* x) {
  x += 4 * threadIdx.x;
  x[0] = 0;
  x[1] = 0;
  x[2] = 0;
  x[3] = 0;
}

__global__ void copy_structs(const Wide* in, Wide* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void copy_and_clear_structs(const Wide* in, Wide* out) {
  std::memcpy(&out[threadIdx.x], &in[threadIdx.x], sizeof(Wide));
  __syncwarp();
  std::memset(&out[threadIdx.x], 0, sizeof(Wide));
}

__global__ void copy_pairs(const Pair* in, Pair* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void join_bytes(const unsigned char* in, unsigned* out) {
  const unsigned char* bytes = in + 4 * threadIdx.x;
  out[threadIdx.x] = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<unsigned>(bytes[3]) << 24;
}

__global__ void load_between_branches(const float* in, float* out) {
  const int t = threadIdx.x;
  const bool odd = t % 2 == 1;
  float other = 0;
  if (odd) other = in[t + 32];
  float sum = in[t];
  if (odd) sum += other;
  out[t] = sum;
}

__global__ void store_in_both_branches(float* out) {
  const int t = threadIdx.x;
  if (t % 2 == 1)
    out[t] = 1;
  else
    out[t] = 2;
}

__global__ void load_in_both_branches(const float* in, float* out) {
  const int t = threadIdx.x;
  float value;
  if (t % 2 == 0)
    value = in[t];
  else
    value = in[t ^ 1];
  out[t] = value;
}

template <int kTile, int kDepth, int kRows, int kColumns>
__global__ void register_tiles(const float* a, const float* b, float* c, int size) {
  __shared__ float tile_a[kTile * kDepth], tile_b[kDepth * kTile];
  const int row = threadIdx.x / (kTile / kColumns), column = threadIdx.x % (kTile / kColumns);
  a += blockIdx.y * kTile * size;
  b += blockIdx.x * kTile;
  c += blockIdx.y * kTile * size + blockIdx.x * kTile;
  float sums[kRows * kColumns] = {0.0f};
  float of_a[kRows] = {0.0f}, of_b[kColumns] = {0.0f};
  for (int first = 0; first < size; first += kDepth) {
    for (unsigned i = threadIdx.x; i < kTile * kDepth; i += 32) {
      tile_a[i] = a[i / kDepth * size + first + i % kDepth];
      tile_b[i] = b[(first + i / kTile) * size + i % kTile];
    }
    __syncthreads();
    for (unsigned k = 0; k < kDepth; ++k) {
      for (unsigned i = 0; i < kRows; ++i) of_a[i] = tile_a[(row * kRows + i) * kDepth + k];
      for (unsigned j = 0; j < kColumns; ++j) of_b[j] = tile_b[k * kTile + column * kColumns + j];
      for (unsigned i = 0; i < kRows; ++i)
        for (unsigned j = 0; j < kColumns; ++j) sums[i * kColumns + j] += of_a[i] * of_b[j];
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < kRows; ++i)
    for (unsigned j = 0; j < kColumns; ++j)
      c[(row * kRows + i) * size + column * kColumns + j] = sums[i * kColumns + j];
}

__global__ void barrier_in_both_branches(float* out, bool mended) {
  const int t = threadIdx.x;
  if (mended) {
    __syncthreads();
  } else if (t < 16) {
    out[t] = 1;
    __syncthreads();
  } else {
    out[t] = 2;
    __syncthreads();
  }
}

}  // namespace kernel

void copy_loop(const float* in, float* out, int length) { launch(kernel::copy_loop, 1, 32, in, out, length); }
void clear_loop(float* out, int length) { launch(kernel::clear_loop, 1, 32, out, length); }
void fill_loop(int* out, int length) { launch(kernel::fill_loop, 1, 32, out, length); }
void shift_loop(float* x, int length) { launch(kernel::shift_loop, 1, 1, x, length); }
void clear_four(float* x) { launch(kernel::clear_four, 1, 32, x); }
void copy_structs(const void* in, void* out) {
  launch(kernel::copy_structs, 1, 32, static_cast<const kernel::Wide*>(in), static_cast<kernel::Wide*>(out));
}
void copy_and_clear_structs(const void* in, void* out) {
  launch(kernel::copy_and_clear_structs, 1, 32, static_cast<const kernel::Wide*>(in),
         static_cast<kernel::Wide*>(out));
}
void copy_pairs(const void* in, void* out) {
  launch(kernel::copy_pairs, 1, 32, static_cast<const kernel::Pair*>(in), static_cast<kernel::Pair*>(out));
}
void join_bytes(const unsigned char* in, unsigned* out) { launch(kernel::join_bytes, 1, 32, in, out); }
void load_between_branches(const float* in, float* out) {
  launch(kernel::load_between_branches, 1, 32, in, out);
}
void store_in_both_branches(float* out) { launch(kernel::store_in_both_branches, 1, 32, out); }
void register_tiles(const float* a, const float* b, float* c, int size) {
  const unsigned blocks = static_cast<unsigned>(size / 32);
  launch(kernel::register_tiles<32, 8, 8, 4>, dim3(blocks, blocks), 32, a, b, c, size);
}
void copy_too_much(const float* in, float* out, int length, bool mended) {
  launch(kernel::copy_loop, 1, 1, in, out, mended ? length : length + 1);
}
void copy_struct_too_many(const void* in, void* out, bool mended) {
  launch(kernel::copy_structs, 1, mended ? 32 : 33, static_cast<const kernel::Wide*>(in),
         static_cast<kernel::Wide*>(out));
}
void load_in_both_branches(const float* in, float* out, bool mended) {
  launch(kernel::load_in_both_branches, 1, mended ? 32 : 64, in, out);
}
void barrier_in_both_branches(float* out, bool mended) {
  launch(kernel::barrier_in_both_branches, 1, 32, out, mended);
}

}  // namespace DEVICE::test_kernels

// Groups of threads, and asynchronous copies, as programs use them. Each line that it prints ends
// in the number of wrong results.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

namespace cg = cooperative_groups;

__device__ int sum_in_memory(cg::thread_group g, int* x, int value) {
  const int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    x[lane] = value;
    g.sync();
    if (lane < i) value += x[lane + i];
    g.sync();
  }
  return value;
}

__global__ void of_block_and_tiles(int* out) {
  extern __shared__ int memory[];
  const cg::thread_block block = cg::this_thread_block();
  const int of_block = sum_in_memory(block, memory, block.thread_rank());
  block.sync();
  const auto tile = cg::tiled_partition<16>(block);
  const int of_tile = sum_in_memory(tile, memory + block.thread_rank() / 16 * 16, tile.thread_rank());
  block.sync();
  const cg::thread_group eight = cg::tiled_partition(block, 8);
  const int of_eight = sum_in_memory(eight, memory + block.thread_rank() / 8 * 8, 1);
  if (block.thread_rank() == 0) out[0] = of_block, out[1] = of_tile, out[2] = of_eight;
}

__global__ void of_labels(const int* label, int* size, int* sum, int* larger, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  const auto same = cg::labeled_partition(active, label[i]);
  size[i] = same.size();
  sum[i] = cg::reduce(same, i, cg::plus<int>());
  const auto half = cg::binary_partition(active, label[i] > 1);
  larger[i] = half.shfl(i, half.size() - 1);
}

__global__ void __launch_bounds__(64) reverse_by_barrier(const float* x, float* y) {
  __shared__ alignas(16) float tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  if (threadIdx.x < 16)
    cuda::memcpy_async((float4*)&tile[4 * threadIdx.x], (const float4*)&x[4 * threadIdx.x], sizeof(float4),
                       bar);
  auto token = bar.arrive();
  bar.wait(std::move(token));
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void sum_by_pipeline(const float* x, float* y, int tiles) {
  __shared__ float tile[2][32];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const auto load = [&](int t) {
    pipe.producer_acquire();
    if (t < tiles)
      cuda::memcpy_async(&tile[t % 2][threadIdx.x], &x[32 * t + threadIdx.x],
                         cuda::aligned_size_t<4>(sizeof(float)), pipe);
    pipe.producer_commit();
  };
  float sum = 0;
  load(0);
  for (int t = 0; t < tiles; ++t) {
    load(t + 1);
    pipe.consumer_wait();
    sum += tile[t % 2][threadIdx.x];
    pipe.consumer_release();
  }
  y[threadIdx.x] = sum;
}

// The same sum, by copies of the whole block.
__global__ void sum_by_block(const float* x, float* y, int tiles) {
  __shared__ alignas(16) float tile[2][32];
  const auto block = cg::this_thread_block();
  float sum = 0;
  cg::memcpy_async(block, tile[0], x, sizeof tile[0]);
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles)
      cg::memcpy_async(block, tile[(t + 1) % 2], x + 32 * (t + 1), sizeof tile[0]), cg::wait_prior<1>(block);
    else
      cg::wait(block);
    sum += tile[t % 2][threadIdx.x];
    block.sync();
  }
  y[threadIdx.x] = sum;
}

// 24 lanes of a warp, whose mask names all 32.
__global__ void scan_of_part(int* x, unsigned* total) {
  int value = x[threadIdx.x];
  for (int by = 1; by < 32; by *= 2) {
    const int before = __shfl_up_sync(0xffffffff, value, by);
    if (threadIdx.x >= by) value += before;
  }
  x[threadIdx.x] = value;
  const unsigned all = __reduce_add_sync(0xffffff, 1u);
  atomicAdd_system(total, threadIdx.x == 0 ? all : 0);
}

// What rounds in other ways than to nearest, and a wait of some clocks.
__global__ void interval(float a, float b, float* low, float* high) {
  const long long start = clock64();
  while (clock64() - start < 10000) {
  }
  const auto now = clock();
  while (clock() - now < 100000000) {
  }
  low[0] = __fadd_rd(a, b), high[0] = __fadd_ru(a, b);
  low[1] = __fmul_rd(a, b), high[1] = __fmul_ru(a, b);
  low[2] = __fdiv_rd(a, b), high[2] = __fdiv_ru(a, b);
  low[3] = __fsqrt_rd(b), high[3] = __fsqrt_ru(b);
  low[4] = __fadd_rd(a, a), high[4] = __fadd_ru(a, a);
}

// Inline PTX that CUDA C++ can say as well.
__global__ void inline_ptx(int* wrong) {
  __shared__ int ranks[96];
  unsigned lane, warp, below, from, multiprocessor, multiprocessors;
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm("mov.u32 %0, %%lanemask_ge;" : "=r"(from));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor) : : "memory");
  asm("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
  ranks[threadIdx.x] = 32 * (threadIdx.x / 32) + lane;
  asm volatile("membar.gl;" ::: "memory");
  asm volatile("bar.sync 0;");
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  const unsigned next = (threadIdx.x + 1) % 96;
  wrong[threadIdx.x] = (lane != threadIdx.x % 32) + (warp != __shfl_sync(~0u, warp, 0)) +
                       (below != (1u << lane) - 1) + (from != ~below) + (after < before) +
                       (ranks[next] != next) + (multiprocessor >= multiprocessors);
}

// A tile of several warps that is the whole block.
__global__ void of_large_tile(int* x) {
  __shared__ cg::block_tile_memory<128> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  __shared__ int reversed[64];
  reversed[63 - tile.thread_rank()] = x[threadIdx.x];
  tile.sync();
  x[threadIdx.x] = 1000 * tile.meta_group_size() + reversed[tile.thread_rank()];
}

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
std::vector<T> on_host(T* device, int n) {
  std::vector<T> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}

int main() {
  int* sums = on_device(std::vector<int>(3));
  of_block_and_tiles<<<1, 64, 64 * sizeof(int)>>>(sums);
  const std::vector<int> found = on_host(sums, 3);
  printf("sums %d\n", (found[0] != 2016) + (found[1] != 120) + (found[2] != 8));

  constexpr int kCount = 100;
  std::vector<int> label(kCount);
  for (int i = 0; i < kCount; ++i) label[i] = i * 7 % 5 % 3;
  int *labels = on_device(label), *sizes = on_device(label), *of_label = on_device(label),
      *larger = on_device(label);
  of_labels<<<1, 128>>>(labels, sizes, of_label, larger, kCount);
  const std::vector<int> size = on_host(sizes, kCount), sum = on_host(of_label, kCount),
                         last = on_host(larger, kCount);
  cudaFree(labels);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    int count = 0, all = 0, largest = 0;
    for (int j = i / 32 * 32; j < kCount && j < i / 32 * 32 + 32; ++j) {
      count += label[j] == label[i];
      all += label[j] == label[i] ? j : 0;
      if ((label[j] > 1) == (label[i] > 1)) largest = j;
    }
    wrong += size[i] != count || sum[i] != all || last[i] != largest;
  }
  printf("labels %d\n", wrong);

  std::vector<float> x(128);
  for (int i = 0; i < 128; ++i) x[i] = i;
  float *in = on_device(x), *out = on_device(x);
  reverse_by_barrier<<<1, 64>>>(in, out);
  const std::vector<float> reversed = on_host(out, 64);
  wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += reversed[i] != 63 - i;
  printf("barrier %d\n", wrong);
  out = on_device(x);
  sum_by_pipeline<<<1, 32>>>(in, out, 4);
  float* again = on_device(x);
  sum_by_block<<<1, 32>>>(in, again, 4);
  const std::vector<float> added = on_host(out, 32), by_block = on_host(again, 32);
  cudaFree(in);
  wrong = 0;
  for (int i = 0; i < 32; ++i) wrong += (added[i] != 4 * i + 192) + (by_block[i] != added[i]);
  printf("pipeline %d\n", wrong);

  int* part = on_device(std::vector<int>(24, 1));
  unsigned* total = on_device(std::vector<unsigned>(1));
  void* arguments[] = {&part, &total};
  cudaLaunchCooperativeKernel((void*)scan_of_part, 1, 24, arguments);
  const std::vector<int> scanned = on_host(part, 24);
  wrong = on_host(total, 1)[0] != 24;
  for (int i = 0; i < 24; ++i) wrong += scanned[i] != i + 1;
  printf("part of a warp %d\n", wrong);

  const float a = 1.1f, b = -0.3f;
  float *low = on_device(std::vector<float>(5)), *high = on_device(std::vector<float>(5));
  interval<<<1, 1>>>(a, -b, low, high);
  const std::vector<float> lows = on_host(low, 5), highs = on_host(high, 5);
  const long double exact[] = {(long double)a - b, (long double)a * -b, (long double)a / -b,
                               sqrtl(-(long double)b), 2 * (long double)a};
  wrong = lows[4] != highs[4];
  for (int i = 0; i < 5; ++i) wrong += lows[i] > exact[i] || highs[i] < exact[i];
  for (int i = 0; i < 4; ++i) wrong += nextafterf(lows[i], 10.0f) != highs[i];
  printf("interval %d\n", wrong);

  int* of_ptx = on_device(std::vector<int>(96, 1));
  inline_ptx<<<1, 96>>>(of_ptx);
  wrong = 0;
  for (const int each : on_host(of_ptx, 96)) wrong += each;
  printf("inline PTX %d\n", wrong);

  std::vector<int> counted(64);
  for (int i = 0; i < 64; ++i) counted[i] = i;
  int* backwards = on_device(counted);
  of_large_tile<<<1, 64>>>(backwards);
  const std::vector<int> of_tile = on_host(backwards, 64);
  wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += of_tile[i] != 1063 - i;
  printf("large tile %d\n", wrong);

  int calls = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void* data) { ++*(int*)data; }, &calls, 0);
  cudaLaunchHostFunc(
      stream, [](void* data) { ++*(int*)data; }, &calls);
  cudaStreamDestroy(stream);
  printf("callbacks %d\n", calls - 2);
}

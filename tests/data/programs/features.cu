// Many ways to write a CUDA program, in one file.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                           \
  do {                                                                                        \
    const cudaError_t error_ = (call);                                                        \
    if (error_ != cudaSuccess)                                                                \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)), exit(1); \
  } while (0)
#define LAUNCH(kernel, grid, block, ...)  \
  do {                                    \
    kernel<<<grid, block>>>(__VA_ARGS__); \
    CHECK(cudaGetLastError());            \
  } while (0)

static const std::string kName = "features";  // a static initialiser

template <typename T, int N>
struct Vec {
  T v[N];
  __host__ __device__ Vec() {
    for (int i = 0; i < N; ++i) v[i] = T(i);
  }
  __host__ __device__ T sum() const {
    T s = 0;
    for (int i = 0; i < N; ++i) s += v[i];
    return s;
  }
};
template <class T>
__host__ __device__ T clamp01(T x) {
  return std::min(std::max(x, T(0)), T(1));
}
constexpr int cells(int n) { return n * 2; }
inline __host__ __device__ void operator+=(float2& a, float2 b) {
  a.x += b.x;
  a.y += b.y;
}

// Dynamic shared memory: typed in a helper, aligned, and of the whole file.
template <typename T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int memory[];
    return (T*)memory;
  }
  __device__ T& operator[](int i) {
    extern __shared__ T elements[];
    return elements[i];
  }
};
template <class T>
__global__ void reverse_typed(T* x, int n) {
  T* s = SharedMemory<T>();
  SharedMemory<T> elements;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = elements[n - 1 - threadIdx.x];
}
__global__ void reverse_aligned(double* x, int n) {
  extern __shared__ __align__(16) double s2[];
  s2[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s2[n - 1 - threadIdx.x];
}
extern __shared__ unsigned char raw[];
__global__ void swap_pairs(float* x) {
  float* f = reinterpret_cast<float*>(raw);
  f[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = f[threadIdx.x ^ 1];
}

template <class F>
__global__ void apply(float* x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}

__constant__ float table[8];
__constant__ int fixed[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ __managed__ int managed_variable = 40;
__device__ float scratch[4][32];
__global__ void constants(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = table[threadIdx.x & 7] + fixed[threadIdx.x & 3];
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    counter += 2;
    printf("kernel prints %d\n", counter);
  }
  scratch[blockIdx.x][threadIdx.x] = 1;
}
__global__ void count_all() {
  atomicAdd(&counter, 1);
  if (blockIdx.x + threadIdx.x == 0) managed_variable += 2;
}

namespace ns {
template <int A, int B>
struct pair {
  enum { value = A * B };
};
template <class T, int N>
static __global__ void deep(T* x, const T* y = nullptr) {
  if (y) x[threadIdx.x] += y[threadIdx.x] * N;
}
}  // namespace ns
namespace {
__global__ void anonymous(int* x) { atomicAdd(x, cells(1)); }
}  // namespace
__global__ void overloaded(int* x) { *x = 1; }
__global__ void overloaded(float* x) { *x = 2; }
__global__ void by_value(float* x, Vec<float, 4> v) {
  Vec<float, 4> w;
  x[threadIdx.x] = clamp01(v.sum() - w.sum() + 0.25f);
}
__global__ void __launch_bounds__(64, 2) bounded(float* __restrict__ x, const float* __restrict__ y) {
  __shared__ float t[2][33];
  t[threadIdx.x / 32][threadIdx.x % 32] = y[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = t[1 - threadIdx.x / 32][threadIdx.x % 32];
}
__global__ void groups(float* out, const float* x) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const float sum = cg::reduce(warp, x[block.thread_rank()], cg::plus<float>());
  if (warp.thread_rank() == 0) out[warp.meta_group_rank()] = sum;
  block.sync();
}
void later(int*);
__global__ void declared_first(int* out, int n);
template <class K, class... A>
void run(K kernel, dim3 grid, dim3 block, A... arguments) {
  kernel<<<grid, block>>>(arguments...);
}
template <int N>
__global__ void unrolled(int* out) {
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = i << 1 >> 1;
}

int main(int argc, char** argv) {
  dim3 blockDim(32), gridDim((64 + blockDim.x - 1) / blockDim.x);
  std::vector<float> h(64);
  std::iota(h.begin(), h.end(), 0.0f);
  float *x, *y;
  int* c;
  double* d;
  CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CHECK(cudaMalloc((void**)&y, 256));
  CHECK(cudaMalloc(&c, 64));
  CHECK(cudaMalloc(&d, 512));
  cudaMemset(c, 0, 64);
  cudaMemset(d, 0, 512);
  cudaMemcpy(x, h.data(), 256, cudaMemcpyHostToDevice);
  cudaMemcpy(y, h.data(), 256, cudaMemcpyHostToDevice);
  float a = 3;
  LAUNCH((apply), gridDim, blockDim, x, 64, [=] __device__(float q) { return a * q; });
  reverse_typed<float><<<1, 64, 64 * sizeof(float)>>>(x, 64);
  reverse_aligned<<<1, 64, 512>>>(d, 64);
  swap_pairs<<<1, 64, (256 > 128 ? 256 : 128)>>>(x);
  float t[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  cudaMemcpyToSymbol(table, t, sizeof t);
  ns::deep<float, ns::pair<2, (3 > 2)>::value><<<1, 64>>>(x, y);
  ns::deep<float, 2><<<1, 64>>>(x, NULL);
  ns::deep<float, 3><<<1, 64>>>(x);
  anonymous<<<2, 32>>>(c);
  int n;
  cudaMemcpy(&n, c, 4, cudaMemcpyDeviceToHost);
  printf("anonymous %d\n", n);
  overloaded<<<1, 1>>>(c);
  overloaded<<<1, 1>>>(y);
  run(constants, 2, 32, y);
  void (*choice[2])(float*, const float*) = {bounded, bounded};
  choice[1]<<<1, 64>>>(y, x);
  if (argc > 5) choice[0]<<<1, 64>>>(y, x);
  cudaMemcpy(h.data(), x, 256, cudaMemcpyDeviceToHost);
  printf("x %g %g %g\n", h[0], h[1], h[63]);
  by_value<<<1, 64>>>(y, Vec<float, 4>());
  cudaMemcpy(h.data(), y, 256, cudaMemcpyDeviceToHost);
  count_all<<<2, 32>>>();
  int k;
  cudaMemcpyFromSymbol(&k, counter, 4);
  printf("y %g counter %d managed %d\n", h[5], k, managed_variable);
  groups<<<1, 64>>>(x, y);
  cudaMemcpy(h.data(), x, 8, cudaMemcpyDeviceToHost);
  printf("groups %g %g\n", h[0], h[1]);
  declared_first<<<1, 32>>>(c, 3);
  unrolled<4><<<1, 1>>>(c);
  cudaMemcpy(&n, c + 3, 4, cudaMemcpyDeviceToHost);
  printf("unrolled %d\n", n);
  float* shared_by_both;
  cudaMallocManaged(&shared_by_both, 128);
  for (int i = 0; i < 32; ++i) shared_by_both[i] = i;
  apply<<<1, 32>>>(shared_by_both, 32, [] __device__(float q) { return q + 1; });
  cudaDeviceSynchronize();
  printf("managed %g\n", shared_by_both[31]);
  try {
    throw std::runtime_error("caught " + kName);
  } catch (const std::exception& e) {
    std::cout << e.what() << std::endl;
  }
  cudaStream_t stream;
  cudaEvent_t start, stop;
  cudaStreamCreate(&stream);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start, stream);
  bounded<<<1, 64, 0, stream>>>(y, x + 0);
  cudaEventRecord(stop, stream);
  cudaEventSynchronize(stop);
  float ms;
  cudaEventElapsedTime(&ms, start, stop);
  void* arguments[] = {&y, &x};
  cudaLaunchKernel(bounded, dim3(1), dim3(64), arguments, 0, stream);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("%d multiprocessors, %g ms\n", p.multiProcessorCount, ms);
  for (void* each : {(void*)x, (void*)y, (void*)c, (void*)d, (void*)shared_by_both}) cudaFree(each);
  return 0;
}
__global__ void declared_first(int* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = n;
}

// The kernel `both` does what the two others do, but for the second one's stores to shared memory.
#include <cooperative_groups.h>
__device__ void one(const float* x, float* y, float* s, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) y[i] = 2 * x[i];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
}
__device__ void two(const float* x, float* y, float* s, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    y[i] = x[n - 1 - i] + s[(threadIdx.x + 1) % 256];
}
__global__ void both(const float* x, float* y, float* z, int n) {
  __shared__ float s[256];
  one(x, y, s, n);
  cooperative_groups::this_grid().sync();
  two(y, z, s, n);
}
__global__ void first(const float* x, float* y, int n) {
  __shared__ float s[256];
  one(x, y, s, n);
}
__global__ void second(const float* x, float* y, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = 1;
  __syncthreads();
  two(x, y, s, n);
}
int main() {
  int n = 100000;
  float *x, *y, *z;
  cudaMalloc(&x, 4 * n), cudaMalloc(&y, 4 * n), cudaMalloc(&z, 4 * n);
  cudaMemset(x, 0, 4 * n);
  void* arguments[] = {&x, &y, &z, &n};
  cudaLaunchCooperativeKernel((void*)both, 66, 256, arguments);
  first<<<66, 256>>>(x, y, n);
  second<<<66, 256>>>(y, z, n);
}

// y = a * x + y, three times.
#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1000, threads = 256;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n, 1.0f), y(n, 2.0f);
  float *device_x, *device_y;
  cudaMalloc(&device_x, bytes);
  cudaMalloc(&device_y, bytes);
  cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) saxpy<<<(n + threads - 1) / threads, threads>>>(n, 2.0f, device_x, device_y);
  cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost);
  printf("y[0] is %g\n", y[0]);
  cudaFree(device_x);
  cudaFree(device_y);
}

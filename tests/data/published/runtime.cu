// Parts of the runtime, as published programs use them. Each line that it prints ends in the number of wrong
// results.
#include <cstdio>
#include <vector>

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

// --- A large parameter: 24 KiB ---

struct Table {
  int values[6144];
};
__global__ void sum_of_parameter(const __grid_constant__ Table table, int* sums) {
  int sum = 0;
  for (int i = threadIdx.x; i < 6144; i += blockDim.x) sum += table.values[i];
  sums[threadIdx.x] = sum;
}

int of_parameter() {
  Table table;
  for (int i = 0; i < 6144; ++i) table.values[i] = i;
  int* sums = on_device(std::vector<int>(32));
  sum_of_parameter<<<1, 32>>>(table, sums);
  int wrong = 0, i = 0;
  for (const int sum : on_host(sums, 32)) wrong += sum != 192 * i++ + 32 * 192 * 191 / 2;
  return wrong;
}

int main() { printf("large parameter %d\n", of_parameter()); }

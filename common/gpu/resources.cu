#include "gpu/graph.hpp"
#include "gpu/resources.hpp"

namespace gpu {

std::vector<workbook::Resources> resources(const std::function<void()>& stage) {
  const Graph graph(stage);
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  std::vector<workbook::Resources> found;
  for (const cudaGraphNode_t node : graph.kernels()) {
    cudaKernelNodeParams params;
    const cudaError_t status = cudaGraphKernelNodeGetParams(node, &params);
    if (status == cudaErrorInvalidDeviceFunction) {  // a library's, which the runtime does not know
      cudaGetLastError();
      continue;
    }
    check(status, "cudaGraphKernelNodeGetParams");
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, params.func), "cudaFuncGetAttributes");
    const int threads = static_cast<int>(params.blockDim.x * params.blockDim.y * params.blockDim.z);
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, params.func, threads, params.sharedMemBytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const char* name = "";
    check(cudaFuncGetName(&name, params.func), "cudaFuncGetName");
    found.push_back(
        {.kernel = name,
         .threads = threads,
         .registers = attributes.numRegs,
         .spill_bytes = attributes.localSizeBytes,
         .shared_bytes = attributes.sharedSizeBytes + params.sharedMemBytes,
         .occupancy = static_cast<double>(blocks * threads) / device.maxThreadsPerMultiProcessor});
  }
  return found;
}

int kernel_count(const std::function<void()>& stage) {
  return static_cast<int>(Graph(stage).kernels().size());
}

}  // namespace gpu

/// \file
/// CUDA's errors, and what the program may ask about the device.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cpu_device/access.hpp"
#include "cpu_device/findings/launch_limits.hpp"
#include "cpu_device/memory/heap.hpp"
#include "play/runtime/gpus.hpp"
#include "play/runtime/memory.hpp"
#include "play/runtime/session.hpp"

// --- Errors ---

namespace {

struct ErrorRow {
  cudaError_t error;
  const char *name, *text;
};
constexpr ErrorRow kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
};

const ErrorRow& row_of(cudaError_t error) {
  static const ErrorRow unknown = {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  for (const ErrorRow& row : kErrors)
    if (row.error == error) return row;
  return unknown;
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) { return row_of(error).text; }
const char* cudaGetErrorName(cudaError_t error) { return row_of(error).name; }
cudaError_t cudaGetLastError() { return std::exchange(workbook::last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return workbook::last_error; }

// --- The device ---

cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t bytes) {
  if (limit == cudaLimitMallocHeapSize) cpu::heap().set_limit(bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t* bytes, cudaLimit limit) {
  *bytes = limit == cudaLimitMallocHeapSize ? cpu::heap().limit() : 1024;
  return cudaSuccess;
}

/// Those of --model, but for the memory, which is this machine's.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!program::is_gpu(device)) return cudaErrorInvalidDevice;
  const workbook::Card& card = workbook::card();
  const cpu::CardLimits& limits = cpu::card_limits();
  cudaDeviceProp p = {};
  std::snprintf(p.name, sizeof p.name, "CPU device (as %s)", card.full_name);
  p.totalGlobalMem = workbook::session ? workbook::session->backend->free_bytes() : size_t{1} << 32;
  p.sharedMemPerBlock = cpu::kMostStaticSharedBytes;
  p.sharedMemPerBlockOptin = limits.most_shared_bytes;
  p.sharedMemPerMultiprocessor = limits.shared_bytes;
  p.totalConstMem = 65536;
  p.memPitch = 2147483647;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.clockRate = 1000 * card.chip.clock_mhz;
  p.major = card.chip.capability / 10;
  p.minor = card.chip.capability % 10;
  p.multiProcessorCount = limits.multiprocessors;
  p.memoryBusWidth = card.chip.bus_bits;
  p.memoryClockRate = static_cast<int>(1e6 * card.gbytes_per_s / (2 * card.chip.bus_bits / 8));
  p.l2CacheSize = card.chip.l2_mib << 20;
  p.maxThreadsPerMultiProcessor = static_cast<int>(limits.threads);
  p.maxBlocksPerMultiProcessor = static_cast<int>(limits.blocks);
  p.canMapHostMemory = p.concurrentKernels = p.asyncEngineCount = p.unifiedAddressing = p.managedMemory = 1;
  p.concurrentManagedAccess = p.deviceOverlap = p.memoryPoolsSupported = p.hostRegisterSupported = 1;
  p.cooperativeLaunch = 1;
  p.persistingL2CacheMaxSize = p.major >= 8 ? p.l2CacheSize / 8 * 5 : 0;  // as A100, H100 and RTX 4090 say
  p.accessPolicyMaxWindowSize = 134217728;
  p.pciBusID = device;
  *properties = p;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
  const struct {
    cudaDeviceAttr attribute;
    long long value;
  } rows[] = {
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<long long>(p.sharedMemPerBlock)},
      {cudaDevAttrTotalConstantMemory, static_cast<long long>(p.totalConstMem)},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrMaxPitch, static_cast<long long>(p.memPitch)},
      {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
      {cudaDevAttrClockRate, p.clockRate},
      {cudaDevAttrGpuOverlap, p.deviceOverlap},
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrKernelExecTimeout, p.kernelExecTimeoutEnabled},
      {cudaDevAttrIntegrated, p.integrated},
      {cudaDevAttrCanMapHostMemory, p.canMapHostMemory},
      {cudaDevAttrComputeMode, p.computeMode},
      {cudaDevAttrConcurrentKernels, p.concurrentKernels},
      {cudaDevAttrEccEnabled, p.ECCEnabled},
      {cudaDevAttrMemoryClockRate, p.memoryClockRate},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
      {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, static_cast<long long>(p.sharedMemPerMultiprocessor)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrManagedMemory, p.managedMemory},
      {cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported},
      {cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess},
      {cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess},
      {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<long long>(p.sharedMemPerBlockOptin)},
      {cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported}};
  const auto* const row = std::find_if(std::begin(rows), std::end(rows),
                                       [&](const auto& one) { return one.attribute == attribute; });
  if (row == std::end(rows)) return cudaErrorInvalidValue;
  *value = static_cast<int>(row->value);
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

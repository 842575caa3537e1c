#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/current_gpu.hpp"
#include "gpu/error.hpp"
#include "gpu/resources.hpp"
#include "gpu/streaming.hpp"
#include "gpu/timing.hpp"
#include "harness/backends/backend.hpp"
#include "harness/backends/gpus.hpp"
#include "harness/tables/cards.hpp"
#include "system/errors.hpp"
#include "system/read_file.hpp"

namespace workbook {
namespace {

using gpu::check;

// On either side of an array. One page, so that arrays are spread over memory as cudaMalloc spreads them.
constexpr std::size_t kGuardBytes = 4096;

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

int attribute(cudaDeviceAttr what) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, what, current_device()), "cudaDeviceGetAttribute");
  return value;
}

/// "13.0" from 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// "580.159.04", or "unknown" where the kernel module does not say.
std::string driver_release() {
  std::istringstream file(read_file("/sys/module/nvidia/version").text);
  std::string release;
  return file >> release ? release : "unknown";
}

/// "GPU-8c1a4a34-...", as nvidia-smi shows it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

/// What to look at after an error that ends the use of the device; empty where its name says it all.
std::string advice(cudaError_t error) {
  if (error == cudaErrorAssert) return ": the lines before this one say which assert failed, and where";
  if (error == cudaErrorLaunchFailure || error == cudaErrorIllegalInstruction)
    return ": did a kernel execute __trap()? --device cpu says where";
  if (error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress)
    return ": --device cpu says where";
  return "";
}

/// Fills memory of `gpu`, the current one. What comes next goes to GPU 0's stream, or to one that follows it:
/// another GPU's is waited for.
void set_bytes(int gpu, void* memory, unsigned char value, std::size_t bytes) {
  check(cudaMemset(memory, value, bytes), "cudaMemset");
  if (gpu != 0) check(cudaStreamSynchronize(cudaStreamPerThread), "cudaMemset");
}

class CudaBackend : public GpuBackend {
 public:
  DeviceInfo info() const override {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, current_device()), "cudaGetDeviceProperties");
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    DeviceInfo info;
    info.kind = DeviceKind::kGpu;
    info.name = properties.name;
    info.uuid = uuid_text(properties.uuid);
    info.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    info.driver = driver_release() + " (CUDA " + version_text(driver) + ")";
    info.sm_clock_mhz = attribute(cudaDevAttrClockRate) / 1000;
    info.memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate) / 1000;
    const double bus_bytes = attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
    const auto card = card_of_driver_name(info.name);
    info.pin_gbytes_per_s = card ? card->gbytes_per_s : 2 * info.memory_clock_mhz * 1e-3 * bus_bytes;
    info.link_gbytes_per_s = card ? card->link_gbytes_per_s : 0;
    info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    return info;
  }

  int gpus() const override {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return std::min(count, kMostGpus);
  }

  std::string kind_of(int gpu) const override { return gpu::gpu_name(gpu); }
  std::string missing_for(int gpus) const override { return missing_peer_access(gpus, gpu::can_reach); }

  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }

  void* allocate(std::size_t bytes, std::size_t misalignment, const std::string&, std::size_t,
                 int gpu) override {
    gpu::connect_gpus(gpu + 1);
    const gpu::CurrentGpu there(gpu);
    // Guards differ between arrays: otherwise a kernel that copies one element too many would not change
    // them.
    const auto guard = static_cast<unsigned char>(17 + 37 * allocations_.size() % 199);
    Allocation allocation = {gpu::Buffer<unsigned char>(kGuardBytes + misalignment + bytes + kGuardBytes),
                             bytes, guard};
    unsigned char* raw = allocation.memory.data();
    set_bytes(gpu, raw, guard, allocation.memory.bytes());
    void* data = raw + kGuardBytes + misalignment;
    allocations_.emplace(data, std::move(allocation));
    return data;
  }

  void release(void* data) override { allocations_.erase(data); }

  void upload(void* device, const void* host, std::size_t bytes) override {
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  void fill(void* device, unsigned char value, std::size_t bytes) override {
    cudaPointerAttributes attributes;
    check(cudaPointerGetAttributes(&attributes, device), "cudaPointerGetAttributes");
    const gpu::CurrentGpu there(attributes.device);
    set_bytes(attributes.device, device, value, bytes);
  }
  void poison(void* device, unsigned char value, std::size_t bytes) override { fill(device, value, bytes); }

  bool guards_intact(const void* data) const override {
    const Allocation& allocation = allocations_.at(const_cast<void*>(data));
    const auto* raw = allocation.memory.data();
    const auto* begin = static_cast<const unsigned char*>(data);
    const unsigned char* end = begin + allocation.bytes;
    return holds(raw, begin, allocation.guard) &&
           holds(end, raw + allocation.memory.bytes(), allocation.guard);
  }

  Counts run(const std::function<void()>& stage) override {
    run_uncounted(stage);  // first, because libraries initialise themselves then, which no graph can record
    Counts counts;
    counts.kernels = gpu::kernel_count(stage);
    return counts;
  }
  void run_uncounted(const std::function<void()>& host_code) override {
    try {
      host_code();
      gpu::join_gpus();
      check(cudaStreamSynchronize(cudaStreamPerThread), "kernel");
    } catch (const gpu::Error& error) {
      const cudaError_t state = cudaDeviceSynchronize();
      if (state == cudaSuccess) throw;  // such as a launch that was refused
      throw DeviceLost(error.what() + advice(state));
    }
  }

  std::unique_ptr<gpu::Turns> turns(const std::vector<Contender>& contenders, int sets) override {
    return gpu::turns(contenders, sets, info().l2_bytes);
  }
  std::vector<std::vector<Contender>> ceilings(const std::vector<Stream>& streams) override {
    return gpu::streaming_ceilings(streams, info().l2_bytes);
  }
  std::vector<Resources> resources(const std::function<void()>& stage) override {
    return gpu::resources(stage);
  }

 private:
  struct Allocation {
    gpu::Buffer<unsigned char> memory;
    std::size_t bytes;
    unsigned char guard;
  };

  /// Whether the device bytes [begin, end) all have that value.
  static bool holds(const unsigned char* begin, const unsigned char* end, unsigned char value) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(end - begin));
    check(cudaMemcpy(bytes.data(), begin, bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (const unsigned char byte : bytes)
      if (byte != value) return false;
    return true;
  }

  std::map<void*, Allocation> allocations_;
};

}  // namespace

GpuOrReason make_gpu_backend() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {std::make_unique<CudaBackend>(), ""};
  cudaGetLastError();  // clears the error of cudaGetDeviceCount, which the next check would report
  return {nullptr, std::string("no GPU can be used: ") +
                       (status == cudaSuccess ? "there is none" : cudaGetErrorString(status))};
}

std::string gpu_architectures() { return WORKBOOK_ARCHITECTURES; }

}  // namespace workbook

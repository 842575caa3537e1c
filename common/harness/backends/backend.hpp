/// \file
/// A device as the harness sees it: memory, and a way to run a stage and wait for it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu_device/counts.hpp"
#include "gpu/measurement.hpp"
#include "gpu/turns.hpp"
#include "harness/backends/device_kind.hpp"

namespace workbook {

/// Properties of a device. Fields that do not apply are 0 or empty.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  std::string name;                ///< "CPU device", "NVIDIA H200"
  std::string uuid;                ///< "GPU-" and 32 hexadecimal digits: which one of all cards of that name
  std::string compute_capability;  ///< "9.0"
  std::string driver;              ///< release and newest CUDA version: "580.159.04 (CUDA 13.0)"
  int sm_clock_mhz = 0;            ///< the highest
  int memory_clock_mhz = 0;        ///< the highest
  double pin_gbytes_per_s = 0;     ///< as published; for an unknown card, memory clock x bus width x 2 (DDR)
  double link_gbytes_per_s = 0;    ///< to other GPUs in each direction, as published; 0: unknown or none
  std::size_t l2_bytes = 0;
};

/// The most GPUs that a problem may be spread over.
constexpr int kMostGpus = 8;

/// The bytes that arrays are filled with before a stage writes them. Two, four or eight bytes of the first
/// are a NaN. Integers have no NaN, so stages that write integers are run once with each of the two.
constexpr unsigned char kPoison = 0xff, kOtherPoison = 0x55;

/// A device: its memory, and a way to run a stage on it.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo info() const = 0;
  /// How many GPUs there are; of virtual ones, kMostGpus.
  virtual int gpus() const { return kMostGpus; }
  /// The kind of card that a GPU is.
  virtual std::string kind_of(int /*gpu*/) const { return ""; }
  /// What kernels on the first `gpus` GPUs need to work together and do not have, see missing_peer_access().
  virtual std::string missing_for(int /*gpus*/) const { return ""; }
  /// Bytes of memory that arrays may take now.
  virtual std::size_t free_bytes() const = 0;
  /// Bytes that arrays of `bytes` bytes take, together with what the device records about them.
  virtual std::size_t footprint(std::size_t bytes) const { return bytes; }

  /// Device memory with guard zones around it. It starts `misalignment` bytes after a multiple of 256. `name`
  /// and `element_size` (in bytes) are for messages about it. Of several GPUs, it is in the memory of `gpu`.
  /// \throws std::bad_alloc
  virtual void* allocate(std::size_t bytes, std::size_t misalignment, const std::string& name,
                         std::size_t element_size, int gpu = 0) = 0;
  /// Frees what allocate() returned.
  virtual void release(void* data) = 0;
  /// Copies from the host to the device.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// Copies from the device to the host.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// Sets every byte to `value`.
  virtual void fill(void* device, unsigned char value, std::size_t bytes) = 0;
  /// Sets every byte to `value`, kPoison or kOtherPoison. The CPU device then reports reads of these bytes
  /// until they are written.
  virtual void poison(void* device, unsigned char value, std::size_t bytes) = 0;
  /// Whether the guard zones just before and just after the data are unchanged.
  virtual bool guards_intact(const void* data) const = 0;

  /// Whether all of these bytes, of one element of an array, have been written since poison(); nothing where
  /// the device does not know.
  virtual std::optional<bool> is_written(const void*, std::size_t) const { return std::nullopt; }

  /// Runs `stage` and waits for it. \throws std::exception with a message for the reader when it fails.
  virtual Counts run(const std::function<void()>& stage) = 0;
  /// The notes of all run() since the last call, also of those that failed: messages for the reader about
  /// what works but is fragile. Only the CPU device has any.
  virtual std::vector<std::string> take_notes() { return {}; }
};

/// The details of a launch that the CPU device keeps beside its counts.
enum class Detail {
  kNone,
  kInstructions  ///< LaunchCounts::requests, sites and warps, also of a launch that a finding ends
};

/// The CPU device: it runs and counts, and does not measure time. If `each_launch` is given, it is called
/// with the counts of each launch, and run() returns none. These include what each instruction costs, and
/// requests, if `detail` says so. Findings of the kinds that `noted` names are notes:
/// note_words() in note_words.hpp lists the names.
std::unique_ptr<Backend> make_cpu_backend(std::function<void(const LaunchCounts&)> each_launch = {},
                                          Detail detail = Detail::kNone, std::vector<std::string> noted = {});

/// A GPU: it runs and measures. Its run() counts nothing but the number of kernels.
class GpuBackend : public Backend {
 public:
  /// Runs host code that launches kernels, and waits for it. Unlike run(), it does not count the launches by
  /// capturing the code in a CUDA graph, so the code may allocate and copy.
  virtual void run_uncounted(const std::function<void()>& host_code) = 0;
  /// Makes contenders ready to be timed, on `sets` sets of inputs.
  virtual std::unique_ptr<gpu::Turns> turns(const std::vector<Contender>& contenders, int sets) = 0;
  /// Several streaming kernels per stream, as contenders: the fastest is the ceiling for a stage with that
  /// traffic. \throws std::bad_alloc
  virtual std::vector<std::vector<Contender>> ceilings(const std::vector<Stream>& streams) = 0;
  /// The registers, spills, shared memory and occupancy of each kernel that `stage` launches.
  virtual std::vector<Resources> resources(const std::function<void()>& stage) = 0;
};

/// A GPU, or the reason why there is none.
struct GpuOrReason {
  std::unique_ptr<GpuBackend> backend;
  std::string reason;  ///< when `backend` is null, such as "no GPU can be used: there is none"
};

/// The first GPU, or why there is none.
GpuOrReason make_gpu_backend();

/// The architectures that the GPU code was compiled for, such as "90a"; empty in a build without GPU code.
std::string gpu_architectures();

}  // namespace workbook

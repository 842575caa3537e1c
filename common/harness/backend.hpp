/// \file
/// A device as the harness sees it: memory, and a way to run a stage and wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/counts.hpp"
#include "gpu/measurement.hpp"

namespace workbook {

/// What is known of a device. Fields that do not apply are 0 or empty.
struct DeviceInfo {
  std::string kind;  ///< "cpu" or "gpu"
  std::string name;
  std::string compute_capability;  ///< "9.0"
  std::string driver;              ///< release and newest CUDA version: "580.159.04 (CUDA 13.0)"
  int sm_clock_mhz = 0;            ///< highest
  int memory_clock_mhz = 0;
  double pin_gbytes_per_s = 0;  ///< as published; of an unknown card, memory clock x bus width x 2 (DDR)
  std::size_t l2_bytes = 0;
};

/// What arrays hold that nothing has been written to. Two, four or eight bytes of the first are a NaN; an
/// int8 has no such value, and is looked at with both.
constexpr unsigned char kPoison = 0xff, kOtherPoison = 0x55;

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo info() const = 0;
  virtual std::size_t free_bytes() const = 0;
  /// What arrays of `bytes` bytes take with all that the device notes of them.
  virtual std::size_t footprint(std::size_t bytes) const { return bytes; }

  /// Device memory with guard zones around it. It starts `misalignment` bytes after a multiple of 256.
  /// \throws std::bad_alloc
  virtual void* allocate(std::size_t bytes, std::size_t misalignment, const std::string& name,
                         std::size_t element_size) = 0;
  virtual void release(void* data) = 0;
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  virtual void fill(void* device, unsigned char value, std::size_t bytes) = 0;
  /// Fills with a poison; a device that can tell takes the bytes as never written.
  virtual void poison(void* device, unsigned char with, std::size_t bytes) = 0;
  /// Whether nothing was written just before or just after the data.
  virtual bool guards_intact(const void* data) const = 0;

  /// Runs `stage` and waits for it. \throws std::exception with a message for the reader when it fails.
  virtual Counts run(const std::function<void()>& stage) = 0;
};

/// The CPU device: runs and counts, and knows no time. With `each_launch`, that gets the counts, launch by
/// launch, and `run` returns none. With `trace`, so does it get the requests of a warp.
std::unique_ptr<Backend> make_cpu_backend(std::function<void(const LaunchCounts&)> each_launch = {},
                                          bool trace = false);

/// A GPU: runs and measures. The counts of its `run` hold the number of kernels alone.
class GpuBackend : public Backend {
 public:
  /// Runs host code that launches kernels, and waits for it. Unlike `run` it does not capture it into a graph
  /// first to count the launches: so the code may allocate and copy.
  virtual void run_uncounted(const std::function<void()>& host_code) = 0;
  /// Times all contenders, a sample of each in turn, on `sets` sets of inputs.
  virtual std::vector<ContenderTiming> time(const std::vector<Contender>& contenders, int sets) = 0;
  /// A streaming kernel for each stream, as a contender: the ceiling for a stage with that traffic.
  /// \throws std::bad_alloc
  virtual std::vector<Contender> ceilings(const std::vector<Stream>& streams) = 0;
  virtual std::vector<Resources> resources(const std::function<void()>& stage) = 0;
};

struct GpuOrReason {
  std::unique_ptr<GpuBackend> backend;
  std::string reason;  ///< why there is none: "no GPU: ...", "built without CUDA"
};

/// The first GPU, or why there is none.
GpuOrReason make_gpu_backend();

/// Architectures that the GPU side was compiled for, such as "90a"; empty when there is no GPU side.
std::string gpu_architectures();

}  // namespace workbook

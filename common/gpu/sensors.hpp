/// \file
/// Clocks, power and throttle reasons of a GPU, read in a thread of its own while contenders run.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu/measurement.hpp"

namespace gpu {

/// One reading of all sensors.
struct Reading {
  double sm_clock_mhz;
  double memory_clock_mhz;
  double power_w;
  unsigned long long throttle_reasons;  ///< NVML's bits
};

/// The names of these bits, such as "sw_power_cap": as nvidia-smi's --query-gpu has them.
std::vector<std::string> throttle_reason_names(unsigned long long bits);

/// Averages; nothing where there are no readings.
std::optional<workbook::Clocks> averages(const std::vector<Reading>& readings);

class Nvml;

/// The readings of each contender.
class SensorLog {
 public:
  /// For the GPU of that UUID ("GPU-...").
  explicit SensorLog(const std::string& gpu_uuid, const char* library = "libnvidia-ml.so.1");
  ~SensorLog();
  SensorLog(const SensorLog&) = delete;
  SensorLog& operator=(const SensorLog&) = delete;

  /// Why there will be no readings; empty where there will be.
  const std::string& why_none() const { return why_none_; }

  /// From now until stop(), a reading every 20 ms is this contender's.
  void start(std::size_t contender);
  void stop();

  /// The averages of a contender's readings since the last forget().
  std::optional<workbook::Clocks> of(std::size_t contender);
  void forget();

 private:
  void read_again_and_again();

  std::unique_ptr<Nvml> nvml_;  // null where it cannot be used
  std::string why_none_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::optional<std::size_t> contender_;  // that runs now
  bool end_ = false;
  std::map<std::size_t, std::vector<Reading>> readings_;
  std::thread thread_;
};

}  // namespace gpu

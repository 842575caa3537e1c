#include "gpu/sensors.hpp"

#include <dlfcn.h>

#include <chrono>
#include <stdexcept>

namespace gpu {
namespace {

struct NamedBit {
  unsigned long long bit;
  const char* name;
};
constexpr NamedBit kThrottleReasons[] = {{0x1, "gpu_idle"},
                                         {0x2, "applications_clocks_setting"},
                                         {0x4, "sw_power_cap"},
                                         {0x8, "hw_slowdown"},
                                         {0x10, "sync_boost"},
                                         {0x20, "sw_thermal_slowdown"},
                                         {0x40, "hw_thermal_slowdown"},
                                         {0x80, "hw_power_brake_slowdown"},
                                         {0x100, "display_clock_setting"}};

}  // namespace

/// One GPU as NVML sees it.
class Nvml {
  // The part of NVML (NVIDIA Management Library) that we use. It comes with the driver; its header nvml.h
  // comes with the CUDA Toolkit, but not with every installation of it, and the binary interface does not
  // change: these are its types and numbers.
  static constexpr int kSuccess = 0, kClockSm = 1, kClockMemory = 2;
  static constexpr unsigned kFieldPowerInstant = 186;
  struct FieldValue {
    unsigned field, scope;
    long long timestamp, latency_us;
    int value_type, status;
    union {
      double as_double;
      unsigned as_unsigned;
      unsigned long long as_unsigned_long_long;
    } value;
  };
  static_assert(sizeof(FieldValue) == 40);

 public:
  /// \throws std::runtime_error when the library, a function of it or the GPU is not there
  Nvml(const std::string& gpu_uuid, const char* library) {
    library_ = dlopen(library, RTLD_NOW);
    if (!library_) throw std::runtime_error(dlerror());
    load(init_, "nvmlInit_v2");
    load(shutdown_, "nvmlShutdown");
    load(handle_by_uuid_, "nvmlDeviceGetHandleByUUID");
    load(clock_info_, "nvmlDeviceGetClockInfo");
    load(power_usage_, "nvmlDeviceGetPowerUsage");
    load(field_values_, "nvmlDeviceGetFieldValues");
    load(throttle_reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    load(error_string_, "nvmlErrorString");
    check(init_(), "nvmlInit_v2");
    check(handle_by_uuid_(gpu_uuid.c_str(), &device_), "nvmlDeviceGetHandleByUUID");
    read();  // says now what would fail later
  }
  ~Nvml() { shutdown_(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  Reading read() const {
    unsigned sm = 0, memory = 0;
    unsigned long long reasons = 0;
    check(clock_info_(device_, kClockSm, &sm), "nvmlDeviceGetClockInfo");
    check(clock_info_(device_, kClockMemory, &memory), "nvmlDeviceGetClockInfo");
    check(throttle_reasons_(device_, &reasons), "nvmlDeviceGetCurrentClocksThrottleReasons");
    return {static_cast<double>(sm), static_cast<double>(memory), 1e-3 * power_mw(), reasons};
  }

 private:
  template <class Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (!function) throw std::runtime_error(std::string(name) + " is missing");
  }
  void check(int status, const char* call) const {
    if (status != kSuccess) throw std::runtime_error(std::string(call) + ": " + error_string_(status));
  }
  /// The power now; on cards that do not tell, that of the last second.
  unsigned power_mw() const {
    FieldValue value = {};
    value.field = kFieldPowerInstant;
    if (field_values_(device_, 1, &value) == kSuccess && value.status == kSuccess)
      return value.value.as_unsigned;
    unsigned average = 0;
    check(power_usage_(device_, &average), "nvmlDeviceGetPowerUsage");
    return average;
  }

  void* library_;  // stays loaded until the program ends
  void* device_ = nullptr;
  int (*init_)();
  int (*shutdown_)();
  int (*handle_by_uuid_)(const char*, void**);
  int (*clock_info_)(void*, int, unsigned*);
  int (*power_usage_)(void*, unsigned*);
  int (*field_values_)(void*, int, FieldValue*);
  int (*throttle_reasons_)(void*, unsigned long long*);
  const char* (*error_string_)(int);
};

std::vector<std::string> throttle_reason_names(unsigned long long bits) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kThrottleReasons)
    if (bits & bit) names.emplace_back(name);
  return names;
}

std::optional<workbook::Clocks> averages(const std::vector<Reading>& readings) {
  if (readings.empty()) return std::nullopt;
  Reading sum = {};
  for (const Reading& reading : readings) {
    sum.sm_clock_mhz += reading.sm_clock_mhz;
    sum.memory_clock_mhz += reading.memory_clock_mhz;
    sum.power_w += reading.power_w;
    sum.throttle_reasons |= reading.throttle_reasons;
  }
  const auto count = static_cast<double>(readings.size());
  return workbook::Clocks{sum.sm_clock_mhz / count, sum.memory_clock_mhz / count, sum.power_w / count,
                          throttle_reason_names(sum.throttle_reasons)};
}

SensorLog::SensorLog(const std::string& gpu_uuid, const char* library) {
  try {
    nvml_ = std::make_unique<Nvml>(gpu_uuid, library);
  } catch (const std::runtime_error& error) {
    why_none_ = error.what();
    return;
  }
  thread_ = std::thread([this] { read_again_and_again(); });
}

SensorLog::~SensorLog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SensorLog::start(std::size_t contender) {
  const std::lock_guard lock(mutex_);
  contender_ = contender;
}

void SensorLog::stop() {
  const std::lock_guard lock(mutex_);  // waits for a reading that has begun
  contender_.reset();
}

std::optional<workbook::Clocks> SensorLog::of(std::size_t contender) {
  const std::lock_guard lock(mutex_);
  return averages(readings_[contender]);
}

void SensorLog::forget() {
  const std::lock_guard lock(mutex_);
  readings_.clear();
}

void SensorLog::read_again_and_again() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, 20ms, [this] { return end_; })) {
    if (!contender_) continue;
    try {
      readings_[*contender_].push_back(nvml_->read());
    } catch (const std::runtime_error&) {
      // A reading that fails is missing in the averages.
    }
  }
}

}  // namespace gpu

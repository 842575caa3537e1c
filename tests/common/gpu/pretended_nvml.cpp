// What we use of NVML, for one pretended GPU whose readings do not change. The numbers are those of nvml.h.
#include <cstring>

namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotFound = 6;
int gpu;

// nvmlFieldValue_t
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  int value_type, status;
  unsigned long long value;
};

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(int status) { return status == kNotFound ? "Not Found" : "Invalid Argument"; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &gpu;
  return std::strcmp(uuid, "GPU-pretended") == 0 ? kSuccess : kNotFound;
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1500 : 3000;  // NVML_CLOCK_SM, NVML_CLOCK_MEM
  return device == &gpu && (type == 1 || type == 2) ? kSuccess : kInvalidArgument;
}

// The power of the last second, which is not what is wanted where the next function knows the power now.
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 1000;
  return device == &gpu ? kSuccess : kInvalidArgument;
}

int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* values) {
  if (device != &gpu || count != 1 || values->field != 186)
    return kInvalidArgument;  // NVML_FI_DEV_POWER_INSTANT
  values->status = kSuccess;
  values->value = 345500;
  return kSuccess;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = 0x4;  // nvmlClocksThrottleReasonSwPowerCap
  return device == &gpu ? kSuccess : kInvalidArgument;
}
}

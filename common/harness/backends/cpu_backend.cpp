#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "cpu_device/findings/notes.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running/cores.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/faults.hpp"
#include "cpu_device/running/step_budget.hpp"
#include "harness/backends/backend.hpp"
#include "system/errors.hpp"
#include "system/memory_limit.hpp"

namespace workbook {
namespace {

class CpuBackend : public Backend {
 public:
  CpuBackend(std::function<void(const LaunchCounts&)> each_launch, Detail detail,
             std::vector<std::string> noted)
      : each_launch_(std::move(each_launch)), detail_(detail), noted_(std::move(noted)) {
    if (!cpu::step_budget())
      throw MachineError(fmt::format("WORKBOOK_STEPS={}: expected a whole number from 1 to 1e18",
                                     std::getenv("WORKBOOK_STEPS")));
    if (!cpu::wanted_cores())
      throw MachineError(fmt::format("WORKBOOK_CORES={}: expected a whole number, 0 for all of the machine's",
                                     std::getenv("WORKBOOK_CORES")));
    cpu::notes().take();  // of earlier backends
    cpu::device().printed = {};
  }

  DeviceInfo info() const override {
    DeviceInfo info;
    info.kind = DeviceKind::kCpu;
    info.name = "CPU device";
    return info;
  }

  std::size_t free_bytes() const override { return available_memory(); }
  /// The data, one WordHistory per 4-byte word, one bit per byte, two bits per sector.
  std::size_t footprint(std::size_t bytes) const override {
    return bytes + bytes / 4 * sizeof(cpu::WordHistory) + bytes / 8 + bytes / 128;
  }

  void* allocate(std::size_t bytes, std::size_t misalignment, const std::string& name,
                 std::size_t element_size, int gpu) override {
    void* data = cpu::memory().allocate(bytes, misalignment, name, element_size);
    if (gpu > 0 && bytes > 0) cpu::memory().move_to_gpu(data, static_cast<unsigned>(gpu));
    return data;
  }
  void release(void* data) override { cpu::memory().release(data); }
  void upload(void* device, const void* host, std::size_t bytes) override {
    const cpu::Memory::Access open(cpu::memory(), true);
    std::memcpy(device, host, bytes);
    cpu::memory().set_initialised(device, bytes, true);
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    const cpu::Memory::Access open(cpu::memory(), true);
    std::memcpy(host, device, bytes);
  }
  void fill(void* device, unsigned char value, std::size_t bytes) override {
    const cpu::Memory::Access open(cpu::memory(), true);
    std::memset(device, value, bytes);
    cpu::memory().set_initialised(device, bytes, true);
  }
  void poison(void* device, unsigned char value, std::size_t bytes) override {
    const cpu::Memory::Access open(cpu::memory(), true);
    std::memset(device, value, bytes);
    cpu::memory().set_initialised(device, bytes, false);
  }
  /// A write outside the data is a finding, which ends the launch, so the guard zones are always intact.
  bool guards_intact(const void*) const override { return true; }

  std::optional<bool> is_written(const void* element, std::size_t bytes) const override {
    return cpu::memory().is_initialised(element, bytes);
  }

  Counts run(const std::function<void()>& stage) override {
    cpu::device().counts = Counts();
    cpu::device().each_launch = each_launch_;
    cpu::device().site_log.set_on(detail_ == Detail::kInstructions);
    cpu::notes().want(noted_);
    try {
      cpu::run_host_code(stage);
    } catch (...) {
      cpu::device().counts = Counts();
      throw;
    }
    return std::exchange(cpu::device().counts, Counts());
  }
  std::vector<std::string> take_notes() override { return cpu::notes().take(); }

 private:
  std::function<void(const LaunchCounts&)> each_launch_;
  Detail detail_;
  std::vector<std::string> noted_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(std::function<void(const LaunchCounts&)> each_launch, Detail detail,
                                          std::vector<std::string> noted) {
  return std::make_unique<CpuBackend>(std::move(each_launch), detail, std::move(noted));
}

}  // namespace workbook

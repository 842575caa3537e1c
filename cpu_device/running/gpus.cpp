#include "cpu_device/running/gpus.hpp"

#include <deque>
#include <thread>

#include "cpu_device/findings/host_calls.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/running/cores.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/faults.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

/// The GPUs' devices; they are kept from call to call.
std::deque<Device> gpu_devices;

}  // namespace

Gpus::Gpus(Device& caller, unsigned count, void (*body)(const void* what, int gpu), const void* what)
    : caller_(caller), body_(body), what_(what), gpus_(count) {
  while (gpu_devices.size() < count) gpu_devices.emplace_back();
  ++caller.launch.number;  // of all launches of all GPUs
  for (unsigned gpu = 0; gpu < count; ++gpu) {
    Device& device = gpu_devices[gpu];
    device.gpus = this;
    device.gpu = gpu;
    device.gpu_launches = &launches_;
    device.counts = {};
    device.each_launch = caller.each_launch;
    device.site_log.set_on(caller.site_log.is_on());
    device.printed = caller.printed;
    device.launch.number = caller.launch.number;
    device.races.share(gpu_devices[0].races);
  }
  gpu_devices[0].races.forget();
}

Device& Gpus::device_of(unsigned gpu) const { return gpu_devices[gpu]; }

void Gpus::run() {
  memory().clear_cold_caches();
  {
    std::vector<std::jthread> threads;
    for (unsigned gpu = 0; gpu < count(); ++gpu) threads.emplace_back([this, gpu] { run_gpu(gpu); });
  }
  memory().set_access(false);
  for (unsigned gpu = 0; gpu < count(); ++gpu) {
    caller_.counts += gpu_devices[gpu].counts;
    gpu_devices[gpu].gpus = nullptr;
    gpu_devices[gpu].gpu_launches = nullptr;
  }
  memory().count_compulsory(caller_.counts);  // of what one GPU did in another's memory, after that one's end
  if (error_) std::rethrow_exception(error_);
}

/// The work of a GPU's thread.
void Gpus::run_gpu(unsigned gpu) noexcept {
  the_running = &gpu_devices[gpu];
  if (wait_for_turn(gpu)) {
    try {
      run_watched([&] { body_(what_, static_cast<int>(gpu)); });
    } catch (const PartStopped&) {
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
  end(gpu);
}

/// Returns false if the GPU must not run any more.
bool Gpus::wait_for_turn(unsigned gpu) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return error_ || running_ == gpu; });
  return !error_;
}

/// Lets the next GPU run that can. Returns whether there is one.
bool Gpus::pass_on(unsigned from) {
  for (unsigned i = 1; i <= count(); ++i) {
    const unsigned next = (from + i) % count();
    if (gpus_[next].ended || gpus_[next].seen == progress_) continue;
    running_ = next;
    turn_.notify_all();
    return true;
  }
  return false;
}

bool Gpus::wait_for_others(bool worked) {
  const unsigned gpu = device().gpu;
  {
    const std::lock_guard lock(mutex_);
    if (worked) ++progress_;
    gpus_[gpu].seen = progress_;
    if (!pass_on(gpu)) return false;
  }
  if (!wait_for_turn(gpu)) throw PartStopped();
  memory().set_access(true);
  return true;
}

void Gpus::end(unsigned gpu) {
  const std::lock_guard lock(mutex_);
  gpus_[gpu].ended = true;
  ++progress_;
  pass_on(gpu);
  turn_.notify_all();
}

void on_each_gpu(int gpus, void (*body)(const void* what, int gpu), const void* what) {
  refuse_in_kernel("calls on_each_gpu()", CALLER, "it is for host code");
  Gpus(device(), static_cast<unsigned>(gpus), body, what).run();
}

}  // namespace cpu

#include "cpu_device/running/device.hpp"

namespace cpu {

constinit thread_local bool grid_runs = false;

namespace {

Device main_device;

}  // namespace

alignas(128) constinit thread_local Running* the_running = &main_device;

const SharedMemory& shared_memory() { return device().shared_memory; }

}  // namespace cpu

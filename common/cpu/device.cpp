#include "cpu/device.hpp"

namespace cpu {

constinit thread_local bool grid_runs = false;

namespace {

Device main_device;

}  // namespace

alignas(128) constinit thread_local Device* the_device = &main_device;

}  // namespace cpu

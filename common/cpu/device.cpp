#include "cpu/device.hpp"

namespace cpu {

constinit bool grid_runs = false;
Device* const the_device = new Device;

}  // namespace cpu

// a function of the host that goes over the tiles, and variables that are not constants
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

inline double flash_bytes(bool causal) {
  double bytes = 0;
  for (int block = 0; block < 2048 / 64; ++block) {
    bytes += 2 * 64 * 128 * 4;
    for (int tile = 0; tile < 2048 / 64; ++tile)
      if (!causal || tile <= block) bytes += 2 * 64 * 128 * 4;
  }
  return bytes / (2048.0 * 2048.0);
}

static double kOnlineBytes = 8 + 8 + 4 + 4 + 8 + 0.25;
static double kTwoKernelsBytes = kOnlineBytes + 4;
static double kThreeKernelsBytes = kOnlineBytes + 16;
const double kFlashBytes = flash_bytes(false);
const double kCausalBytes = flash_bytes(true);

}  // namespace DEVICE::attention_bytes

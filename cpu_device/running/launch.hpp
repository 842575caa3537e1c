/// \file
/// Launches: starts them, runs the blocks of their grid, and ends them.
#pragma once

#include <cstddef>

#include "cpu_device/running_thread.hpp"

namespace cpu {

/// Prepares the calling thread's device for blocks of `launch`.
void begin_blocks(const LaunchState& launch);
/// Makes the block with that number in the grid the device's running one.
void set_block(std::size_t number);
/// Runs the block with that number in the grid on the calling thread. Returns whether it has ended: else it
/// waits for other blocks at grid.sync().
bool run_block(std::size_t number);
/// Makes the calling thread's device ready for other blocks after one that was ended early.
void abandon_block();
/// Makes the device ready for another launch after one that was ended early.
void abandon_launch();

}  // namespace cpu

/// \file
/// Launches: starts them, runs the blocks of their grid, and ends them.
#pragma once

#include <cstddef>

#include "cpu/launch_state.hpp"

namespace cpu {

/// Prepares the calling thread's device for blocks of `launch`.
void begin_blocks(const LaunchState& launch);
/// Runs the block with that number in the grid on the calling thread.
void run_block(std::size_t number);
/// Makes the calling thread's device ready for other blocks after one that was ended early.
void abandon_block();
/// Makes the device ready for another launch after one that was ended early.
void abandon_launch();

}  // namespace cpu

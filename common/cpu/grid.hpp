/// \file
/// Launches: starts them, runs the blocks of their grid one after another, and ends them.
#pragma once

namespace cpu {

/// Makes the device ready for another launch after one that was ended early.
void abandon_launch();

}  // namespace cpu

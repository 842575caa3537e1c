/// \file
/// Cooperative launches, whose blocks wait for each other at grid.sync().
///
/// Each block runs until it comes to grid.sync(); what it goes on with is kept, and the next block runs. When
/// all have come, the first goes on.
#pragma once

namespace cpu {

/// Runs the blocks of the device's launch to their end. \throws Finding
void run_together();

}  // namespace cpu

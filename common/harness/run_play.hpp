/// \file
/// The program behind the command "play" of the workbook.
#pragma once

namespace workbook {

/// Runs a reader's `play` and prints what each launch cost, or what was found.
/// `PROGRAM FILE [--device cpu|gpu] [--json]`; FILE is its name in the output. `gpu` is null in a build
/// without a GPU. Exit status 0, 1 when something was found, 2 for bad usage, 3 without the device.
int run_play(int argc, const char* const* argv, void (*cpu)(), void (*gpu)());

}  // namespace workbook

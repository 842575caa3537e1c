/// \file
/// The program that the command "play" of the workbook runs for a file with a `main` of its own.
#pragma once

namespace workbook {

/// `PROGRAM FILE [OPTION...] [-- ARGUMENT...]` runs a user's main with these arguments on the CPU device, and
/// prints what each launch cost, or the mistake that was found, and notes. Launches of one kernel with the
/// same counts share a row. The options are those of play_report.hpp; with --launches the program ends after
/// so many. FILE is the name of the user's file in the output. Returns kDone, kWrong where a mistake was
/// found or main returned another status than 0, or kBadUsage.
int run_program(int argc, const char* const* argv, int (*main)(int, char**, char**));

}  // namespace workbook

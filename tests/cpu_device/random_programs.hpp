/// \file
/// Random programs for the test of the race detector.
#pragma once

#include "tests/cpu_device/race_oracle.hpp"

namespace race_oracle {

/// The program with that seed, the same on every machine. Each of its stores has a value of its own.
Program random_program(unsigned seed);

/// Removes all operations and barriers that it can while `still_of_interest` stays true.
template <class Predicate>
Program reduced(Program program, Predicate still_of_interest);

/// Takes away the operation at that place; one in which lanes meet, from all of them.
Program without(const Program& program, const Place& place);
/// The programs with one thing less: an operation, a barrier, or a launch.
std::vector<Program> smaller_programs(const Program& program);
/// The places of all operations.
std::vector<Place> places(const Program& program);

template <class Predicate>
Program reduced(Program program, Predicate still_of_interest) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Program& next : smaller_programs(program)) {
      if (!still_of_interest(next)) continue;
      program = std::move(next);
      smaller = true;
      break;
    }
  }
  return program;
}

}  // namespace race_oracle

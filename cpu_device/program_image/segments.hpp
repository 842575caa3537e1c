/// \file
/// The parts of the running program that a kernel may access.
#pragma once

#include <vector>

#include "cpu_device/region.hpp"

namespace cpu {

struct Program {
  Region thread_locals;             ///< of the calling thread: what `__shared__` stands for
  std::vector<Region> constants;    ///< what the program cannot write: `__constant__` tables among it
  Region from_host = {};            ///< those of them that host code of a program fills
  std::vector<Region> of_each_gpu;  ///< variables of a program that each GPU has for itself
};

Program program();

}  // namespace cpu

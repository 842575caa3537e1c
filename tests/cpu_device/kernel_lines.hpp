/// \file
/// For tests of the CPU device: the lines of kernels, which messages name.
#pragma once

#include <fstream>
#include <string>

#include "catch.hpp"
#include "paths.hpp"

/// The number of the first line of tests/kernels/`file` that has `code`.
inline int kernel_line(const std::string& file, const std::string& code) {
  std::ifstream text(source_dir() + "/tests/kernels/" + file);
  int number = 1;
  for (std::string line; std::getline(text, line); ++number)
    if (line.find(code) != std::string::npos) return number;
  FAIL("tests/kernels/" << file << " has no " << code);
  return 0;
}

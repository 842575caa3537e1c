/// \file
/// build_inputs FOLDER: keep_build_true() for the launcher, which compiles this program by itself.
#include <cstdio>
#include <exception>

#include "system/build_inputs.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "build_inputs takes the folder of a build\n"), 2;
  try {
    std::fputs(workbook::said_of_times(workbook::keep_build_true(argv[1])).c_str(), stderr);
    return 0;
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "workbook: %s\n", error.what()), 3;
  }
}

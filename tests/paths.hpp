/// \file
/// Where the tests find the project's files and what was built. In a file of their own, so that the other
/// tests are compiled alike in every folder.
#pragma once

#include <string>

/// The project's folder.
std::string source_dir();

/// The folder of the built programs.
std::string bin_dir();

/// The library that SensorLog loads in a test in place of the driver's.
std::string pretended_nvml();

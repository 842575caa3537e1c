#include "paths.hpp"

std::string source_dir() { return SOURCE_DIR; }

std::string bin_dir() { return BIN_DIR; }

std::string pretended_nvml() { return PRETENDED_NVML; }

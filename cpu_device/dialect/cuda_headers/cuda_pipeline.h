// CUDA's header of this name, for kernel files that include it themselves.
#pragma once
#include "cpu_device/dialect/pipeline.hpp"

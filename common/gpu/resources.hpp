/// \file
/// The kernels that a stage launches on a GPU, and the resources that they take.
#pragma once

#include <functional>
#include <vector>

#include "gpu/measurement.hpp"

namespace gpu {

/// The kernels that `stage` launches, and what each takes of a multiprocessor.
std::vector<workbook::Resources> resources(const std::function<void()>& stage);

/// How many kernels `stage` launches.
int kernel_count(const std::function<void()>& stage);

}  // namespace gpu

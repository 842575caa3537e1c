/// \file
/// Linear and GELU in bfloat16 on a GPU of compute capability 9.0. kernels_linear.sm90a.cu is compiled if 90
/// is among the chosen architectures; WORKBOOK_OPS_HOPPER is defined then.
#pragma once
#include "interface.hpp"

namespace workbook_ops {

/// One kernel on the current stream of the C layer. The device must have compute capability 9.0, inputs and
/// outputs must be multiples of 8 that are not 0, and x, weight and y must start at multiples of 16 bytes.
void launch_on_hopper(const WorkbookLinearGelu& task);

}  // namespace workbook_ops

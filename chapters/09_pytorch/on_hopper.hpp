/// \file
/// Linear and GELU, and attention, on a GPU of compute capability 9.0. The files *.sm90a.cu are compiled if
/// 90 is among the chosen architectures; WORKBOOK_OPS_HOPPER is defined then. Each function starts one kernel
/// on the current stream of the C layer. Arrays of bfloat16 start at multiples of 16 bytes.
#pragma once
#include "interface.hpp"

namespace workbook_ops {

/// Inputs and outputs must be multiples of 8 that are not 0.
void launch_linear_on_hopper(const WorkbookLinearGelu& task);

/// Up to so many keys a persistent block of attention gains by loading its next queries early
/// (docs/attention_hopper.md).
constexpr int kShortRows = 2048;

/// The whole of attention, not the weights alone. d must be a multiple of 8 that is not 0. If there is
/// scratch memory, it is 4 bytes for a counter, by which blocks share the work of a mask.
void launch_attention_on_hopper(const WorkbookAttention& task);

/// The weights alone, in float32 and without a mask, of at most 1024 keys and for d up to 64.
void launch_weights_on_hopper(const WorkbookAttention& task);

}  // namespace workbook_ops

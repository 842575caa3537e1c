/// \file
/// Kernels and what they call must be compiled for the GPU, which CUDA's execution space specifiers say. The
/// host compiler compiles everything without them, so the CPU device has to look for them itself.
#pragma once

namespace cpu {

/// Checks that the kernel has __global__, and that every function that it calls has __device__. Only
/// functions of the user's own files are judged, and only where the sources leave no doubt. The first call
/// for a kernel reads the program's debug information and the sources, which takes some milliseconds. \throws
/// Finding
void check_execution_space(const void* kernel);

}  // namespace cpu

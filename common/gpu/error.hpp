/// \file
/// Errors of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace gpu {

/// The message holds file, line, the call and CUDA's name and words for the error.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// \throws gpu::Error unless `status` is success.
inline void check(cudaError_t status, const char* call = "CUDA call", const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  throw Error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorName(status) +
              " (" + cudaGetErrorString(status) + ")");
}

}  // namespace gpu

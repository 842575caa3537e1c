#include "harness/backends/backend.hpp"

namespace workbook {

GpuOrReason make_gpu_backend() {
  return {nullptr, "there was no GPU, or no CUDA Toolkit, when the workbook was built"};
}

std::string gpu_architectures() { return ""; }

}  // namespace workbook

#include "backend.hpp"

namespace workbook {

GpuOrReason make_gpu_backend() { return {nullptr, "this program was built without its GPU side"}; }

std::string gpu_architectures() { return ""; }

}  // namespace workbook

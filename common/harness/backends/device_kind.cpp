#include "harness/backends/device_kind.hpp"

namespace workbook {

const char* text_of(DeviceKind kind) { return kind == DeviceKind::kCpu ? "cpu" : "gpu"; }

std::optional<DeviceKind> device_kind_named(const std::string& text) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu})
    if (text == text_of(kind)) return kind;
  return std::nullopt;
}

}  // namespace workbook

/// \file
/// The two kinds of device that run kernels.
#pragma once

#include <optional>
#include <string>

namespace workbook {

enum class DeviceKind {
  kCpu,  ///< the CPU device: counts, and does not measure time
  kGpu   ///< a GPU: measures time
};

/// "cpu" or "gpu", as in options and JSON.
const char* text_of(DeviceKind kind);

/// The kind that `text` names; nothing for any other text.
std::optional<DeviceKind> device_kind_named(const std::string& text);

}  // namespace workbook

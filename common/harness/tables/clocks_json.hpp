/// \file
/// Clocks, power and throttle reasons in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "gpu/measurement.hpp"

namespace workbook {

/// The fields of `clocks`, each null where there are none.
inline nlohmann::json clocks_json(const std::optional<Clocks>& clocks) {
  if (!clocks)
    return {{"sm_clock_mhz", nullptr},
            {"memory_clock_mhz", nullptr},
            {"power_w", nullptr},
            {"throttle_reasons", nullptr}};
  return {{"sm_clock_mhz", clocks->sm_clock_mhz},
          {"memory_clock_mhz", clocks->memory_clock_mhz},
          {"power_w", clocks->power_w},
          {"throttle_reasons", clocks->throttle_reasons}};
}

}  // namespace workbook

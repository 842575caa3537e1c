// what a function counts, with unsigned numbers
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_predict {

constexpr unsigned run(unsigned aligned, unsigned others = 0) { return 4 * aligned + others; }

constexpr unsigned kFusedBytes{run(4)};
constexpr unsigned kUnfusedBytes{3 * run(3)};
constexpr unsigned kEverySecondBytes{run(1, 8)};
constexpr unsigned kBiasBytes{run(2, 1)};
constexpr unsigned kNeighboursBytes{run(2, 5)};

}  // namespace DEVICE::multiply_add_predict

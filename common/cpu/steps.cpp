#include "cpu/steps.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "cpu/device.hpp"
#include "cpu/names.hpp"
#include "cpu/stop.hpp"

namespace cpu {

void Steps::begin_launch() {
  const char* text = std::getenv("WORKBOOK_STEPS");
  const std::uint64_t wanted = text ? std::strtoull(text, nullptr, 10) : 0;
  budget_ = wanted ? wanted : 1'000'000'000;
}

void Steps::pass_limit(std::uintptr_t instruction) {
  limit_ = budget_;
  device().block.races.settle_store();
  if (taken_ <= budget_) return;
  stop_launch({"a loop that does not end",
               fmt::format("  {} is at {} when its block has taken {} steps", running_thread_name(),
                           place_text(instruction), budget_),
               "does what the loop waits for ever change? If the kernel needs more steps, set "
               "WORKBOOK_STEPS to their number"});
}

}  // namespace cpu

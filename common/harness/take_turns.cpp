#include "harness/take_turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "harness/tables/clocks_json.hpp"

namespace workbook {
namespace {

nlohmann::json burst(gpu::Turns& turns, std::size_t contender) { return {{"us", turns.cold_us(contender)}}; }

nlohmann::json sustained(gpu::Turns& turns, gpu::SensorLog& sensors, std::size_t contender) {
  sensors.forget();
  const double us = turns.sustained_us(contender, sensors);
  nlohmann::json answer = clocks_json(sensors.of(contender));
  answer["us"] = us;
  return answer;
}

nlohmann::json answer_to(const std::string& line, gpu::Turns& turns, gpu::SensorLog& sensors,
                         const std::vector<std::string>& names) {
  std::istringstream words(line);
  std::string regime, name, more;
  words >> regime >> name;
  if ((regime != "burst" && regime != "sustained") || name.empty() || words >> more)
    return {{"error", fmt::format("{}: expected burst STAGE or sustained STAGE", line)}};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {{"error", fmt::format("{}: ready are {}", name, fmt::join(names, ", "))}};
  const auto contender = static_cast<std::size_t>(found - names.begin());
  if (regime == "burst") return burst(turns, contender);
  if (!turns.can_sustain(contender))
    return {{"error", fmt::format("{}: its inputs are too small for cold runs of a second", name)}};
  return sustained(turns, sensors, contender);
}

}  // namespace

void take_turns(gpu::Turns& turns, gpu::SensorLog& sensors, const std::vector<std::string>& names,
                std::istream& in, std::ostream& out) {
  for (std::string line; std::getline(in, line);)
    out << answer_to(line, turns, sensors, names)
               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
        << std::endl;
}

}  // namespace workbook

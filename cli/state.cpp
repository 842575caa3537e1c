#include "state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <optional>

#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/lock.hpp"
#include "system/say.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSchema = 1;

/// \throws json::exception
int hint_count(const json& value) {
  if (!value.is_number_unsigned() || value > INT_MAX)
    throw json::other_error::create(501, "no number of hints", &value);
  return value.get<int>();
}

/// \throws json::exception when the text is not what `text_of` writes; MachineError when a newer version has
/// written it
State parsed(const std::string& text) {
  const json root = json::parse(text);
  refuse_newer(root.at("schema").get<long long>(), kSchema, ".workbook/state.json, what you have solved");
  if (root.at("schema") != kSchema) throw json::other_error::create(501, "unknown schema", &root);
  State state;
  for (const auto& [key, value] : root.at("exercises").items()) {
    state[key] = {value.at("solved").get<bool>(), hint_count(value.at("hints"))};
  }
  return state;
}

std::string text_of(const State& state) {
  json exercises = json::object();
  for (const auto& [key, standing] : state)
    exercises[key] = {{"solved", standing.solved}, {"hints", standing.hints}};
  return json{{"schema", kSchema}, {"exercises", exercises}}.dump(2) + "\n";
}

/// The state on disk; nothing when the file is damaged.
std::optional<State> read_state(const fs::path& file) {
  if (!file_exists(file)) return State();
  try {
    return parsed(file_text(file));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// The caller holds the lock: otherwise another program could repair the file before it is renamed here.
State state_or_anew(const fs::path& file) {
  if (std::optional<State> state = read_state(file)) return *state;
  set_aside(file, "./workbook check --all finds out again what is solved.");
  return {};
}

}  // namespace

void refuse_newer(long long schema, long long known, const char* file) {
  if (schema <= known) return;
  throw MachineError(fmt::format(
      "a newer version of the workbook has written {}: update this one, or move that file away", file));
}

void set_aside(const fs::path& file, const char* what_then) {
  fs::path aside;
  for (int i = 1; aside.empty() || file_exists(aside); ++i)
    aside = fmt::format("{}.damaged-{}", file.string(), i);
  std::error_code error;
  fs::rename(file, aside, error);
  say("workbook: {} is damaged; it is now {}.\n"
      "          {}\n",
      (file.parent_path().filename() / file.filename()).string(),
      error ? "still there, since it cannot be renamed" : aside.filename().string(), what_then);
}

State load_state(const fs::path& folder) {
  const fs::path file = folder / "state.json";
  if (std::optional<State> state = read_state(file)) return *state;
  const Lock lock(folder / "lock");
  return state_or_anew(file);
}

void change_standing(const fs::path& folder, const std::string& key,
                     const std::function<void(Standing&)>& change) {
  std::error_code error;
  fs::create_directories(folder, error);
  const Lock lock(folder / "lock");
  State state = state_or_anew(folder / "state.json");
  change(state[key]);
  replace_file(folder / "state.json", text_of(state));
}

}  // namespace workbook

#include "predictions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>

#include "state.hpp"
#include "system/files.hpp"
#include "system/lock.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kAnswersSchema = 1;

/// The answers on disk; nothing when the file is damaged. \throws MachineError where it cannot be read, or is
/// of a newer version
std::optional<AllAnswers> read_answers(const fs::path& file) {
  if (!file_exists(file)) return AllAnswers();
  try {
    const json root = json::parse(file_text(file));
    refuse_newer(root.at("schema").get<long long>(), kAnswersSchema,
                 ".workbook/predictions.json, what you have predicted");
    if (root.at("schema") != kAnswersSchema) return std::nullopt;
    return root.at("answers").get<AllAnswers>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// The caller holds the lock.
AllAnswers answers_or_anew(const fs::path& file) {
  if (std::optional<AllAnswers> answers = read_answers(file)) return *answers;
  set_aside(file, "./workbook predict asks again.");
  return {};
}

void change_answers(const fs::path& folder, const std::function<void(AllAnswers&)>& change) {
  std::error_code error;
  fs::create_directories(folder, error);
  const Lock lock(folder / "lock");
  AllAnswers answers = answers_or_anew(folder / "predictions.json");
  change(answers);
  // An answer may be no UTF-8.
  replace_file(folder / "predictions.json", json{{"schema", kAnswersSchema}, {"answers", answers}}.dump(
                                                2, ' ', false, json::error_handler_t::replace) +
                                                "\n");
}

/// "1,5" as a number.
double number_of(std::string text) {
  std::replace(text.begin(), text.end(), ',', '.');
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace

AllAnswers load_answers(const fs::path& folder) {
  const fs::path file = folder / "predictions.json";
  if (std::optional<AllAnswers> answers = read_answers(file)) return *answers;
  const Lock lock(folder / "lock");
  return answers_or_anew(file);
}

void keep_answer(const fs::path& folder, const std::string& chapter, const std::string& key,
                 const std::string& answer) {
  change_answers(folder, [&](AllAnswers& answers) { answers[chapter][key] = answer; });
}

void forget_answers(const fs::path& folder, const std::string& chapter) {
  change_answers(folder, [&](AllAnswers& answers) { answers.erase(chapter); });
}

std::optional<double> predicted_number(const std::string& answer) {
  constexpr std::size_t kLongest = 40;
  static const std::regex form(
      R"(\s*(\d+(?:[.,]\d*)?|[.,]\d+)\s*(?:/\s*(\d+(?:[.,]\d*)?|[.,]\d+)\s*)?(?:x|times|b|bytes?)?\s*)",
      std::regex::icase);
  std::smatch parts;
  if (answer.size() > kLongest || !std::regex_match(answer, parts, form)) return std::nullopt;
  const double divisor = parts[2].matched ? number_of(parts[2]) : 1;
  if (divisor == 0) return std::nullopt;
  return number_of(parts[1]) / divisor;
}

bool is_right_prediction(double predicted, double counted) {
  constexpr double kShare = 0.02, kLeast = 0.05, kRounding = 1e-9;
  return std::fabs(predicted - counted) <= std::max(kLeast, kShare * counted) + kRounding;
}

}  // namespace workbook

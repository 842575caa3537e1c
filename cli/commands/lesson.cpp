#include "commands/lesson.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "system/errors.hpp"
#include "system/files.hpp"

namespace workbook {
namespace {

constexpr Asked kAllAsked[] = {Asked::kRead, Asked::kWrite, Asked::kSpeedUp};

/// \throws nlohmann::json::exception
Lesson parsed_lesson(const std::string& text) {
  const auto root = nlohmann::json::parse(text);
  Lesson lesson = {root.at("learnt"), "", {}};
  if (!root.contains("predict")) return lesson;
  lesson.given = root.at("given");
  for (const auto& stage : root.at("predict"))
    for (const Asked asked : kAllAsked)
      if (stage.contains(text_of(asked)))
        lesson.questions.push_back({stage.at("stage"), stage.at("does"), asked, stage.at(text_of(asked))});
  return lesson;
}

}  // namespace

std::string text_of(Asked asked) {
  switch (asked) {
    case Asked::kRead:
      return "read";
    case Asked::kWrite:
      return "write";
    case Asked::kSpeedUp:
      return "speed-up";
  }
  return "";
}

Lesson lesson_of(const Workbook& workbook, const std::string& chapter) {
  const std::filesystem::path file = workbook.root / "chapters" / chapter / "lesson.json";
  if (!file_exists(file)) return {};
  try {
    return parsed_lesson(file_text(file));
  } catch (const nlohmann::json::exception& error) {
    throw MachineError(fmt::format("{} is damaged: {}", workbook.shown(file), error.what()));
  }
}

}  // namespace workbook

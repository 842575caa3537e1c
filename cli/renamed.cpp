#include "renamed.hpp"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "harness/files.hpp"
#include "skeleton.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

struct Renamed {
  const char *from, *to;  ///< keys
};
constexpr Renamed kRenamed[] = {{"05_linear_gelu/6_wmma", "06_tensor_cores/1_wmma"},
                                {"05_linear_gelu/7_epilogue_bf16", "06_tensor_cores/2_epilogue_bf16"}};

/// A text without comments and spaces: two skeletons that differ in these alone are the same.
std::string code_of(const std::string& text) {
  std::istringstream lines(text);
  std::string code;
  for (std::string line; std::getline(lines, line);)
    for (const char c : line.substr(0, line.find("//")))
      if (!std::isspace(static_cast<unsigned char>(c))) code += c;
  return code;
}

/// Moves `old` to the exercise's file if the reader has edited `old` and not that file.
bool move_if_edited(const fs::path& old, const ExerciseFiles& exercise) {
  if (!fs::exists(old)) return false;
  const std::string skeleton = skeleton_of(file_text(exercise.solution));
  if (code_of(file_text(old)) == code_of(skeleton)) return false;
  if (fs::exists(exercise.file) && file_text(exercise.file) != skeleton) return false;
  std::error_code error;
  fs::rename(old, exercise.file, error);
  return !error;
}

}  // namespace

std::string current_key(const std::string& key) {
  for (const auto& [from, to] : kRenamed)
    if (key == from) return to;
  return key;
}

std::vector<std::string> move_renamed_files(const fs::path& root,
                                            const std::vector<ExerciseFiles>& exercises) {
  std::vector<std::string> moved;
  for (const ExerciseFiles& exercise : exercises)
    for (const auto& [from, to] : kRenamed) {
      if (exercise.key() != to) continue;
      const fs::path key = from;
      fs::path old = root / "chapters" / key.parent_path() / "exercises" / key.filename();
      old += ".cuh";
      if (move_if_edited(old, exercise))
        moved.push_back(fmt::format("Your {} is now {}: the exercise has become {}.",
                                    old.lexically_relative(root).string(),
                                    exercise.file.lexically_relative(root).string(), exercise.number()));
    }
  return moved;
}

}  // namespace workbook

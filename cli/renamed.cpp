#include "renamed.hpp"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "harness/files.hpp"
#include "skeleton.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

struct Change {
  const char *from, *to;  ///< keys
};

/// The same task under a new name.
constexpr Change kRenamed[] = {{"01_multiply_add/2_vectorise", "01_multiply_add/3_vectorise"},
                               {"05_linear_gelu/6_wmma", "06_tensor_cores/1_wmma"},
                               {"05_linear_gelu/7_epilogue_bf16", "06_tensor_cores/2_epilogue_bf16"}};

/// A new task in the place of an old one.
constexpr Change kReplaced[] = {{"01_multiply_add/3_strided", "01_multiply_add/2_pairs"}};

/// The file that the reader edits, or edited, under a key.
fs::path file_of(const fs::path& root, const fs::path& key) {
  fs::path file = root / "chapters" / key.parent_path() / "exercises" / key.filename();
  return file += ".cuh";
}

/// "01.3_strided" for "01_multiply_add/3_strided".
std::string id_of(const fs::path& key) {
  ExerciseFiles exercise;
  exercise.chapter = key.parent_path().string();
  exercise.name = key.filename().string();
  return exercise.id();
}

const ExerciseFiles* with_key(const std::vector<ExerciseFiles>& exercises, const std::string& key) {
  for (const ExerciseFiles& exercise : exercises)
    if (exercise.key() == key) return &exercise;
  return nullptr;
}

Standing standing_of(const State& state, const std::string& key) {
  const auto found = state.find(key);
  return found == state.end() ? Standing() : found->second;
}

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
  if (!file_exists(old)) return false;
  const std::string skeleton = skeleton_of(file_text(exercise.solution));
  if (code_of(file_text(old)) == code_of(skeleton)) return false;
  if (file_exists(exercise.file) && file_text(exercise.file) != skeleton) return false;
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
  for (const auto& [from, to] : kRenamed) {
    const ExerciseFiles* const exercise = with_key(exercises, to);
    const fs::path old = file_of(root, from);
    if (exercise && move_if_edited(old, *exercise))
      moved.push_back(fmt::format("Your {} is now {}: the exercise has become {}.",
                                  old.lexically_relative(root).string(),
                                  exercise->file.lexically_relative(root).string(), exercise->number()));
  }
  return moved;
}

std::vector<std::string> changes_for(const State& state, const fs::path& root,
                                     const std::vector<ExerciseFiles>& exercises) {
  std::vector<std::string> changes;
  for (const ExerciseFiles& exercise : exercises) {
    const std::string was = standing_of(state, exercise.key()).was;
    if (!was.empty()) changes.push_back(fmt::format("{} was {}.", exercise.id(), id_of(was)));
  }
  for (const auto& [from, to] : kReplaced) {
    const ExerciseFiles* const exercise = with_key(exercises, to);
    const bool solved = standing_of(state, from).solved, has_file = file_exists(file_of(root, from));
    if (!exercise || standing_of(state, to).solved || !(solved || has_file)) continue;
    std::string change = fmt::format("{} is new and replaces {}{}.", exercise->id(), id_of(from),
                                     solved ? ", which you have solved" : "");
    if (has_file)
      change += fmt::format(" Your file is still {}.", file_of(root, from).lexically_relative(root).string());
    changes.push_back(change);
  }
  return changes;
}

}  // namespace workbook

#include "exercises.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>

#include "harness/options.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

/// The number that a name begins with: 12 of "12_tile".
int leading_number(const std::string& name) { return std::atoi(name.c_str()); }

/// How many letters must be put in, taken out or changed to make one word of the other (V. Levenshtein,
/// 1966).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Whether `folder` is the one where the chapter's code, exercises or solutions lie, or is inside it.
bool is_inside_chapter(const fs::path& folder, const ExerciseFiles& exercise) {
  const fs::path solutions = exercise.solution.parent_path();
  const fs::path chapter = solutions.parent_path().parent_path() / "chapters" / exercise.chapter;
  const auto inside = [&](const fs::path& top) {
    return std::mismatch(top.begin(), top.end(), folder.begin(), folder.end()).first == top.end();
  };
  return inside(chapter) || inside(solutions);
}

bool means(const std::string& name, const fs::path& folder, const ExerciseFiles& exercise) {
  if (name == exercise.number() || name == exercise.id() || name == exercise.key()) return true;
  if (is_inside_chapter(folder, exercise) &&
      (name == exercise.name || name == std::to_string(leading_number(exercise.name))))
    return true;
  return (folder / name).lexically_normal() == exercise.file;
}

}  // namespace

std::string ExerciseFiles::number() const {
  return fmt::format("{}.{}", chapter.substr(0, chapter.find('_')), leading_number(name));
}

std::string ExerciseFiles::id() const {
  return fmt::format("{}.{}", chapter.substr(0, chapter.find('_')), name);
}

std::string ExerciseFiles::goal() const {
  // "/// Exercise 01.1, fuse: compute out = q * k + v in one kernel."
  const std::string text = file_text(solution);
  const auto line = text.find("Exercise " + number());
  const auto colon = text.find(": ", line);
  const auto end = text.find('\n', line);
  if (line == std::string::npos || colon >= end) return "";
  std::string goal = text.substr(colon + 2, end - colon - 2);
  if (goal.ends_with('.')) goal.pop_back();
  return goal;
}

std::vector<ExerciseFiles> all_exercises(const fs::path& root, const std::vector<std::string>& chapters) {
  std::vector<ExerciseFiles> all;
  const std::string ending = ".check.cu";
  for (const std::string& chapter : chapters) {
    const fs::path solutions = root / "solutions" / chapter;
    if (!fs::is_directory(solutions)) continue;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(solutions)) {
      const std::string file = entry.path().filename().string();
      if (file.ends_with(ending)) names.push_back(file.substr(0, file.size() - ending.size()));
    }
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return std::pair(leading_number(a), a) < std::pair(leading_number(b), b);
    });
    for (const std::string& name : names)
      all.push_back({chapter, name, root / "chapters" / chapter / "exercises" / (name + ".cuh"),
                     solutions / (name + ".cuh"), solutions / (name + ".hints.md")});
  }
  return all;
}

const ExerciseFiles& exercise_named(const std::string& name, const fs::path& folder,
                                    const std::vector<ExerciseFiles>& exercises) {
  std::vector<std::string> ids;
  for (const ExerciseFiles& exercise : exercises) {
    if (means(name, folder, exercise)) return exercise;
    ids.push_back(exercise.id());
  }
  throw UsageError(fmt::format("there is no exercise \"{}\"; the nearest: {} (./workbook list shows all)",
                               name, fmt::join(nearest(name, ids, 3), ", ")));
}

std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& words,
                                 std::size_t count) {
  std::vector<std::string> sorted = words;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const std::string& a, const std::string& b) {
    return distance(word, a) < distance(word, b);
  });
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

std::string file_text(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw MachineError(fmt::format("{} cannot be read ({})", path.string(), strerror(errno)));
  return text.str();
}

void replace_file(const fs::path& path, const std::string& text) {
  const fs::path partial = fmt::format("{}.{}.partial", path.string(), getpid());
  std::ofstream file(partial);
  file << text;
  file.close();
  if (!file || std::rename(partial.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(partial.c_str());
    throw MachineError(fmt::format("{} cannot be written ({})", path.string(), strerror(error)));
  }
}

}  // namespace workbook

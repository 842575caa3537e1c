#include "exercises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <sstream>
#include <tuple>

#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/read_file.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

/// A specification, and how the names of the solution and of what the reader edits end.
constexpr std::pair<const char*, const char*> kEndings[] = {{"check.cu", ".cuh"}, {"check.py", ".py"}};

/// The number that a name begins with: 12 of "12_tile".
int leading_number(const std::string& name) { return std::atoi(name.c_str()); }

/// The numbers of a chapter's exercises, in the order of their headings in its page: 1 and 4 of
/// "### Exercise 04.1: tree" and "### Exercise 04.4: conflicts". None where there is no page.
std::vector<int> numbers_on_page(const fs::path& root, const std::string& chapter) {
  const std::string heading = "### Exercise " + chapter.substr(0, chapter.find('_')) + ".";
  std::istringstream page(read_file(root / "docs" / (chapter + ".md")).text);
  std::vector<int> numbers;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with(heading)) numbers.push_back(leading_number(line.substr(heading.size())));
  return numbers;
}

/// The number of letters to insert, delete or change to turn one word into the other (V. Levenshtein, 1966).
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

/// Whether `folder` is the folder of the exercise's chapter or of its solutions, or is inside one of them.
bool is_inside_chapter(const fs::path& folder, const ExerciseFiles& exercise) {
  const fs::path solutions = exercise.solution.parent_path().parent_path();
  const fs::path chapter = solutions.parent_path().parent_path() / "chapters" / exercise.chapter;
  const auto inside = [&](const fs::path& top) {
    return std::mismatch(top.begin(), top.end(), folder.begin(), folder.end()).first == top.end();
  };
  return inside(chapter) || inside(solutions);
}

bool means(const std::string& name, const fs::path& folder, const ExerciseFiles& exercise) {
  const std::string padded = "0" + name;  // "1.2" for "01.2"
  if (padded == exercise.number() || padded == exercise.id()) return true;
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
  for (const std::string& chapter : chapters) {
    const fs::path solutions = root / "solutions" / chapter;
    if (!file_exists(solutions)) continue;
    std::vector<ExerciseFiles> found;
    std::error_code error;
    for (fs::directory_iterator entry(solutions, error), end; !error && entry != end;
         entry.increment(error)) {
      const fs::path folder = entry->path();
      const std::string name = folder.filename().string();
      for (const auto& [specification, ending] : kEndings)
        if (file_exists(folder / specification))
          found.push_back({chapter, name, root / "chapters" / chapter / "exercises" / (name + ending),
                           folder / (std::string("solution") + ending), folder / "hints.md"});
    }
    if (error) throw MachineError(fmt::format("{} cannot be read ({})", solutions.string(), error.message()));
    const std::vector<int> on_page = numbers_on_page(root, chapter);
    const auto order = [&](const ExerciseFiles& exercise) {
      const int number = leading_number(exercise.name);
      return std::tuple(std::find(on_page.begin(), on_page.end(), number), number, exercise.name);
    };
    std::ranges::sort(found, {}, order);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

namespace {

/// The exercises of the chapter whose number a word begins with, as "4", "04" and "04.9" do.
std::vector<std::string> exercises_of(const std::string& word, const std::vector<std::string>& ids) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  if (digits == 0 || digits > 2) return {};
  const std::string chapter = (digits == 1 ? "0" : "") + word.substr(0, digits) + ".";
  std::vector<std::string> found;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(found),
               [&](const std::string& id) { return id.starts_with(chapter); });
  return found;
}

}  // namespace

const ExerciseFiles& exercise_named(const std::string& name, const fs::path& folder,
                                    const std::vector<ExerciseFiles>& exercises) {
  std::vector<std::string> ids;
  for (const ExerciseFiles& exercise : exercises) {
    if (means(name, folder, exercise)) return exercise;
    ids.push_back(exercise.id());
  }
  const std::vector<std::string> of_chapter = exercises_of(name, ids);
  const bool is_number = name.find_first_not_of("0123456789.") == std::string::npos;
  throw UsageError(fmt::format(
      "there is no exercise \"{}\"; {} (./workbook list shows all)", name,
      is_number && !of_chapter.empty()
          ? fmt::format("its chapter has {}", fmt::join(of_chapter, ", "))
          : fmt::format("the nearest: {}",
                        fmt::join(nearest(name, of_chapter.empty() ? ids : of_chapter, 3), ", "))));
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

}  // namespace workbook

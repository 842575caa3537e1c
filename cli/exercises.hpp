/// \file
/// The exercises of the workbook, and how a name is resolved to one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace workbook {

/// The names and files of one exercise. All paths are absolute.
struct ExerciseFiles {
  std::string chapter;             ///< "01_multiply_add"
  std::string name;                ///< "1_fuse"
  std::filesystem::path file;      ///< what the reader edits
  std::filesystem::path solution;  ///< what the skeleton is made from
  std::filesystem::path hints;     ///< numbered, in Markdown

  /// Whether it is written in Python, and judged there (solutions/CHAPTER/NAME/check.py).
  bool is_python() const { return file.extension() == ".py"; }
  std::string number() const;                               ///< "01.1"
  std::string id() const;                                   ///< "01.1_fuse"
  std::string key() const { return chapter + "/" + name; }  ///< in the state: "01_multiply_add/1_fuse"
  /// The task in one sentence, from the first line of the solution.
  std::string goal() const;
};

/// All exercises of the tree at `root`: those with a specification solutions/CHAPTER/NAME/check.cu, or
/// check.py where the exercise is in Python. They come in the order of the headings in the lessons,
/// docs/CHAPTER.md; an exercise without a heading comes after those of its chapter.
std::vector<ExerciseFiles> all_exercises(const std::filesystem::path& root,
                                         const std::vector<std::string>& chapters);

/// The exercise that `name` stands for in the working folder `folder`: "01.1", "01.1_fuse", the path of its
/// file, and inside its chapter's folder also "1" or "1_fuse". \throws UsageError that lists the nearest
/// names
const ExerciseFiles& exercise_named(const std::string& name, const std::filesystem::path& folder,
                                    const std::vector<ExerciseFiles>& exercises);

/// The `count` words of `words` with the smallest edit distance to `word`, the nearest first.
std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& words,
                                 std::size_t count);

}  // namespace workbook

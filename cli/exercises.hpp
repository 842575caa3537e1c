/// \file
/// Which exercises there are, and which one a name means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace workbook {

/// One exercise. All paths are absolute.
struct ExerciseFiles {
  std::string chapter;             ///< "01_multiply_add"
  std::string name;                ///< "1_fuse"
  std::filesystem::path file;      ///< what the reader edits
  std::filesystem::path solution;  ///< what the skeleton is made from
  std::filesystem::path hints;

  std::string number() const;  ///< "01.1"
  std::string id() const;      ///< "01.1_fuse"
  std::string key() const { return chapter + "/" + name; }
  /// What is to be done, from the first line of the solution.
  std::string goal() const;
};

/// All exercises of the tree at `root`, in the order of the lessons: those with a specification
/// solutions/CHAPTER/NAME.check.cu.
std::vector<ExerciseFiles> all_exercises(const std::filesystem::path& root,
                                         const std::vector<std::string>& chapters);

/// The exercise that `name` means to somebody in `folder`: "01.1", "01.1_fuse", the path of its file, and in
/// its chapter's folder "1" or "1_fuse". \throws UsageError that names the nearest right ones
const ExerciseFiles& exercise_named(const std::string& name, const std::filesystem::path& folder,
                                    const std::vector<ExerciseFiles>& exercises);

/// Of `words`, those nearest to `word`: at most `count`, the nearest first.
std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& words,
                                 std::size_t count);

/// The whole of a file. \throws MachineError when it cannot be read
std::string file_text(const std::filesystem::path& path);

/// Replaces a file, whole or not at all. \throws MachineError when it cannot be written
void replace_file(const std::filesystem::path& path, const std::string& text);

}  // namespace workbook

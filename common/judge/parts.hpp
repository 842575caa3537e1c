/// \file
/// The parts of the program that judges an exercise (judge.hpp).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "chapter.hpp"
#include "exercise.hpp"
#include "judge/judge.hpp"
#include "system/exit_status.hpp"

namespace workbook {

/// Writes JSON to a file, all of it or nothing. \throws MachineError
void write_file(const std::string& path, const nlohmann::ordered_json& content);

// --- An exercise as a chapter with one stage ---

Chapter chapter_of(const Exercise& exercise);
Stage stage_of(const Exercise& exercise, const Version& version);
int gpus_of(const Exercise& exercise, const Shape& shape);
/// What a limit on bytes is per: the elements of the first array, of all GPUs.
long long elements_of(const Exercise& exercise, const Shape& shape);

/// One case to judge: a shape, the threads of a block, and for each array by how many bytes its start is off
/// a multiple of 256.
struct Case {
  Shape shape;
  int block = 256;
  std::map<std::string, std::size_t> offsets = {};
  std::string how = {};  ///< in words, what of this is special
};
/// All cases. Costs are judged in the last one. Where alignment matters, its arrays are misaligned, because
/// code that handles only aligned arrays well would keep within the budget on aligned ones.
std::vector<Case> cases_of(const Exercise& exercise);

// --- What the program does with it ---

/// Runs the code on all cases, then compares its costs with the limits. Returns whether it is right and
/// within the limits. \throws MachineError
bool judge_code(const Exercise& exercise, const Version& version, const std::string& path,
                nlohmann::ordered_json& verdict);
/// Compares each prediction with the number that is right. Returns whether all are right.
bool judge_predictions(const Exercise& exercise, const Answer& answer, const std::string& path,
                       nlohmann::ordered_json& verdict);
/// Runs the version once at a shape and writes what each of its lines costs to the file at `path`.
/// \throws MachineError, UsageError before it has run any code of the reader's
ExitStatus view_exercise(const Exercise& exercise, const Version& version, const std::string& path,
                         const std::string& size);

}  // namespace workbook

#include "commands/hints_and_solutions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "fold_code.hpp"
#include "skeleton.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

/// The hints of a file with lines "1. ...", "2. ..."; the lines after such a line belong to its hint.
std::vector<std::string> hints_of(const ExerciseFiles& exercise) {
  std::istringstream lines(file_text(exercise.hints));
  std::vector<std::string> hints;
  for (std::string line; std::getline(lines, line);) {
    const std::string number = fmt::format("{}. ", hints.size() + 1);
    if (line.starts_with(number))
      hints.push_back(line.substr(number.size()));
    else if (!hints.empty())
      hints.back() += " " + line;
  }
  if (hints.empty()) throw MachineError(fmt::format("{} has no hints", exercise.hints.string()));
  return hints;
}

void require_solved(const Workbook& workbook, const ExerciseFiles& exercise, bool reveal,
                    const char* command) {
  if (!reveal && !workbook.is_solved(exercise))
    throw UsageError(
        fmt::format("{0} is not solved yet.\n"
                    "  ./workbook {1} {2} --reveal shows it all the same;\n"
                    "  ./workbook hint {2} gives less away.",
                    exercise.id(), command, exercise.number()));
}

/// Makes the folder where it does not exist. \throws MachineError
void require_workbook_folder(const fs::path& folder) {
  if (const std::optional<std::string> problem = make_folder(folder))
    throw MachineError(fmt::format("{} cannot be made a folder ({})", folder.string(), *problem));
}

/// An unused name in the state's folder: "1_fuse.1.cuh", "1_fuse.2.cuh" ...
fs::path free_name(const Workbook& workbook, const ExerciseFiles& exercise) {
  const fs::path folder = workbook.state_folder / "kept" / exercise.chapter;
  require_workbook_folder(folder);
  fs::path path;
  for (int i = 1; path.empty() || file_exists(path); ++i)
    path = folder / fmt::format("{}.{}{}", exercise.name, i, exercise.file.extension().string());
  return path;
}

}  // namespace

ExitStatus hint_command(const Workbook& workbook, const std::string& name, bool all) {
  const ExerciseFiles& exercise = workbook.exercise(name);
  const std::vector<std::string> hints = hints_of(exercise);
  const int count = static_cast<int>(hints.size());
  const int shown = std::min(load_state(workbook.state_folder)[exercise.key()].hints, count);
  const int last = all ? count : std::min(shown + 1, count);
  fmt::print("{}  {}\n", bold(exercise.id()), exercise.goal());
  for (int i = all ? 0 : last - 1; i < last; ++i)
    fmt::print("\nHint {} of {}:\n{}", i + 1, count, wrapped(hints[static_cast<std::size_t>(i)], 2));
  if (!all && shown == count)
    fmt::print("\nThat was the last one. ./workbook solution {} --reveal shows the solution.\n",
               exercise.number());
  change_standing(workbook.state_folder, exercise.key(),
                  [&](Standing& standing) { standing.hints = std::max(standing.hints, last); });
  return kDone;
}

ExitStatus solution_command(const Workbook& workbook, const std::string& name, bool reveal) {
  const ExerciseFiles& exercise = workbook.exercise(name);
  require_solved(workbook, exercise, reveal, "solution");
  const std::string solution = plain_solution_of(file_text(exercise.solution));
  fmt::print("{}", isatty(STDOUT_FILENO) ? folded(solution, line_width()) : solution);
  return kDone;
}

ExitStatus diff_command(const Workbook& workbook, const std::string& name, bool reveal) {
  const ExerciseFiles& exercise = workbook.exercise(name);
  require_solved(workbook, exercise, reveal, "diff");
  file_text(exercise.file);  // throws when it does not exist
  const fs::path plain =
      workbook.state_folder / fmt::format("solution-{}{}", exercise.id(), exercise.file.extension().string());
  require_workbook_folder(workbook.state_folder);
  replace_file(plain, plain_solution_of(file_text(exercise.solution)));
  const Outcome outcome =
      run_limited({"diff", "-u", "--strip-trailing-cr", "--label", workbook.shown(exercise.file), "--label",
                   workbook.shown(exercise.solution), exercise.file.string(), plain.string()},
                  {});
  std::error_code error;
  fs::remove(plain, error);
  fmt::print("{}", isatty(STDOUT_FILENO) ? folded(outcome.output, line_width(), 1) : outcome.output);
  if (outcome.code == 0) fmt::print("Your file is the solution, to the letter.\n");
  return outcome.end == Outcome::End::kExited && outcome.code <= 1 ? kDone : kMachineLacks;
}

ExitStatus reset_command(const Workbook& workbook, const std::string& name) {
  const ExerciseFiles& exercise = workbook.exercise(name);
  const std::string skeleton = skeleton_of(file_text(exercise.solution));
  const std::string file = workbook.shown(exercise.file);
  require_workbook_folder(exercise.file.parent_path());
  if (file_exists(exercise.file) && file_text(exercise.file) != skeleton) {
    const fs::path kept = free_name(workbook, exercise);
    replace_file(kept, file_text(exercise.file));
    fmt::print("Your {} is kept as {}.\n", exercise.file.filename().string(), workbook.shown(kept));
  }
  if (std::error_code error; fs::is_symlink(exercise.file, error)) {
    fmt::print("{} was a link to {}, which stays as it is.\n", file,
               fs::read_symlink(exercise.file, error).string());
    fs::remove(exercise.file, error);
  }
  replace_file(exercise.file, skeleton);
  change_standing(workbook.state_folder, exercise.key(), [](Standing& standing) { standing = Standing(); });
  fmt::print("{} is as it was in the beginning.\n", file);
  return kDone;
}

ExitStatus skeleton_command(const std::string& solution) {
  fmt::print("{}", skeleton_of(file_text(solution)));
  return kDone;
}

}  // namespace workbook

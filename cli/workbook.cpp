#include "workbook.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <sstream>

#include "advice.hpp"
#include "config.hpp"
#include "harness/errors.hpp"
#include "harness/memory_limit.hpp"
#include "lock.hpp"
#include "process.hpp"

namespace workbook {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNinjaStatus = "[ninja] ";  // marks ninja's own lines

std::string without(std::string text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
  return text;
}

/// Whether the compiler's line only says that a generated file includes the reader's: "In file included from
/// build/x_reader.cu:1," or a continuation of it, "                 from build/x_reader.cpp:1:". Through
/// ccache the path is relative to the build folder.
bool is_about_wrapper(const std::string& line, const fs::path& build) {
  const auto from = line.find("from ");
  if (from == std::string::npos) return false;
  const bool names_includer = line.starts_with("In file included ") || line.find_first_not_of(' ') == from;
  const fs::path file = build / line.substr(from + 5, line.find(':', from) - from - 5);
  return names_includer && *file.lexically_normal().lexically_relative(build).begin() != "..";
}

/// Whether a line is Make's own: "make[2]: ...", "[ 50%] Building ..." or "Consolidate compiler ...".
bool is_makes(const std::string& line) {
  return line.starts_with("make[") || line.starts_with("make: ") || line.starts_with("gmake[") ||
         line.starts_with("gmake: ") || line.starts_with("Consolidate compiler generated ") ||
         (line.starts_with("[") && line.find("%] ") == 4);
}

/// The target in Make's line about a failure, "make[2]: *** [FILE:LINE: TARGET] Error 1", with a space after
/// it as in Ninja's lines; empty for other lines.
std::string target_failed_in_make(const std::string& line) {
  const std::string mark = "*** [";
  const auto begin = line.find(mark);
  const auto end = line.rfind("] Error ");
  if (!is_makes(line) || begin == std::string::npos || end == std::string::npos) return "";
  const std::string inside = line.substr(begin + mark.size(), end - begin - mark.size());
  const auto colon = inside.rfind(": ");
  return (colon == std::string::npos ? inside : inside.substr(colon + 2)) + " ";
}

/// The output of compilers and linkers: the build tool's output without its own lines. For each failure,
/// Ninja prints the target and the command first, and Make prints the target at the end.
Build failed_build(const std::string& output, const Workbook& workbook) {
  const std::string mark = "FAILED: ";
  Build build;
  std::istringstream lines(output);
  bool command_follows = false;
  for (std::string line; std::getline(lines, line);) {
    if (command_follows) {
      command_follows = false;
    } else if (line.starts_with(mark)) {
      if (build.failed.empty()) build.failed = line.substr(mark.size());
      command_follows = true;
    } else if (build.failed.empty() && !target_failed_in_make(line).empty()) {
      build.failed = target_failed_in_make(line);
    } else if (!line.starts_with(kNinjaStatus) && !line.starts_with("ninja: ") && !is_makes(line) &&
               !is_about_wrapper(line, workbook.build)) {
      build.errors += line + "\n";
    }
  }
  if (build.failed.empty()) build.errors = output;  // it was Ninja or Make that failed
  build.errors = without(build.errors, workbook.root.string() + "/");
  build.errors += advice_on(build.errors, build.failed.find("published") != std::string::npos);
  return build;
}

/// The beginning of a compiler's output without end.
std::string first_lines(const std::string& text) {
  constexpr std::size_t kMostCharacters = 4000;
  return text.size() <= kMostCharacters ? text
                                        : text.substr(0, text.rfind('\n', kMostCharacters)) + "\n...\n";
}

/// Refuses to run as a copy: it would work on the files of the folder that it was built for.
/// \throws MachineError
void require_own_build() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error || fs::equivalent(program.parent_path().parent_path(), kBuild, error)) return;
  throw MachineError(
      fmt::format("{} was built for {} and has been copied or moved; start the script `workbook` in its new "
                  "folder, which builds it again",
                  program.string(), kRoot));
}

/// The command that builds a target with the generator that this build was configured with.
std::vector<std::string> build_command(const Workbook& workbook, const std::string& target) {
  if (std::string(kGenerator) == "Ninja") return {"ninja", "-C", workbook.build.string(), target};
  return {"cmake", "--build", workbook.build.string(), "--target", target};
}

}  // namespace

bool Workbook::is_solved(const ExerciseFiles& exercise) const {
  return load_state(state_folder)[exercise.key()].solved;
}

const ExerciseFiles* Workbook::next_open() const {
  const State state = load_state(state_folder);
  for (const ExerciseFiles& exercise : exercises) {
    const auto found = state.find(exercise.key());
    if (found == state.end() || !found->second.solved) return &exercise;
  }
  return nullptr;
}

const ExerciseFiles& Workbook::exercise(const std::string& name) const {
  std::error_code error;  // the current folder may have been removed
  if (!name.empty()) return exercise_named(name, fs::current_path(error), exercises);
  if (exercises.empty()) throw MachineError("no exercises were found below solutions/");
  const ExerciseFiles* next = next_open();
  return next ? *next : exercises.back();
}

std::string Workbook::shown(const fs::path& path) const { return path.lexically_relative(root).string(); }

std::string version() { return kVersion; }

Workbook find_workbook() {
  require_own_build();
  const fs::path root = kRoot;
  const std::vector<std::string> programs(std::begin(kPrograms), std::end(kPrograms));
  std::vector<std::string> chapters = programs;
  chapters.insert(chapters.end(), std::begin(kPythonChapters), std::end(kPythonChapters));
  std::sort(chapters.begin(), chapters.end());
  return {root, kBuild, root / ".workbook", chapters, all_exercises(root, chapters), programs};
}

fs::path build_lock(const Workbook& workbook) { return workbook.build / "workbook.lock"; }

Build build_target(const Workbook& workbook, const std::string& target) {
  const Lock lock(build_lock(workbook));
  return build_locked_target(workbook, target);
}

Build build_locked_target(const Workbook& workbook, const std::string& target) {
  setenv("NINJA_STATUS", kNinjaStatus, 1);
  setenv("LC_ALL", "C", 1);                  // Make translates its words
  setenv("PWD", workbook.build.c_str(), 1);  // the name that compilers give their folder: it may be a link's
  // A build of everything may take long on a slow machine, but each file ends with a line of Ninja's or
  // Make's. The memory is that of each compiler: `#include "/dev/zero"` would take all.
  const auto build_it = [&] {
    return run_limited(build_command(workbook, target),
                       {.silence = std::chrono::minutes(5),
                        .memory_bytes = std::min(std::size_t{4} << 30, most_memory()),
                        .output_bytes = 4u << 20});
  };
  Outcome outcome = build_it();
  const fs::path program = workbook.build / "bin" / target;
  std::error_code error;
  if (fs::is_regular_file(program, error) && !is_whole_program(program)) {  // Ninja looks at its time alone
    fs::remove(program, error);
    outcome = build_it();
  }
  if (outcome.end == Outcome::End::kExited && outcome.code == 0)
    return {.done = true, .failed = "", .errors = ""};
  Build build = failed_build(outcome.output, workbook);
  if (outcome.end == Outcome::End::kTooLong)
    build.errors += "The compiler was still running after five minutes, and was stopped.\n";
  if (outcome.end == Outcome::End::kTooMuchOutput)
    build.errors = first_lines(build.errors) + "The compiler did not stop printing, and was stopped.\n";
  return build;
}

}  // namespace workbook

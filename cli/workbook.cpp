#include "workbook.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <set>
#include <sstream>

#include "advice.hpp"
#include "config.hpp"
#include "judge/source_check.hpp"
#include "system/build_inputs.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/lock.hpp"
#include "system/memory_limit.hpp"
#include "system/process.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

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

/// The output of compilers and linkers: Ninja's without its own lines. For each failure, it prints the target
/// and the command first.
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
    } else if (!line.starts_with(kNinjaStatus) && !line.starts_with("ninja: ") &&
               !is_about_wrapper(line, workbook.build)) {
      build.errors += line + "\n";
    }
  }
  if (build.failed.empty()) build.errors = output;  // it was Ninja that failed
  build.errors = without(printable(build.errors, "\n\t"), workbook.root.string() + "/");
  build.lack = lack_in(build.errors);
  build.names_place = names_place(build.errors);
  build.errors += advice_on(build.errors, build.failed.find("program.") != std::string::npos);
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

/// Ninja's run, which builds a target from what the files contain now.
Outcome run_ninja(const Workbook& workbook, const std::string& target) {
  constexpr int kMostRounds = 3;  // in one, a file may change after a compiler has read it
  say("{}", said_of_times(keep_build_true(workbook.build)));
  Outcome outcome;
  for (int i = 0; i < kMostRounds; ++i) {
    // A build of everything may take long on a slow machine, but each file ends with a line of Ninja's. The
    // memory is that of each compiler: `#include "/dev/zero"` would take all.
    outcome = run_limited({"ninja", "-C", workbook.build.string(), target},
                          {.silence = std::chrono::minutes(5),
                           .memory_bytes = std::min(kCompilerMemory, most_memory()),
                           .output_bytes = 4u << 20,
                           .signal_of_end = SIGTERM});  // which it hands on to its compilers
    if (keep_build_true(workbook.build).outdated.empty()) break;
  }
  return outcome;
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

void require_readable(const fs::path& source) {
  std::set<fs::path> seen;
  std::vector<fs::path> open = {source};
  while (!open.empty()) {
    const fs::path file = open.back();
    open.pop_back();
    if (!seen.insert(file).second) continue;
    const std::string code = code_of(file_text(file));
    static const std::regex include(R"re((^|\n)[ \t]*#[ \t]*include[ \t]*"([^"\n]+)")re");
    for (std::sregex_iterator found(code.begin(), code.end(), include), end; found != end; ++found) {
      const fs::path included = (file.parent_path() / found->str(2)).lexically_normal();
      std::error_code error;
      if (fs::exists(included, error)) open.push_back(included);
    }
  }
}

void require_compiler_ran(const Build& build) {
  if (build.names_place) return;
  throw MachineError(fmt::format("the compiler did not judge your file: {}\n{}",
                                 build.lack.empty() ? "it names no place in a source" : build.lack,
                                 build.errors));
}

Build build_target(const Workbook& workbook, const std::string& target) {
  const Lock lock(build_lock(workbook));
  return build_locked_target(workbook, target);
}

Build build_locked_target(const Workbook& workbook, const std::string& target) {
  setenv("NINJA_STATUS", kNinjaStatus, 1);
  setenv("LC_ALL", "C", 1);                  // compilers translate their words
  setenv("PWD", workbook.build.c_str(), 1);  // the name that compilers give their folder: it may be a link's
  Outcome outcome = run_ninja(workbook, target);
  const fs::path program = workbook.build / "bin" / target;
  std::error_code error;
  if (fs::is_regular_file(program, error) && !is_whole_program(program)) {  // Ninja looks at its time alone
    fs::remove(program, error);
    outcome = run_ninja(workbook, target);
  }
  if (outcome.end == Outcome::End::kExited && outcome.code == 0) return {.done = true};
  Build build = failed_build(outcome.output, workbook);
  build.names_place |= outcome.end == Outcome::End::kTooLong || outcome.end == Outcome::End::kTooMuchOutput;
  if (outcome.end == Outcome::End::kTooLong)
    build.errors += "The compiler was still running after five minutes, and was stopped.\n";
  if (outcome.end == Outcome::End::kTooMuchOutput)
    build.errors = first_lines(build.errors) + "The compiler did not stop printing, and was stopped.\n";
  return build;
}

}  // namespace workbook

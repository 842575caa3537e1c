#include "commands/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "commands/lesson.hpp"
#include "commands/pytorch.hpp"
#include "config.hpp"
#include "result_file.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/memory_limit.hpp"
#include "system/process.hpp"
#include "system/read_file.hpp"
#include "system/terminal.hpp"
#include "verdict.hpp"

namespace workbook {
namespace {

std::string program(const char* prefix, const ExerciseFiles& exercise) {
  return fmt::format("{}_{}_{}", prefix, exercise.chapter, exercise.name);
}

/// Whether the build failed at the reader's file: at its object, or at the program that it is linked into.
bool is_readers(const Build& build, const ExerciseFiles& exercise) {
  return build.failed.find(fmt::format("{}_{}_cpu_reader", exercise.chapter, exercise.name)) !=
             std::string::npos ||
         build.failed.ends_with(program("check", exercise) + " ");
}

/// \throws MachineError where it was not the reader's file that ended a judging program
void require_judged(const std::string& text, const Outcome& outcome, const ResultFile& result) {
  if (outcome.end == Outcome::End::kSignal && outcome.code == SIGKILL)
    throw MachineError("the system has killed the program that judges: has this machine too little memory?");
  // The reader's code may end the program with any status, too.
  if (outcome.end != Outcome::End::kExited || outcome.code != kMachineLacks) return;
  result.require_space();
  const auto data = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (data.is_object() && data.contains("lacks")) throw MachineError(data["lacks"].get<std::string>());
}

Verdict judged_in_python(const Workbook& workbook, const ExerciseFiles& exercise) {
  const std::string python = python_with_pytorch();
  const ResultFile result(workbook.state_folder);
  const Outcome outcome = run_limited(python_judge(python, exercise, result.path()), python_judging_limits());
  // It writes before it loads the reader's file.
  if (result.text().empty() && outcome.end != Outcome::End::kTooLong)
    throw MachineError(fmt::format("the program that judges did not start:\n{}", outcome.output));
  require_judged(result.text(), outcome, result);
  return verdict_of(result.text(), outcome);
}

Verdict judged(const Workbook& workbook, const ExerciseFiles& exercise) {
  if (!file_exists(exercise.file))
    return {false,
            fmt::format("  The file is not there. ./workbook reset {} restores it.\n", exercise.number()),
            "the file is not there"};
  if (const FileContent content = read_file(exercise.file); !content.problem.empty())
    return {false, wrapped(fmt::format("The file cannot be read: {}.", content.problem), 2),
            "cannot be read"};
  if (exercise.is_python()) return judged_in_python(workbook, exercise);
  const std::string errors = build_judge(workbook, exercise);
  if (!errors.empty())
    return {false, fmt::format("{}\n{} It does not compile.\n", errors, bold("Not yet.")),
            "does not compile"};

  const ResultFile result(workbook.state_folder);
  const Outcome outcome =
      run_limited({judge_program(workbook, exercise), "reader", result.path()}, judging_limits());
  require_judged(result.text(), outcome, result);
  return verdict_of(result.text(), outcome);
}

void note(const Workbook& workbook, const ExerciseFiles& exercise, bool solved) {
  change_standing(workbook.state_folder, exercise.key(),
                  [&](Standing& standing) { standing.solved = solved; });
}

/// Builds and judges the reader's file of one exercise, prints the verdict, and records it. Returns kDone
/// when it is solved, otherwise kWrong. \throws MachineError when anything but the reader's file cannot be
/// built
ExitStatus check_exercise(const Workbook& workbook, const ExerciseFiles& exercise) {
  fmt::print("{}  {}\n\n", bold(exercise.id()), workbook.shown(exercise.file));
  fflush(stdout);
  const Verdict verdict = judged(workbook, exercise);
  fmt::print("{}", verdict.text);
  fflush(stdout);
  note(workbook, exercise, verdict.solved);
  return verdict.solved ? kDone : kWrong;
}

/// Times the reader's file and the solution in the same run, where the workbook was built with a GPU; prints
/// nothing without one. The times are advice and do not change the verdict.
void time_exercise_on_gpu(const Workbook& workbook, const ExerciseFiles& exercise) {
  if (!kGpuSide || exercise.is_python()) return;
  const Build build = build_target(workbook, program("time", exercise));
  if (!build.done) {
    fmt::print("\nOn the GPU: it does not compile there.\n{}", build.errors);
    return;
  }
  const ResultFile result(workbook.state_folder);
  const Outcome outcome =
      run_limited({(workbook.build / "bin" / program("time", exercise)).string(), result.path()},
                  {.time = std::chrono::seconds(120), .output_bytes = std::size_t{1} << 20});
  if (outcome.end == Outcome::End::kExited &&
      (outcome.code == kMachineLacks || outcome.code == kNothingToTime))
    return;
  const auto report = nlohmann::json::parse(result.text(), nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) {
    fmt::print("\nOn the GPU: it came to no end there.\n");
    return;
  }
  const std::string where =
      fmt::format("\n{}, {}", report["device"].get<std::string>(), report["at"].get<std::string>());
  if (const std::string skipped = report.value("skipped", ""); !skipped.empty()) {
    fmt::print("{}", indented(fmt::format("{}: not timed: {}", where, skipped), 0));
    return;
  }
  const std::string wrong = report["reader"]["message"];
  if (!wrong.empty())
    fmt::print("{}", indented(fmt::format("{}: wrong: {}", where, wrong), 0));
  else
    fmt::print("{}: yours {:.2f} us, the solution {:.2f} us (advice, not the verdict)\n", where,
               report["reader"]["time_us"].get<double>(), report["solution"]["time_us"].get<double>());
}

/// Where the reader goes when all exercises of a chapter are solved.
std::string page_after(const Workbook& workbook, const std::string& chapter) {
  const auto at = std::find(workbook.chapters.begin(), workbook.chapters.end(), chapter);
  if (at != workbook.chapters.end() && at + 1 != workbook.chapters.end())
    return fmt::format("The next page: docs/{}.md", *(at + 1));
  return "That was the last chapter. docs/choosing.md says what to fuse in a program of your own";
}

}  // namespace

Limits judging_limits() {
  return {.time = judging_time(),
          .memory_bytes = std::min(std::size_t{4} << 30, most_memory()),
          .output_bytes = std::size_t{1} << 20,
          .file_bytes = std::size_t{64} << 20};
}

std::string judge_program(const Workbook& workbook, const ExerciseFiles& exercise) {
  return (workbook.build / "bin" / program("check", exercise)).string();
}

std::string build_judge(const Workbook& workbook, const ExerciseFiles& exercise) {
  if (const std::string fault = encoding_fault(exercise.file, workbook.shown(exercise.file)); !fault.empty())
    return wrapped(fault, 0);
  require_readable(exercise.file);
  const Build build = build_target(workbook, program("check", exercise));
  if (build.done) return "";
  require_compiler_ran(build);
  if (is_readers(build, exercise)) return build.errors;
  throw MachineError(
      fmt::format("the workbook cannot be built, and it is not your file's fault:\n{}", build.errors));
}

std::string solved_text(const Workbook& workbook, const ExerciseFiles& exercise) {
  std::string text = wrapped(fmt::format("Compare: ./workbook diff {0} shows your file against the solution, "
                                         "./workbook solution {0} the solution alone.",
                                         exercise.number()),
                             0);
  State state = load_state(workbook.state_folder);
  int count = 0;
  for (const ExerciseFiles& other : workbook.exercises) {
    if (other.chapter != exercise.chapter) continue;
    if (!state[other.key()].solved) return text;
    ++count;
  }
  const std::string number = exercise.chapter.substr(0, exercise.chapter.find('_'));
  text += "\n" + wrapped(fmt::format(
                             "{} {} chapter {} {} solved. {}", bold("Done."),
                             count == 1 ? "The exercise of" : fmt::format("All {} exercises of", count),
                             number, count == 1 ? "is" : "are", lesson_of(workbook, exercise.chapter).learnt),
                         0);
  return text + wrapped(page_after(workbook, exercise.chapter) + ".", 0);
}

ExitStatus check_command(const Workbook& workbook, const std::string& name) {
  const ExerciseFiles& exercise = workbook.exercise(name);
  const ExitStatus status = check_exercise(workbook, exercise);
  if (status != kDone) {
    fmt::print("\nA hint: ./workbook hint {}\n", exercise.number());
    return status;
  }
  time_exercise_on_gpu(workbook, exercise);
  fmt::print("\n{}", solved_text(workbook, exercise));
  if (const ExerciseFiles* next = workbook.next_open())
    fmt::print("\nNext: {}, {}.\n{}\nThen: ./workbook check\n", next->id(), next->goal(),
               workbook.shown(next->file));
  else
    fmt::print("\nAll exercises are solved.\n");
  return status;
}

ExitStatus check_all_command(const Workbook& workbook) {
  ExitStatus status = kDone;
  std::string lacks;  // what an exercise needs that this machine does not have
  for (const ExerciseFiles& exercise : workbook.exercises) {
    Verdict verdict;
    try {
      verdict = judged(workbook, exercise);
    } catch (const MachineError& error) {
      if (!exercise.is_python()) throw;
      lacks = error.what();
      fmt::print("  {:24} {}\n", exercise.id(), "not judged: PyTorch is missing");
      continue;
    }
    note(workbook, exercise, verdict.solved);
    if (!verdict.solved) status = kWrong;
    fmt::print("  {:24} {}\n", exercise.id(), verdict.in_short);
    fflush(stdout);
  }
  if (lacks.empty()) return status;
  fmt::print("\n{}", wrapped(fmt::format("Not judged: {}.", lacks), 0));
  return kMachineLacks;
}

}  // namespace workbook

#include "commands/predict.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "commands/lesson.hpp"
#include "commands/run.hpp"
#include "predictions.hpp"
#include "result_file.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kAccepted =
    "Answer with a number such as 16, 1.5 (or 1,5), 3/2, 1.5x or 24 bytes. Type ? to be told, q to leave.";
constexpr const char* kShown = "?";  // the answer of a reader who wants to be told

// --- Counting ---

/// The stage of that name that ran. \throws MachineError
const json& stage_of(const json& run, const std::string& name) {
  for (const json& stage : run.at("stages"))
    if (stage.at("name") == name && stage.at("status") == "ok") return stage;
  throw MachineError(
      fmt::format("{} has no counts of a stage {}", run.at("chapter").get<std::string>(), name));
}

/// The column of the chapter's table (harness/tables/columns.hpp) that answers a question.
const char* column_of(Asked asked) {
  switch (asked) {
    case Asked::kRead:
      return "read";
    case Asked::kWrite:
      return "write";
    case Asked::kSpeedUp:
      return "predicted_speed_up";
  }
  return "";
}

/// The number that answers a question: its value, and its text in the chapter's table, without marks.
struct Counted {
  double value;
  std::string text;
};
Counted counted(const json& run, const Question& question) {
  const json& shown = stage_of(run, question.stage).at("shown").at(column_of(question.asked));
  const std::string text = shown.at("text");
  return {shown.at("value"), text.substr(text.find_first_of("0123456789"))};
}

/// Runs the chapter's program on the CPU device, for the stages that the lesson asks about. Returns its
/// counts, or nothing when a stage is wrong, which it then shows.
std::optional<json> counts_of(const Workbook& workbook, const std::string& chapter, const Lesson& lesson) {
  const ResultFile file(workbook.state_folder);
  std::vector<std::string> call = {
      (workbook.build / "bin" / chapter).string(), "--device", "cpu", "--json", file.path(), "--stage"};
  std::set<std::string> stages;
  for (const Question& question : lesson.questions) stages.insert(question.stage);
  call.push_back(fmt::format("{}", fmt::join(stages, ",")));
  const Outcome outcome = run_limited(call, {.time = time_limit(kUsualTime)});
  const bool is_too_long = outcome.end == Outcome::End::kTooLong,
             crashes = outcome.end == Outcome::End::kSignal && outcome.code != SIGKILL;  // the system's
  if (is_too_long || crashes || (outcome.end == Outcome::End::kExited && outcome.code == kWrong)) {
    fmt::print("{}\n", outcome.output);
    if (is_too_long) fmt::print("{}", wrapped(too_long_text(chapter) + ".", 0));
    if (crashes) fmt::print("{} crashes: {}.\n", chapter, strsignal(outcome.code));
    fmt::print("There is nothing to compare with until this stage is right again.\n");
    return std::nullopt;
  }
  const json runs = json::parse(file.text(), nullptr, /*allow_exceptions=*/false);
  if (outcome.end != Outcome::End::kExited || outcome.code != 0 || !runs.is_array() || runs.empty())
    throw MachineError(fmt::format("{} printed no counts:\n{}", chapter, outcome.output));
  return runs[0];
}

/// The counts that the chapter's program has stored with --json in an earlier run. \throws UsageError
json stored_counts(const std::string& chapter, const std::string& path) {
  const json runs = json::parse(file_text(path), nullptr, /*allow_exceptions=*/false);
  if (!runs.is_array() || runs.empty() || !runs[0].is_object() || runs[0].value("chapter", "") != chapter)
    throw UsageError(fmt::format("--counts {}: it must hold what {} stores with --json", path, chapter));
  return runs[0];
}

// --- Asking ---

std::string without_backticks(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  return text;
}

std::string words_of(const json& run, const Question& question) {
  switch (question.asked) {
    case Asked::kRead:
      return "bytes read per " + run.at("unit").get<std::string>();
    case Asked::kWrite:
      return "bytes written per " + run.at("unit").get<std::string>();
    case Asked::kSpeedUp:
      return fmt::format("speed-up over {}, by the bytes moved",
                         stage_of(run, question.stage).at("against").get<std::string>());
  }
  return "";
}

/// The sentence that explains the number.
std::string because_text(const Question& question, const std::string& number) {
  std::string because = question.because;
  if (const auto at = because.find("{}"); at != std::string::npos) because.replace(at, 2, number);
  return because;
}

/// Whether an answer is right where the table has `number`.
bool is_right(const std::string& answer, const std::string& number) {
  const std::optional<double> predicted = predicted_number(answer);
  return predicted && is_right_prediction(*predicted, std::stod(number));
}

/// "Right. Because ...", "Not quite: it is 16.0. Because ...", and "It is 16.0. Because ..." for a reader who
/// wanted to be told.
std::string mark_text(const Question& question, const std::string& answer, const std::string& number) {
  const std::string mark = answer == kShown           ? "It is " + number
                           : is_right(answer, number) ? bold("Right")
                                                      : bold("Not quite") + ": it is " + number;
  return wrapped(fmt::format("{}. {}", mark, without_backticks(because_text(question, number))), 4);
}

/// The next line of the reader's; nothing at the end of the input. What does not come from a terminal is
/// shown after the prompt.
std::optional<std::string> line_from(std::istream& in, const std::string& prompt) {
  fmt::print("{} ", prompt);
  fflush(stdout);
  std::string line;
  const bool echo = &in != &std::cin || !isatty(STDIN_FILENO);
  if (!std::getline(in, line)) {
    fmt::print("\n");
    return std::nullopt;
  }
  line.erase(line.find_last_not_of(" \t\r") + 1);
  line.erase(0, line.find_first_not_of(" \t"));
  if (echo) fmt::print("{}\n", line);
  return line;
}

/// An answer that is a number, or kShown. Nothing when the reader leaves.
std::optional<std::string> answer_from(std::istream& in, const json& run, const Question& question) {
  for (;;) {
    const auto line = line_from(in, fmt::format("  {}?", words_of(run, question)));
    if (!line || *line == "q" || *line == "Q") return std::nullopt;
    if (*line == kShown || predicted_number(*line)) return line;
    fmt::print("{}", wrapped(kAccepted, 4));
  }
}

/// Goes through all questions: shows the answers that are there, and asks the others. Returns whether all are
/// answered.
bool ask_all(const Workbook& workbook, const std::string& chapter, const Lesson& lesson, const json& run,
             std::istream& in) {
  Answers answers = load_answers(workbook.state_folder)[chapter];
  std::string stage;
  int right = 0;
  for (const Question& question : lesson.questions) {
    if (question.stage != stage)
      fmt::print("\n{}\n{}", bold(question.stage), wrapped(without_backticks(question.does), 2));
    stage = question.stage;
    if (answers.count(question.key())) {
      fmt::print("  {}? {}\n", words_of(run, question), answers[question.key()]);
    } else {
      const auto answer = answer_from(in, run, question);
      if (!answer) {
        fmt::print("\n{}", wrapped(fmt::format("Your answers are kept. Continue with ./workbook predict {}.",
                                               chapter.substr(0, chapter.find('_'))),
                                   0));
        return false;
      }
      keep_answer(workbook.state_folder, chapter, question.key(), *answer);
      answers[question.key()] = *answer;
    }
    const std::string& answer = answers[question.key()];
    const std::string number = counted(run, question).text;
    right += is_right(answer, number);
    fmt::print("{}", mark_text(question, answer, number));
  }
  fmt::print("\n{} of {} right.\n", right, lesson.questions.size());
  return true;
}

/// The questions and what was counted, for a program to read.
std::string answers_json(const Lesson& lesson, const json& run) {
  auto all = nlohmann::ordered_json::array();
  for (const Question& question : lesson.questions) {
    const auto [value, number] = counted(run, question);
    all.push_back({{"stage", question.stage},
                   {"does", question.does},
                   {"asked", text_of(question.asked)},
                   {"counted", value},
                   {"text", number},
                   {"because", because_text(question, number)}});
  }
  return all.dump(1);
}

/// The chapter that the name stands for; for no name, the first that has predictions to make. \throws
/// UsageError
std::string chapter_to_predict(const Workbook& workbook, const std::string& name) {
  if (!name.empty()) {
    const std::vector<std::string> found = chapters_matching(workbook, name);
    if (found.size() > 1)
      throw UsageError(fmt::format("\"{}\" is {}; predict takes one chapter", name, fmt::join(found, ", ")));
    return found[0];
  }
  const AllAnswers answers = load_answers(workbook.state_folder);
  std::string last = workbook.chapters.back();
  for (const std::string& chapter : workbook.chapters) {
    const Predicted predicted = predicted_of(workbook, chapter, answers);
    if (predicted.answered < predicted.asked) return chapter;
    if (predicted.asked > 0) last = chapter;
  }
  return last;
}

}  // namespace

Predicted predicted_of(const Workbook& workbook, const std::string& chapter, const AllAnswers& all) {
  const auto answers = all.find(chapter);
  Predicted predicted;
  for (const Question& question : lesson_of(workbook, chapter).questions) {
    ++predicted.asked;
    if (answers != all.end()) predicted.answered += static_cast<int>(answers->second.count(question.key()));
  }
  return predicted;
}

std::vector<std::string> chapters_of_predict(const Workbook& workbook, const std::string& name) {
  const std::string chapter = chapter_to_predict(workbook, name);
  return has_program(workbook, chapter) ? std::vector{chapter} : std::vector<std::string>{};
}

int predict_command(const Workbook& workbook, const std::string& name, bool as_json, std::istream& in,
                    const std::string& counts) {
  const std::string chapter = chapter_to_predict(workbook, name);
  const std::string number = chapter.substr(0, chapter.find('_'));
  const Lesson lesson = lesson_of(workbook, chapter);
  if (lesson.questions.empty())
    throw UsageError(
        fmt::format("{0} has no predictions to make here; ./workbook run {1} {2}, and docs/{0}.md asks its "
                    "questions",
                    chapter, number, has_program(workbook, chapter) ? "counts" : "measures"));
  if (!as_json && counts.empty()) fmt::print("Counting on the CPU device ...\n\n");
  fflush(stdout);
  const std::optional<json> run =
      counts.empty() ? counts_of(workbook, chapter, lesson) : stored_counts(chapter, counts);
  if (!run) return kWrong;
  if (as_json) {
    fmt::print("{}\n", answers_json(lesson, *run));
    return kDone;
  }

  const Predicted before = predicted_of(workbook, chapter, load_answers(workbook.state_folder));
  fmt::print("{}: predict what each stage moves, for large arrays\n\n{}{}", bold(chapter),
             wrapped(lesson.given, 0), wrapped(kAccepted, 0));
  if (!ask_all(workbook, chapter, lesson, *run, in)) return kDone;
  if (before.answered == before.asked) {
    const auto again = line_from(in, "These are your earlier answers. Start again? [y/N]");
    if (!again || (*again != "y" && *again != "Y" && *again != "yes")) return kDone;
    forget_answers(workbook.state_folder, chapter);
    if (!ask_all(workbook, chapter, lesson, *run, in)) return kDone;
  }
  fmt::print("\nThe whole table: ./workbook run {} --device cpu\nThe lesson: docs/{}.md\n", number, chapter);
  return kDone;
}

}  // namespace workbook

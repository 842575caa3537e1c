#include "commands/view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "commands/check.hpp"
#include "commands/play.hpp"
#include "harness/tables/note_words.hpp"
#include "result_file.hpp"
#include "skeleton.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"
#include "verdict.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// The page's template, and where the data goes in it.
constexpr const char* kTemplate = "cli/commands/view.html";
constexpr const char* kDataPlace = "@DATA@";

/// Whether `name` is the exercise's file.
bool is_file_of(const ExerciseFiles& exercise, const std::string& name) {
  std::error_code error;
  return fs::equivalent(name, exercise.file, error);
}

/// Whether `name` is that of a file for `play`, and of no exercise.
bool is_play_file(const Workbook& workbook, const std::string& name) {
  std::error_code error;
  if (!name.ends_with(".cu") && !fs::is_regular_file(name, error)) return false;
  for (const ExerciseFiles& exercise : workbook.exercises)
    if (is_file_of(exercise, name)) return false;
  return true;
}

/// Makes the folder, so that a page can be written to it. \throws UsageError
fs::path page_folder(const std::string& name) {
  const fs::path folder = name.empty() ? "results" : name;
  if (const std::optional<std::string> problem = make_folder(folder))
    throw UsageError(fmt::format("--out {}: no folder can be made there: {}", folder.string(), *problem));
  return folder;
}

/// Writes the page and prints its name. \throws MachineError
void write_page(const Workbook& workbook, const fs::path& folder, const std::string& name,
                ordered_json data) {
  data.erase("text");
  data["version"] = version();
  std::string json = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");  // no "</script>" ends the data
  std::string page = file_text(workbook.root / kTemplate);
  const auto place = page.find(kDataPlace);
  if (place == std::string::npos) throw MachineError(fmt::format("{} has no {}", kTemplate, kDataPlace));
  page.replace(place, std::string(kDataPlace).size(), json);
  const fs::path path = folder / fmt::format("view_{}.html", name);
  replace_file(path, page);
  fmt::print("The page: {}\n", path.string());
}

/// The data that a program has written; null where it has written none.
ordered_json data_in(const ResultFile& result) {
  ordered_json data = ordered_json::parse(result.text(), nullptr, /*allow_exceptions=*/false);
  return data.is_object() ? data : ordered_json(nullptr);
}

bool has_lines(const ordered_json& data) {
  for (const ordered_json& launch : data.at("launches"))
    if (!launch.at("sites").empty()) return true;
  return false;
}

/// The findings, notes and the result in words.
std::string messages_text(const ordered_json& data) {
  std::string out;
  for (const ordered_json& message : data.at("messages"))
    out += "\n" + indented(message.at("text").get<std::string>(), 0);
  if (const std::string result = data.at("result"); !result.empty()) out += "\n" + indented(result, 0);
  return out;
}

bool has_findings(const ordered_json& data) {
  for (const ordered_json& message : data.at("messages"))
    if (message.at("kind") == "finding") return true;
  return false;
}

/// Prints what was found, and the lines or the name of the page.
ExitStatus show(const Workbook& workbook, const ViewRequest& request, const std::string& name,
                const ordered_json& data, bool messages) {
  if (request.lines) {
    fmt::print("{}", data.at("text").get<std::string>());
    if (messages) fmt::print("{}", messages_text(data));
    return has_findings(data) ? kWrong : kDone;
  }
  if (messages) fmt::print("{}", messages_text(data));
  if (!has_lines(data)) {
    if (has_findings(data)) return kWrong;
    fmt::print("No kernel accessed memory. Does the file launch one?\n");
    return kWrong;
  }
  write_page(workbook, page_folder(request.folder), name, data);
  return has_findings(data) ? kWrong : kDone;
}

ExitStatus view_file(const Workbook& workbook, const ViewRequest& request) {
  if (!request.size.empty())
    throw UsageError("--size applies to exercises; a file for play sets its own sizes");
  if (!request.lines) page_folder(request.folder);  // before any work is done for it
  const ResultFile result(workbook.state_folder);
  PlayRequest play = request.play;
  play.view = result.path();
  const int status = play_command(workbook, request.name, play);
  const ordered_json data = data_in(result);
  if (data.is_null()) return static_cast<ExitStatus>(status);  // it has been said why
  return show(workbook, request, fs::path(request.name).filename().string(), data, false);
}

ExitStatus view_exercise(const Workbook& workbook, const ViewRequest& request,
                         const ExerciseFiles& exercise) {
  if (!request.play.notes.empty())
    throw UsageError("--note applies to files for play; exercises are judged without it");
  if (request.play.is_for_main()) throw UsageError(fmt::format("{}, not for an exercise", kForMain));
  if (!file_exists(exercise.file))
    throw UsageError(fmt::format("{} is not there; ./workbook reset {} restores it",
                                 workbook.shown(exercise.file), exercise.number()));
  if (!request.lines) page_folder(request.folder);
  if (exercise.is_python())
    throw UsageError(
        fmt::format("{} is in Python, and view shows what the lines of a kernel cost", exercise.id()));
  const std::string errors = build_judge(workbook, exercise);
  if (!errors.empty()) {
    say("{}\n{} does not compile.\n", errors, workbook.shown(exercise.file));
    return kWrong;
  }
  const ResultFile result(workbook.state_folder);
  std::vector<std::string> call = {judge_program(workbook, exercise), "reader", result.path(), "view"};
  if (!request.size.empty()) call.push_back(request.size);
  const Outcome outcome = run_limited(call, judging_limits());
  ordered_json data = data_in(result);
  if (data.contains("refused")) {
    const std::string why = fmt::format("{}: {}", exercise.id(), data.at("refused").get<std::string>());
    if (outcome.code == kMachineLacks) throw MachineError(why);
    throw UsageError(why);
  }
  if (!data.contains("launches")) {  // the program did not come to its end
    say("{}", verdict_of(result.text(), outcome).text);
    return kWrong;
  }
  fmt::print("{}", outcome.output);  // the reader's own
  if (file_text(exercise.file) == skeleton_of(file_text(exercise.solution)))
    fmt::print("{} has not been started: what you see is the file as it came.\n", exercise.id());
  data["title"] = exercise.id();
  return show(workbook, request, exercise.id(), data, true);
}

}  // namespace

ExitStatus view_command(const Workbook& workbook, const ViewRequest& request) try {
  if (is_play_file(workbook, request.name)) return view_file(workbook, request);
  return view_exercise(workbook, request, workbook.exercise(request.name));
} catch (const ordered_json::exception& error) {
  throw MachineError(fmt::format(
      "the program that was to be viewed has written other data than it should: {}", error.what()));
}

}  // namespace workbook

#include "commands/new.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "skeleton.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

/// A word of the templates, and what stands for it.
using Words = std::vector<std::pair<std::string, std::string>>;

void replace(std::string& text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

std::string filled_in(const fs::path& of_template, const Words& words) {
  std::string text = file_text(of_template);
  for (const auto& [word, by] : words) replace(text, word, by);
  return text;
}

/// "TwoEach" of "two_each"
std::string camel_case(const std::string& name) {
  std::string camel;
  bool first = true;
  for (const char c : name) {
    if (c != '_') camel += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    first = c == '_';
  }
  return camel;
}

/// The number after the largest that the name of a file or folder in `folder` begins with.
int next_number(const fs::path& folder) {
  int last = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    last = std::max(last, std::atoi(entry->path().filename().c_str()));
  if (error) throw MachineError(fmt::format("{} cannot be read ({})", folder.string(), error.message()));
  return last + 1;
}

void write_new(const Workbook& workbook, const fs::path& path, const std::string& text) {
  if (file_exists(path)) throw UsageError(fmt::format("{} exists", workbook.shown(path)));
  if (const std::optional<std::string> problem = make_folder(path.parent_path()))
    throw MachineError(fmt::format("{} cannot be made a folder ({})", path.parent_path().string(), *problem));
  replace_file(path, text);
  fmt::print("  {}\n", workbook.shown(path));
}

/// The first output that a chapter's problem.cuh names and that is no template: "kOut".
std::string first_output(const std::string& problem) {
  const auto equals = problem.find(" = output<");
  if (equals == std::string::npos) throw MachineError("problem.cuh names no output");
  const auto begin = problem.rfind(' ', equals - 1) + 1;
  return problem.substr(begin, equals - begin);
}

void add_to_list(const fs::path& chapter, const std::string& file, const std::string& struct_name) {
  std::string text = file_text(chapter);
  const auto include = text.find("#include \"problem.cuh\"");
  const auto ladder = text.find("kLadder<"), end = text.find(">;", ladder);
  if (include == std::string::npos || ladder == std::string::npos || end == std::string::npos)
    throw MachineError(fmt::format("{} has no list of stages: no kLadder<...>", chapter.string()));
  text.insert(end, ", " + struct_name);
  text.insert(include, fmt::format("#include \"{}\"\n", file));
  replace_file(chapter, text);
}

void new_stage(const Workbook& workbook, const std::string& chapter, const std::string& name) {
  const fs::path folder = workbook.root / "chapters" / chapter;
  const int number = next_number(folder);
  const std::string file = fmt::format("{:02}_{}", number, name);
  write_new(workbook, folder / (file + ".cuh"),
            filled_in(workbook.root / "docs/templates/stage.cuh",
                      {{"STAGE_NUMBER", std::to_string(number)},
                       {"chapter_namespace", chapter.substr(3)},
                       {"stage_file", file},
                       {"stage_name", name},
                       {"StageName", camel_case(name)},
                       {"kFirstOutput", first_output(file_text(folder / "problem.cuh"))}}));
  add_to_list(folder / "chapter.cu", file + ".cuh", camel_case(name));
  fmt::print("  {}: the last of its list\n", workbook.shown(folder / "chapter.cu"));
  fmt::print(
      "\nNext: answer what the file asks after \"think:\", then ./workbook run {} --stage {}.\n"
      "docs/adding_a_chapter.md says the rest.\n",
      chapter.substr(0, 2), file);
}

void new_exercise(const Workbook& workbook, const std::string& chapter, const std::string& name) {
  const fs::path solutions = workbook.root / "solutions" / chapter;
  const std::string numbered = fmt::format("{}_{}", next_number(solutions), name);
  const std::string number =
      fmt::format("{}.{}", chapter.substr(0, 2), numbered.substr(0, numbered.find('_')));
  const Words words = {{"EXERCISE_NUMBER", number},
                       {"exercise_name", name},
                       {"exercise_namespace", chapter.substr(3) + "_" + name},
                       {"chapter_file", chapter}};
  for (const char* file : {"solution.cuh", "check.cu", "hints.md", "answers.txt"})
    write_new(workbook, solutions / numbered / file,
              filled_in(workbook.root / "docs/templates/exercise" / file, words));
  write_new(workbook, workbook.root / "chapters" / chapter / "exercises" / (numbered + ".cuh"),
            skeleton_of(file_text(solutions / numbered / "solution.cuh")));
  fmt::print(
      "\nIt doubles an array. Next: answer what the files ask after \"Think:\", then\n"
      "./workbook reset {0} and ./workbook check {0}. It wants a heading\n"
      "\"### Exercise {0}: {1}\" in docs/{2}.md.\n"
      "docs/adding_an_exercise.md says the rest.\n",
      number, name, chapter);
}

}  // namespace

ExitStatus new_command(const Workbook& workbook, const std::string& kind, const std::string& name) {
  if (kind != "stage" && kind != "exercise")
    throw UsageError(fmt::format("new {}: accepted are stage and exercise", kind));
  const auto dot = name.find('.');
  const std::string number = name.substr(0, dot), word = dot == std::string::npos ? "" : name.substr(dot + 1);
  const auto is_of_name = [](char c) { return std::islower(c) || std::isdigit(c) || c == '_'; };
  const auto chapter = std::ranges::find_if(workbook.programs, [&](const std::string& one) {
    return one.substr(0, 2) == number || one.substr(0, 2) == "0" + number;
  });
  if (chapter == workbook.programs.end() || word.empty() || !std::islower(word[0]) ||
      !std::ranges::all_of(word, is_of_name))
    throw UsageError(fmt::format(
        "new {} {}: a name is a chapter's number, a dot and a word, such as 01.two_each; chapters are {}",
        kind, name, fmt::join(workbook.programs, ", ")));
  fmt::print("New:\n");
  kind == "stage" ? new_stage(workbook, *chapter, word) : new_exercise(workbook, *chapter, word);
  return kDone;
}

}  // namespace workbook

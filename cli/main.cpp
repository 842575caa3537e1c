/// \file
/// The program behind ./workbook: its commands and what they take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "check.hpp"
#include "harness/options.hpp"
#include "overview.hpp"
#include "play.hpp"
#include "renamed.hpp"
#include "run.hpp"
#include "study.hpp"
#include "watch.hpp"

namespace {

using namespace workbook;

/// What the reader has typed behind a command.
struct Arguments {
  std::string device, exercise, file, folder, out, shell;
  bool all = false, compare = false, json = false, reveal = false;
  std::vector<std::string> chapters, rest;
};

struct Command {
  const char* name;
  const char* takes;
  const char* does;
  std::function<int(const Workbook&, const Arguments&)> run;
};

int completion_command(const Workbook& workbook, const std::string& shell);

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"list", "[--json]", "all exercises, what is solved",
       [](const Workbook& w, const Arguments& a) { return list_command(w, a.json); }},
      {"run", "[CHAPTER...] [OPTION...]", "run chapters; see run 01 --help",
       [](const Workbook& w, const Arguments& a) { return run_command(w, a.rest); }},
      {"check", "[EXERCISE] [--all]", "build and judge your file",
       [](const Workbook& w, const Arguments& a) {
         return a.all ? check_all_command(w) : check_command(w, a.exercise);
       }},
      {"watch", "[EXERCISE]", "check at each save",
       [](const Workbook& w, const Arguments& a) { return watch_command(w, a.exercise); }},
      {"hint", "[EXERCISE] [--all]", "the next hint, one at a time",
       [](const Workbook& w, const Arguments& a) { return hint_command(w, a.exercise, a.all); }},
      {"diff", "[EXERCISE] [--reveal]", "your file against the solution",
       [](const Workbook& w, const Arguments& a) { return diff_command(w, a.exercise, a.reveal); }},
      {"solution", "[EXERCISE] [--reveal]", "the solution",
       [](const Workbook& w, const Arguments& a) { return solution_command(w, a.exercise, a.reveal); }},
      {"reset", "[EXERCISE]", "begin again; keeps your file",
       [](const Workbook& w, const Arguments& a) { return reset_command(w, a.exercise); }},
      {"play", "FILE [--device cpu|gpu] [--json]", "run kernels of your own",
       [](const Workbook& w, const Arguments& a) { return play_command(w, a.file, a.device, a.json); }},
      {"bench", "[CHAPTER...] [--out FOLDER]", "time chapters on the GPU, into results",
       [](const Workbook& w, const Arguments& a) { return bench_command(w, a.chapters, a.out); }},
      {"plots", "[FOLDER] [--compare]", "draw the figures",
       [](const Workbook& w, const Arguments& a) { return plots_command(w, a.folder, a.compare); }},
      {"completion", "SHELL", "for bash or zsh; says how",
       [](const Workbook& w, const Arguments& a) { return completion_command(w, a.shell); }},
      {"skeleton", "FILE", "what reset makes of a solution",
       [](const Workbook&, const Arguments& a) { return skeleton_command(a.file); }},
  };
  return all;
}

/// What the launcher does itself.
struct LauncherCommand {
  const char* name;
  const char* does;
};
constexpr LauncherCommand kLauncherCommands[] = {{"docs", "build the book"},
                                                 {"test", "build and run the tests"},
                                                 {"doctor", "what this machine has and lacks"}};

bool takes(const Command& command, const char* what) {
  return std::string(command.takes).find(what) != std::string::npos;
}

void print_usage() {
  const auto line = [](const std::string& call, const char* does) { fmt::print("  {:37} {}\n", call, does); };
  fmt::print("./workbook, followed by\n");
  line("", "where you are, and the next step");
  for (const Command& command : commands())
    line(fmt::format("{} {}", command.name, command.takes), command.does);
  for (const LauncherCommand& command : kLauncherCommands) line(command.name, command.does);
  fmt::print(
      "\nAn EXERCISE is 01.1, 01.1_fuse, its file, or 1_fuse in its chapter's folder;\n"
      "left out, it is the next one that is not solved.\n");
}

/// Makes CLI11's subcommand for a command: its `takes` is the one place that says what there is.
CLI::App* declare(CLI::App& app, const Command& command, Arguments& arguments) {
  CLI::App* own = app.add_subcommand(command.name, command.does);
  if (takes(command, "[EXERCISE]"))
    own->add_option("EXERCISE", arguments.exercise, "01.1, 01.1_fuse or its file");
  if (takes(command, "FILE")) own->add_option("FILE", arguments.file, "the path of a file")->required();
  if (takes(command, "[CHAPTER...] [--out"))
    own->add_option("CHAPTER", arguments.chapters, "01, or 01_multiply_add");
  if (takes(command, "[FOLDER]")) own->add_option("FOLDER", arguments.folder, "with JSON of your own runs");
  if (takes(command, "SHELL")) own->add_option("SHELL", arguments.shell, "bash or zsh")->required();
  if (takes(command, "--out")) own->add_option("--out", arguments.out, "where the JSON goes");
  if (takes(command, "--compare")) own->add_flag("--compare", arguments.compare, "beside the committed runs");
  if (takes(command, "--device")) own->add_option("--device", arguments.device, "cpu (the default) or gpu");
  if (takes(command, "--all")) own->add_flag("--all", arguments.all, "all of them");
  if (takes(command, "--json")) own->add_flag("--json", arguments.json, "for a program to read");
  if (takes(command, "--reveal"))
    own->add_flag("--reveal", arguments.reveal, "although it is not solved yet");
  if (takes(command, "[OPTION...]")) {
    own->prefix_command();
    own->set_help_flag();  // help is the chapter's
  }
  return own;
}

/// The words that may come behind a command: names, and its options as its `takes` has them.
std::string words_behind(const Workbook& workbook, const Command& command) {
  std::vector<std::string> words;
  if (takes(command, "[EXERCISE]"))
    for (const ExerciseFiles& exercise : workbook.exercises) words.push_back(exercise.id());
  if (takes(command, "[CHAPTER...]")) words = workbook.chapters;
  if (takes(command, "SHELL")) words = {"bash", "zsh"};
  const std::string text = command.takes;
  for (auto at = text.find("--"); at != std::string::npos; at = text.find("--", at + 1))
    words.push_back(text.substr(at, text.find_first_of(" ]", at) - at));
  return fmt::format("{}", fmt::join(words, " "));
}

int completion_command(const Workbook& workbook, const std::string& shell) {
  if (shell != "bash" && shell != "zsh")
    throw UsageError(fmt::format("there is no completion for {}; bash or zsh", shell));
  std::string names, cases;
  for (const Command& command : commands()) {
    names += fmt::format("{} ", command.name);
    cases += fmt::format("      {}) found=\"{}\" ;;\n", command.name, words_behind(workbook, command));
  }
  for (const LauncherCommand& command : kLauncherCommands) names += fmt::format("{} ", command.name);
  const bool bash = shell == "bash";
  fmt::print(
      "# Completion of ./workbook in {0}. In a terminal, or at the end of ~/.{0}rc:\n"
      "#   source <({1} completion {0})\n"
      "_workbook() {{\n"
      "  local found=\n"
      "  if [ \"{2}\" = {3} ]; then\n"
      "    found=\"{4}\"\n"
      "  else\n"
      "    case {5} in\n{6}    esac\n"
      "  fi\n"
      "{7}"
      "}}\n"
      "{8}\n",
      shell, (workbook.root / "workbook").string(), bash ? "$COMP_CWORD" : "$CURRENT", bash ? 1 : 2, names,
      bash ? "${COMP_WORDS[1]}" : "${words[2]}", cases,
      bash ? "  COMPREPLY=($(compgen -W \"$found\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
           : "  compadd -- ${=found} || _files\n",
      bash ? "complete -o default -F _workbook workbook" : "compdef _workbook workbook");
  return 0;
}

/// The workbook, with the reader's files where they belong.
Workbook opened_workbook() {
  Workbook workbook = find_workbook();
  for (const std::string& line : move_renamed_files(workbook.root, workbook.exercises))
    fmt::print(stderr, "{}\n", line);
  return workbook;
}

[[noreturn]] void refuse_command(const std::string& word) {
  std::vector<std::string> names;
  for (const LauncherCommand& command : kLauncherCommands) names.push_back(command.name);
  for (const Command& command : commands()) names.push_back(command.name);
  throw UsageError(fmt::format("there is no command \"{}\"; the nearest: {} (./workbook --help shows all)",
                               word, fmt::join(nearest(word, names, 3), ", ")));
}

int run(int argc, const char* const* argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (argc == 1) return overview_command(opened_workbook());
  if (first == "help" || first == "--help" || first == "-h") {
    print_usage();
    return 0;
  }

  CLI::App app;
  app.name("workbook");
  Arguments arguments;
  for (const Command& command : commands()) {
    if (first != command.name) continue;
    CLI::App* own = declare(app, command, arguments);
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      fmt::print("{}", own->help());
      return 0;
    } catch (const CLI::ParseError& error) {
      throw UsageError(fmt::format("{}; {} takes {}", error.what(), command.name, command.takes));
    }
    arguments.rest = own->remaining();
    return command.run(opened_workbook(), arguments);
  }
  refuse_command(first);
}

}  // namespace

int main(int argc, char** argv) {
  const auto complain = [](const std::exception& error, int status) {
    fflush(stdout);
    fmt::print(stderr, "workbook: {}\n", error.what());
    return status;
  };
  try {
    return run(argc, argv);
  } catch (const workbook::UsageError& error) {
    return complain(error, workbook::kBadUsage);
  } catch (const std::exception& error) {
    return complain(error, workbook::kBroken);
  }
}

/// \file
/// The program behind ./workbook: its commands and what they take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "advice.hpp"
#include "commands/check.hpp"
#include "commands/hints_and_solutions.hpp"
#include "commands/new.hpp"
#include "commands/overview.hpp"
#include "commands/play.hpp"
#include "commands/predict.hpp"
#include "commands/run.hpp"
#include "commands/view.hpp"
#include "commands/watch.hpp"
#include "harness/backends/backend.hpp"
#include "harness/backends/device_kind.hpp"
#include "harness/tables/note_words.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace {

using namespace workbook;

/// The parsed words after a command.
struct Arguments {
  std::string device = "cpu", chapter, counts, exercise, file, folder, kind, name, out, shell, size;
  bool all = false, compare = false, fresh = false, json = false, lines = false, reveal = false;
  std::vector<std::string> chapters, notes, rest;
  std::vector<std::string> more_files, includes, definitions, constants, arguments;  // of a file with a main
  std::string model;
  int launches = 0, gpus = 0;
};

/// One thing that a command takes.
struct Parameter {
  const char* usage;                                         ///< how the usage shows it
  void (*declare)(CLI::App& command, Arguments& arguments);  ///< tells CLI11 about it
  /// The words that completion offers for a name; null for files and options.
  std::vector<std::string> (*completions)(const Workbook&) = nullptr;
};

std::vector<std::string> chapter_names(const Workbook& workbook) { return workbook.chapters; }

std::vector<std::string> exercise_ids(const Workbook& workbook) {
  std::vector<std::string> ids;
  for (const ExerciseFiles& exercise : workbook.exercises) ids.push_back(exercise.id());
  return ids;
}

constexpr Parameter kExercise = {"[EXERCISE]",
                                 [](CLI::App& app, Arguments& a) {
                                   app.add_option("EXERCISE", a.exercise, "01.1, 01.1_fuse or its file");
                                 },
                                 exercise_ids};
constexpr Parameter kFile = {"FILE", [](CLI::App& app, Arguments& a) {
                               app.add_option("FILE", a.file, "the path of a file")->required();
                             }};
constexpr Parameter kExerciseOrFile = {"[EXERCISE|FILE]",
                                       [](CLI::App& app, Arguments& a) {
                                         app.add_option("EXERCISE", a.exercise,
                                                        "01.1, 01.1_fuse or its file; or a file for play");
                                       },
                                       exercise_ids};
constexpr Parameter kChapterName = {
    "[CHAPTER]",
    [](CLI::App& app, Arguments& a) { app.add_option("CHAPTER", a.chapter, "01, or 01_multiply_add"); },
    chapter_names};
constexpr Parameter kChapterNames = {
    "[CHAPTER...]",
    [](CLI::App& app, Arguments& a) { app.add_option("CHAPTER", a.chapters, "01, or 01_multiply_add"); },
    chapter_names};
constexpr Parameter kChapterNamesAndOptions = {"[CHAPTER...] [OPTION...]",
                                               [](CLI::App& app, Arguments&) {
                                                 app.prefix_command();
                                                 app.set_help_flag();  // help is the chapter's
                                               },
                                               chapter_names};
constexpr Parameter kFolder = {"[FOLDER]", [](CLI::App& app, Arguments& a) {
                                 app.add_option("FOLDER", a.folder, "with JSON of your own runs");
                               }};
constexpr Parameter kShell = {
    "SHELL", [](CLI::App& app, Arguments& a) { app.add_option("SHELL", a.shell, "bash or zsh")->required(); },
    [](const Workbook&) {
      return std::vector<std::string>{"bash", "zsh"};
    }};
constexpr Parameter kAll = {"[--all]",
                            [](CLI::App& app, Arguments& a) { app.add_flag("--all", a.all, "all of them"); }};
constexpr Parameter kCompare = {"[--compare]", [](CLI::App& app, Arguments& a) {
                                  app.add_flag("--compare", a.compare, "beside the committed runs");
                                }};
constexpr Parameter kCounts = {"[--counts FILE]", [](CLI::App& app, Arguments& a) {
                                 app.add_option("--counts", a.counts,
                                                "what the chapter's --json has stored, in place of a run")
                                     ->type_name("FILE");
                               }};
constexpr Parameter kDevice = {"[--device cpu|gpu]", [](CLI::App& app, Arguments& a) {
                                 app.add_option("--device", a.device, "cpu (the default) or gpu");
                               }};
constexpr Parameter kJson = {
    "[--json]", [](CLI::App& app, Arguments& a) { app.add_flag("--json", a.json, "for a program to read"); }};
constexpr Parameter kLines = {"[--lines]", [](CLI::App& app, Arguments& a) {
                                app.add_flag("--lines", a.lines, "print the counts of each source line");
                              }};
constexpr Parameter kNew = {"[--new]", [](CLI::App& app, Arguments& a) {
                              app.add_flag("--new", a.fresh, "write a starter file first");
                            }};
constexpr Parameter kNewKind = {
    "stage|exercise",
    [](CLI::App& app, Arguments& a) { app.add_option("KIND", a.kind, "stage or exercise")->required(); },
    [](const Workbook&) {
      return std::vector<std::string>{"stage", "exercise"};
    }};
constexpr Parameter kNewName = {"NAME", [](CLI::App& app, Arguments& a) {
                                  app.add_option("NAME", a.name, "such as 01.two_each")->required();
                                }};
constexpr Parameter kNote = {"[--note KIND]", [](CLI::App& app, Arguments& a) {
                               app.add_option("--note", a.notes,
                                              "go on after findings of this kind:\n" + note_words_text())
                                   ->type_name("KIND")
                                   ->allow_extra_args(false);
                             }};
/// The options for a file with a main; --help lists them.
constexpr Parameter kProgram = {
    "...", [](CLI::App& app, Arguments& a) {
      app.add_option("--with", a.more_files, "another source of a program with a main")
          ->type_name("FILE")
          ->allow_extra_args(false);
      app.add_option("-I", a.includes, "a folder of headers, for a file with a main")
          ->type_name("DIR")
          ->allow_extra_args(false);
      app.add_option("-D", a.definitions, "a macro, NAME or NAME=VALUE")
          ->type_name("NAME")
          ->allow_extra_args(false);
      app.add_option("--set", a.constants, "B=2 turns int B = 8 to int B = 2")
          ->type_name("NAME=NUMBER")
          ->allow_extra_args(false);
      app.add_option("--gpus", a.gpus, "how many GPUs the program sees")
          ->type_name("N")
          ->check(CLI::Range(1, kMostGpus));
      app.add_option("--model", a.model, "whose limits it sees; see run")->type_name("CARD");
      app.add_option("--launches", a.launches, "end after so many launches")
          ->type_name("N")
          ->check(CLI::PositiveNumber);
      app.add_option("ARGUMENT", a.arguments, "of the file's main");
    }};
constexpr Parameter kOut = {"[--out FOLDER]", [](CLI::App& app, Arguments& a) {
                              app.add_option("--out", a.out, "where the JSON goes");
                            }};
constexpr Parameter kPageFolder = {"[--out FOLDER]", [](CLI::App& app, Arguments& a) {
                                     app.add_option("--out", a.out, "where the page goes; results");
                                   }};
constexpr Parameter kSize = {"[--size SIZE]", [](CLI::App& app, Arguments& a) {
                               app.add_option("--size", a.size, "of an exercise's problem, as in its checks");
                             }};
constexpr Parameter kReveal = {"[--reveal]", [](CLI::App& app, Arguments& a) {
                                 app.add_flag("--reveal", a.reveal, "although it is not solved yet");
                               }};

/// A command of this program.
struct Command {
  const char* name;
  std::vector<Parameter> takes;
  const char* does;
  int (*run)(const Workbook&, const Arguments&);
  /// The chapters that must have been built, for the launcher; null where none need.
  std::vector<std::string> (*chapters)(const Workbook&, const Arguments&) = nullptr;
};

DeviceKind parse_device(const std::string& text) {
  if (const std::optional<DeviceKind> kind = device_kind_named(text)) return *kind;
  throw UsageError(fmt::format("--device {}: cpu or gpu", text));
}

PlayRequest play_request(const Arguments& a) {
  return {.device = parse_device(a.device),
          .json = a.json,
          .lines = a.lines,
          .notes = a.notes,
          .view = "",
          .fresh = a.fresh,
          .more_files = a.more_files,
          .includes = a.includes,
          .definitions = a.definitions,
          .constants = a.constants,
          .launches = a.launches,
          .gpus = a.gpus,
          .model = a.model,
          .arguments = a.arguments};
}

int completion_command(const Workbook& workbook, const std::string& shell);

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"list",
       {kJson},
       "all exercises, what is solved",
       [](const Workbook& w, const Arguments& a) -> int { return list_command(w, a.json); }},
      {"predict",
       {kChapterName, kJson, kCounts},
       "predict what a chapter counts",
       [](const Workbook& w, const Arguments& a) {
         return predict_command(w, a.chapter, a.json, std::cin, a.counts);
       },
       [](const Workbook& w, const Arguments& a) { return chapters_of_predict(w, a.chapter); }},
      {"run",
       {kChapterNamesAndOptions},
       "run chapters; see run 01 --help",
       [](const Workbook& w, const Arguments& a) { return run_command(w, a.rest); },
       [](const Workbook& w, const Arguments& a) { return chapters_of_run(w, a.rest); }},
      {"check",
       {kExercise, kAll},
       "build and judge your file",
       [](const Workbook& w, const Arguments& a) -> int {
         if (a.all && !a.exercise.empty())
           throw UsageError(fmt::format("--all checks all exercises: leave out {}", a.exercise));
         return a.all ? check_all_command(w) : check_command(w, a.exercise);
       }},
      {"watch",
       {kExercise},
       "check at each save",
       [](const Workbook& w, const Arguments& a) -> int { return watch_command(w, a.exercise); }},
      {"hint",
       {kExercise, kAll},
       "the next hint, one at a time",
       [](const Workbook& w, const Arguments& a) -> int { return hint_command(w, a.exercise, a.all); }},
      {"diff",
       {kExercise, kReveal},
       "your file against the solution",
       [](const Workbook& w, const Arguments& a) -> int { return diff_command(w, a.exercise, a.reveal); }},
      {"solution",
       {kExercise, kReveal},
       "the solution",
       [](const Workbook& w, const Arguments& a) -> int {
         return solution_command(w, a.exercise, a.reveal);
       }},
      {"reset",
       {kExercise},
       "begin again; keeps your file",
       [](const Workbook& w, const Arguments& a) -> int { return reset_command(w, a.exercise); }},
      {"play",
       {kFile, kNew, kDevice, kJson, kLines, kNote, kProgram},
       "run kernels of your own, or a CUDA file",
       [](const Workbook& w, const Arguments& a) { return play_command(w, a.file, play_request(a)); }},
      {"view",
       {kExerciseOrFile, kLines, kSize, kPageFolder, kNote, kProgram},
       "a page: what each line costs",
       [](const Workbook& w, const Arguments& a) -> int {
         return view_command(w, {a.exercise, a.out, a.size, a.lines, play_request(a)});
       }},
      {"bench",
       {kChapterNames, kOut},
       "time chapters on the GPU, into results",
       [](const Workbook& w, const Arguments& a) { return bench_command(w, a.chapters, a.out); },
       [](const Workbook& w, const Arguments& a) { return chapters_of_bench(w, a.chapters, a.out); }},
      {"plots",
       {kFolder, kCompare},
       "draw the figures",
       [](const Workbook& w, const Arguments& a) { return plots_command(w, a.folder, a.compare); },
       [](const Workbook& w, const Arguments& a) { return targets_of_plots(w, a.folder); }},
      {"new",
       {kNewKind, kNewName},
       "files to fill in, for those who add",
       [](const Workbook& w, const Arguments& a) -> int { return new_command(w, a.kind, a.name); }},
      {"completion",
       {kShell},
       "for bash or zsh; says how",
       [](const Workbook& w, const Arguments& a) { return completion_command(w, a.shell); }},
      {"skeleton",
       {kFile},
       "what reset makes of a solution",
       [](const Workbook&, const Arguments& a) -> int { return skeleton_command(a.file); }},
  };
  return all;
}

/// The command of that name; null when there is none.
const Command* command_named(const std::string& name) {
  for (const Command& command : commands())
    if (name == command.name) return &command;
  return nullptr;
}

/// "[EXERCISE] [--all]"
std::string usage(const Command& command) {
  std::string text;
  for (const Parameter& parameter : command.takes)
    text += (text.empty() ? "" : " ") + std::string(parameter.usage);
  return text;
}

/// A command of the launcher, the script ./workbook, which does not start this program for it.
struct LauncherCommand {
  const char* name;
  const char* does;
};
constexpr LauncherCommand kLauncherCommands[] = {{"docs", "build the book"},
                                                 {"test", "run the tests; --thorough: the slow rest"},
                                                 {"doctor", "what this machine has and lacks"}};

void print_usage() {
  constexpr std::size_t kWidth = 37;
  const auto line = [&](const std::string& call, const char* does) {
    if (call.size() > kWidth) fmt::print("  {}\n", call);
    fmt::print("  {:{}} {}\n", call.size() > kWidth ? "" : call, kWidth, does);
  };
  fmt::print("./workbook, followed by\n");
  line("", "where you are, and the next step");
  for (const Command& command : commands())
    line(fmt::format("{} {}", command.name, usage(command)), command.does);
  for (const LauncherCommand& command : kLauncherCommands) line(command.name, command.does);
  line("--version", "which version this is");
  fmt::print(
      "\nAn EXERCISE is 01.1, 01.1_fuse, its file, or 1_fuse in its chapter's folder;\n"
      "left out, it is the next one that is not solved.\n");
}

/// The arguments that a command takes, separated by spaces.
std::string completions(const Workbook& workbook, const Command& command) {
  std::vector<std::string> words;
  for (const Parameter& parameter : command.takes) {
    const std::string shown = parameter.usage;
    if (shown.starts_with("[--")) words.push_back(shown.substr(1, shown.find_first_of(" ]") - 1));
    if (!parameter.completions) continue;
    for (const std::string& word : parameter.completions(workbook)) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

int completion_command(const Workbook& workbook, const std::string& shell) {
  if (shell != "bash" && shell != "zsh")
    throw UsageError(fmt::format("there is no completion for {}; bash or zsh", shell));
  std::string names, cases;
  for (const Command& command : commands()) {
    names += fmt::format("{} ", command.name);
    cases += fmt::format("      {}) found=\"{}\" ;;\n", command.name, completions(workbook, command));
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
  return kDone;
}

[[noreturn]] void refuse_command(const std::string& word) {
  std::vector<std::string> names;
  for (const LauncherCommand& command : kLauncherCommands) names.push_back(command.name);
  for (const Command& command : commands()) names.push_back(command.name);
  throw UsageError(fmt::format("there is no command \"{}\"; the nearest: {} (./workbook --help shows all)",
                               word, fmt::join(nearest(word, names, 3), ", ")));
}

/// The arguments after the command. With --help: nothing, and the text in `help`. \throws UsageError
std::optional<Arguments> parse_arguments(const Command& command, int argc, const char* const* argv,
                                         std::string& help) {
  CLI::App app;
  app.name("workbook");
  CLI::App* const own = app.add_subcommand(command.name, command.does);
  Arguments arguments;
  for (const Parameter& parameter : command.takes) parameter.declare(*own, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    help = own->help();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; {} takes {}", error.what(), command.name, usage(command)));
  }
  arguments.rest = own->remaining();
  return arguments;
}

int run(int argc, const char* const* argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (argc == 1) return overview_command(find_workbook());
  if (first == "help" || first == "--help" || first == "-h") {
    print_usage();
    return kDone;
  }

  if (first == "--version") {
    fmt::print("Kernel Fusion Workbook {}\n", version());
    return kDone;
  }

  // The launcher asks `workbook blames LOG` whose fault a build is that has failed.
  if (first == "blames" && argc == 3) {
    const std::string log = file_text(argv[2]), lack = lack_in(log);
    if (!lack.empty()) say("{}", complaint("workbook", lack));
    return names_place(log) ? kWrong : kMachineLacks;
  }

  // It asks `workbook chapters COMMAND ...` which chapters it must build for `workbook COMMAND
  // ...`.
  const bool asks_for_chapters = first == "chapters" && argc > 2;
  if (asks_for_chapters) --argc, ++argv;
  const Command* const command = command_named(argv[1]);
  if (!command) refuse_command(argv[1]);
  std::string help;
  const std::optional<Arguments> arguments = parse_arguments(*command, argc, argv, help);
  if (asks_for_chapters) {
    if (arguments && command->chapters)
      fmt::print("{}\n", fmt::join(command->chapters(find_workbook(), *arguments), " "));
    return kDone;
  }
  if (arguments) return command->run(find_workbook(), *arguments);
  fmt::print("{}", help);
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  const auto complain = [&](const std::exception& error, int status) {
    fflush(stdout);
    std::string message = error.what();
    for (int i = 1; i < argc; ++i) {  // names of files, which may have line breaks
      const std::string word = argv[i], shown = workbook::printable(word);
      for (auto at = message.find(word); word != shown && at != message.npos; at = message.find(word, at))
        message.replace(at, word.size(), shown), at += shown.size();
    }
    say("{}", complaint("workbook", message));
    return status;
  };
  try {
    const int status = run(argc, argv);
    workbook::flush_standard_output();
    return status;
  } catch (const workbook::Interrupted& interrupted) {
    workbook::end_by(interrupted);
  } catch (const workbook::UsageError& error) {
    return complain(error, workbook::kBadUsage);
  } catch (const std::exception& error) {
    return complain(error, workbook::kMachineLacks);
  }
}

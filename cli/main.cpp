/// \file
/// The program behind ./workbook: its commands and what they take.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "check.hpp"
#include "options.hpp"
#include "overview.hpp"
#include "play.hpp"
#include "run.hpp"
#include "study.hpp"
#include "watch.hpp"

namespace {

using namespace workbook;

/// What the reader has typed behind a command.
struct Arguments {
  std::string device, exercise, file;
  bool all = false, json = false, reveal = false;
  std::vector<std::string> rest;
};

struct Command {
  const char* name;
  const char* takes;
  const char* does;
  std::function<int(const Workbook&, const Arguments&)> run;
};

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
      {"skeleton", "FILE", "what reset makes of a solution",
       [](const Workbook&, const Arguments& a) { return skeleton_command(a.file); }},
  };
  return all;
}

bool takes(const Command& command, const char* what) {
  return std::string(command.takes).find(what) != std::string::npos;
}

void print_usage() {
  const auto line = [](const std::string& call, const char* does) { fmt::print("  {:31} {}\n", call, does); };
  fmt::print("./workbook, followed by\n");
  line("", "where you are, and the next step");
  for (const Command& command : commands())
    line(fmt::format("{} {}", command.name, command.takes), command.does);
  line("test", "build and run the tests");
  line("doctor", "what this machine has and lacks");
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

[[noreturn]] void refuse_command(const std::string& word) {
  std::vector<std::string> names = {"test", "doctor"};
  for (const Command& command : commands()) names.push_back(command.name);
  throw UsageError(fmt::format("there is no command \"{}\"; the nearest: {} (./workbook --help shows all)",
                               word, fmt::join(nearest(word, names, 3), ", ")));
}

int run(int argc, const char* const* argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (argc == 1) return overview_command(find_workbook());
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
    return command.run(find_workbook(), arguments);
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

/// \file
/// The program behind ./workbook: what the chapters are, and running them.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "chapter_list.hpp"
#include "terminal.hpp"

extern char** environ;

namespace {

enum ExitStatus { kWrong = 1, kBadUsage = 2, kMachineLacks = 3 };

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

void print_usage() {
  fmt::print(
      "  ./workbook                          this overview\n"
      "  ./workbook list                     the chapters\n"
      "  ./workbook run [CHAPTER...] [OPT]   run them all, or those named; OPT goes to\n"
      "                                      each of them: ./workbook run 01 --help\n"
      "  ./workbook test                     build and run the tests\n"
      "  ./workbook doctor                   what this machine has, and what it lacks\n");
}

void list() {
  for (const char* chapter : kChapters) fmt::print("  {}\n", chapter);
}

void greet() {
  fmt::print(
      "{}\n\nOne operation a chapter, from several naive kernels to one fused kernel at the\n"
      "speed of the hardware; every claim counted, and with a GPU measured.\n\n"
      "Chapters:\n",
      workbook::bold("Kernel Fusion Workbook"));
  list();
  fmt::print("\nNext: read docs/{0}.md, then\n\n  ./workbook run {0}\n\nCommands:\n", kChapters[0]);
  print_usage();
}

/// The chapters whose name is `name` or begins with it.
std::vector<std::string> chapters_matching(const std::string& name) {
  std::vector<std::string> found;
  for (const std::string chapter : kChapters)
    if (chapter.compare(0, name.size(), name) == 0) found.push_back(chapter);
  return found;
}

/// Runs a program and waits for it. Returns its exit status, kMachineLacks when it could not be started, and
/// kWrong when it crashed.
int run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  fflush(stdout);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, program.c_str(), nullptr, nullptr, argv.data(), environ)) {
    fmt::print(stderr, "workbook: {} does not start: {}\n", program.string(), strerror(error));
    return kMachineLacks;
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fmt::print(stderr, "workbook: {} was ended by signal {}\n", program.filename().string(), WTERMSIG(status));
  return kWrong;
}

/// The words before the first option name chapters; the options go to each of them.
int run(const std::vector<std::string>& words) {
  const auto first_option =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word[0] == '-'; });
  std::vector<std::string> chapters;
  for (auto name = words.begin(); name != first_option; ++name) {
    const auto found = chapters_matching(*name);
    if (name->empty() || found.empty()) {
      fmt::print(stderr, "workbook: there is no chapter \"{}\"; the chapters are:\n", *name);
      for (const char* chapter : kChapters) fmt::print(stderr, "  {}\n", chapter);
      return kBadUsage;
    }
    chapters.insert(chapters.end(), found.begin(), found.end());
  }
  if (chapters.empty()) chapters.assign(std::begin(kChapters), std::end(kChapters));

  const std::vector<std::string> options(first_option, words.end());
  int worst = 0;
  for (const std::string& chapter : chapters) {
    if (&chapter != &chapters.front()) fmt::print("\n");
    worst = std::max(worst, run_program(program_folder() / chapter, options));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    greet();
    return 0;
  }
  const std::string& command = words[0];
  if (command == "run") return run({words.begin() + 1, words.end()});
  if (command == "list") {
    if (words.size() > 1) {
      fmt::print(stderr, "workbook: list takes no arguments, but there is \"{}\"\n", words[1]);
      return kBadUsage;
    }
    list();
    return 0;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    print_usage();
    return 0;
  }
  fmt::print(stderr, "workbook: there is no command \"{}\"; the commands are:\n", command);
  print_usage();
  return kBadUsage;
}

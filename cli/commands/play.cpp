#include "commands/play.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <optional>
#include <regex>
#include <sstream>

#include "harness/tables/cards.hpp"
#include "harness/tables/note_words.hpp"
#include "judge/source_check.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/lock.hpp"
#include "system/process.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 16;  // of a program, as in play/CMakeLists.txt

/// Writes a starter file to a place where there is no file yet. \throws UsageError, MachineError
void write_starter(const Workbook& workbook, const std::string& file) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error)))
    throw UsageError(fmt::format("{} already exists; --new does not overwrite files", file));
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw UsageError(fmt::format("{} cannot be written: there is no folder {}", file, folder.string()));
  replace_file(file, file_text(workbook.root / "docs" / "starter.cu"));
  say("{}",
      wrapped(fmt::format("{} is a starter: change anything in it, and play it again.", printable(file)), 0));
}

/// Offers a starter file where there is no file. \throws UsageError where it is not wanted, or where nobody
/// can be asked
void offer_starter(const Workbook& workbook, const std::string& file) {
  const UsageError refused(
      fmt::format("{0} does not exist. This writes a starter file there: ./workbook play --new {0}", file));
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) throw refused;
  say("{} does not exist. Write a starter file there? [y/N] ", printable(file));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") throw refused;
  write_starter(workbook, file);
}

/// Whether the file has a main of its own, and is not one for play().
bool has_main(const std::string& file) {
  static const std::regex main(R"(\bmain\s*\()"), play(R"(#\s*include\s*["<]play\.hpp)");
  const std::string code = code_of(file_text(file));
  return std::regex_search(code, main) && !std::regex_search(code, play);
}

/// The options of the preprocessor for a source, as a compiler reads them from a file. A copy of the source
/// is compiled elsewhere, and still includes what is beside the source.
std::string preprocessor_options(const PlayRequest& request, const std::string& source, bool is_copy) {
  std::ostringstream text;
  text << "-include play/program/program.hpp\n";
  if (is_copy) text << "-iquote" << std::quoted(fs::canonical(source).parent_path().string()) << "\n";
  for (const std::string& each : request.includes)
    text << std::quoted("-I" + fs::absolute(each).string()) << "\n";
  for (const std::string& each : request.definitions) text << std::quoted("-D" + each) << "\n";
  if (!request.model.empty())
    text << "-U__CUDA_ARCH__\n-D__CUDA_ARCH__=" << 10 * card_for(request.model).chip.capability << "\n";
  return text.str();
}

/// The text of a file that the build compiles, which includes the reader's. \throws UsageError for a name
/// that no #include can have
std::string wrapper(const std::string& source) {
  const std::string name = fs::canonical(source).string();
  if (name.find_first_of("\"\n") != std::string::npos)
    throw UsageError(fmt::format(
        "{}: no #include can name a path with a quotation mark or a line break: rename it", printable(name)));
  return fmt::format("#include \"{}\"\n", name);
}

/// A number that --set gives another value, and whether it was that of a macro.
struct Setting {
  std::string name, value;
  bool is_macro = false;
};

/// \throws UsageError for anything but NAME=NUMBER
Setting setting_of(const std::string& text) {
  static const std::regex form(R"(([A-Za-z_]\w*)=([-+]?(\d+|0[xX][\da-fA-F]+)[uUlL]*|)"
                               R"([-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[fF]?))");
  std::smatch parts;
  if (!std::regex_match(text, parts, form))
    throw UsageError(fmt::format("--set {}: expected NAME=NUMBER, such as B=2", printable(text)));
  errno = 0;
  if (parts[3].matched && (std::strtoull(parts.str(3).c_str(), nullptr, 0), errno == ERANGE))
    throw UsageError(fmt::format("--set {}: no integer type of C++ has that number", text));
  return {parts[1], parts[2]};
}

/// The text of a source, in which macros that it defines as numbers have the values of --set.
std::string with_macros(std::string text, std::vector<Setting>& settings) {
  for (Setting& setting : settings) {
    const std::regex definition("(^|\\n)([ \\t]*#[ \\t]*define[ \\t]+" + setting.name +
                                "[ \\t]+\\(?)[-+]?\\.?[0-9](?:[eEpP][-+]|[\\w.'])*");
    if (!std::regex_search(text, definition)) continue;
    text = std::regex_replace(text, definition, "$01$02" + setting.value);
    setting.is_macro = true;
  }
  return text;
}

/// Writes what the build of a program depends on (play/CMakeLists.txt).
void write_program(const Workbook& workbook, const std::string& file, const PlayRequest& request) {
  std::vector<Setting> settings;
  for (const std::string& each : request.constants) settings.push_back(setting_of(each));
  std::vector<std::string> sources = request.more_files;
  sources.insert(sources.begin(), file);
  for (std::size_t i = 0; i < kMostFiles; ++i) {
    const std::string path = (workbook.build / fmt::format("program.{}", i)).string();
    if (i >= sources.size()) {
      update_file(path + ".options", "");
      update_file(path + ".cu", "");
      continue;
    }
    // Where macros get other values, the source's text is in place of an #include of it.
    const std::string text = file_text(sources[i]), changed = with_macros(text, settings);
    const bool is_copy = changed != text;
    update_file(path + ".options", preprocessor_options(request, sources[i], is_copy));
    update_file(path + ".cu",
                is_copy ? fmt::format("#line 1 \"{}\"\n{}", fs::canonical(sources[i]).string(), changed)
                        : wrapper(sources[i]));
  }
  std::string constants;
  for (const Setting& each : settings)
    if (!each.is_macro) constants += each.name + "=" + each.value + "\n";
  update_file(workbook.build / "program.set", constants);
}

/// Builds the program of `play` with the reader's file. Returns whether that was possible; if not, says why.
/// The caller holds the build's lock.
bool build_play(const Workbook& workbook, const std::string& file, const PlayRequest& request,
                bool is_program) {
  if (const std::string fault = encoding_fault(file, file); !fault.empty()) {
    say("{}", wrapped(fault, 0));
    return false;
  }
  const std::string target = is_program ? "play_program" : "play";
  if (is_program)
    write_program(workbook, file, request);
  else
    update_file(workbook.build / "play.cu", wrapper(file));
  const Build build = build_locked_target(workbook, target);
  if (build.done) return true;
  require_compiler_ran(build);
  const bool lacks_play = build.errors.find("undefined reference to `cpu::play()'") != std::string::npos ||
                          (!is_program && file_text(file).find("play") == std::string::npos);
  if (lacks_play)
    say("{}\n",
        wrapped(fmt::format(
                    "{} needs a function void play() in namespace DEVICE, or a main; docs/play.md says more.",
                    printable(file)),
                0));
  say("{}", build.errors);
  return false;
}

}  // namespace

int play_command(const Workbook& workbook, const std::string& file, const PlayRequest& request) {
  require_note_words(request.notes, request.device);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::status_known(status)) throw UsageError(fmt::format("{}: {}", file, error.message()));
  if (request.fresh)
    write_starter(workbook, file);
  else if (!fs::exists(status))
    offer_starter(workbook, file);
  else if (!fs::is_regular_file(status))
    throw UsageError(fmt::format("{} is not a regular file", file));

  if (request.more_files.size() >= kMostFiles)
    throw UsageError(fmt::format("--with: {} files, but at most {} are possible", request.more_files.size(),
                                 kMostFiles - 1));
  for (const std::string& each : request.more_files)
    if (!fs::is_regular_file(each, error)) throw UsageError(fmt::format("--with {}: it is not a file", each));
  require_readable(file);
  for (const std::string& each : request.more_files) require_readable(each);
  const bool is_program =
      has_main(file) || std::any_of(request.more_files.begin(), request.more_files.end(), has_main);
  if (!is_program && request.is_for_main()) throw UsageError(fmt::format("{}; {} has none", kForMain, file));
  if (!request.model.empty()) card_for(request.model);
  for (const std::string& each : request.constants) setting_of(each);
  std::vector<std::string> call = {(workbook.build / "bin" / (is_program ? "play_program" : "play")).string(),
                                   file, "--device", text_of(request.device)};
  if (request.launches) call.insert(call.end(), {"--launches", std::to_string(request.launches)});
  if (request.gpus) call.insert(call.end(), {"--gpus", std::to_string(request.gpus)});
  if (!request.model.empty()) call.insert(call.end(), {"--model", request.model});
  if (request.json) call.push_back("--json");
  if (request.lines) call.push_back("--lines");
  if (!request.view.empty()) call.insert(call.end(), {"--view", request.view});
  for (const std::string& kind : request.notes) call.insert(call.end(), {"--note", kind});
  if (!request.arguments.empty()) {
    call.push_back("--");
    call.insert(call.end(), request.arguments.begin(), request.arguments.end());
  }
  // Until it has started: another `play` would build another file to the same place.
  std::optional<Lock> lock(build_lock(workbook));
  if (!build_play(workbook, file, request, is_program)) return kWrong;
  return run_readers_program(call, file, [&] { lock.reset(); });
}

}  // namespace workbook

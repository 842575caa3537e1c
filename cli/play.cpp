#include "play.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <optional>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/note_words.hpp"
#include "harness/terminal.hpp"
#include "lock.hpp"
#include "process.hpp"

namespace workbook {

namespace fs = std::filesystem;

namespace {

/// Writes a starter file to a place where there is no file yet. \throws UsageError, MachineError
void write_starter(const Workbook& workbook, const std::string& file) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error)))
    throw UsageError(fmt::format("{} already exists; --new does not overwrite files", file));
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw UsageError(fmt::format("{} cannot be written: there is no folder {}", file, folder.string()));
  replace_file(file, file_text(workbook.root / "docs" / "starter.cu"));
  fmt::print(stderr, "{}",
             wrapped(fmt::format("{} is a starter: change anything in it, and play it again.", file), 0));
}

/// Offers a starter file where there is no file. \throws UsageError where it is not wanted, or where nobody
/// can be asked
void offer_starter(const Workbook& workbook, const std::string& file) {
  const UsageError refused(
      fmt::format("{0} does not exist. This writes a starter file there: ./workbook play --new {0}", file));
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) throw refused;
  fmt::print(stderr, "{} does not exist. Write a starter file there? [y/N] ", file);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") throw refused;
  write_starter(workbook, file);
}

/// Builds the program of `play` with the reader's file. Returns whether that was possible; if not, says why.
/// The caller holds the build's lock.
bool build_play(const Workbook& workbook, const std::string& file) {
  if (const std::string fault = encoding_fault(file, file); !fault.empty()) {
    fmt::print(stderr, "{}", wrapped(fault, 0));
    return false;
  }
  // The build compiles this file, which includes the reader's.
  const fs::path wrapper = workbook.build / "play.cu";
  const std::string content =
      fmt::format("#include \"{}\"\n// {}\n", fs::canonical(file).string(), content_stamp(file));
  if (file_text(wrapper) != content) replace_file(wrapper, content);
  const Build build = build_locked_target(workbook, "play");
  if (build.done) return true;
  fmt::print(stderr, "{}", build.errors);
  if (build.errors.find("undefined reference to `cpu::play()'") != std::string::npos)
    fmt::print(
        stderr, "\n{}",
        wrapped(
            fmt::format("{} needs a function void play() in namespace DEVICE; docs/play.md says more.", file),
            0));
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

  std::vector<std::string> call = {(workbook.build / "bin" / "play").string(), file, "--device",
                                   text_of(request.device)};
  if (request.json) call.push_back("--json");
  if (request.lines) call.push_back("--lines");
  if (!request.view.empty()) call.insert(call.end(), {"--view", request.view});
  for (const std::string& kind : request.notes) call.insert(call.end(), {"--note", kind});
  // Until it has started: another `play` would build another file to the same place.
  std::optional<Lock> lock(build_lock(workbook));
  if (!build_play(workbook, file)) return kWrong;
  return run_readers_program(call, file, [&] { lock.reset(); });
}

}  // namespace workbook

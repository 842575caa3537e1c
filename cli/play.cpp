#include "play.hpp"

#include <fmt/format.h>

#include <optional>

#include "harness/errors.hpp"
#include "harness/files.hpp"
#include "harness/note_words.hpp"
#include "lock.hpp"
#include "process.hpp"

namespace workbook {

namespace fs = std::filesystem;

namespace {

/// Builds the program of `play` with the reader's file. Returns whether that was possible; if not, says why.
/// The caller holds the build's lock.
bool build_play(const Workbook& workbook, const std::string& file) {
  // The build compiles this file, which includes the reader's.
  const fs::path wrapper = workbook.build / "play.cu";
  const std::string content =
      fmt::format("#include \"{}\"\n// {}\n", fs::canonical(file).string(), content_stamp(file));
  if (file_text(wrapper) != content) replace_file(wrapper, content);
  const Build build = build_locked_target(workbook, "play");
  if (build.done) return true;
  fmt::print(stderr, "{}", build.errors);
  if (build.errors.find("undefined reference to `cpu::play()'") != std::string::npos)
    fmt::print(stderr, "\n{} needs a function void play() in namespace DEVICE; common/play.hpp says more.\n",
               file);
  return false;
}

}  // namespace

int play_command(const Workbook& workbook, const std::string& file, const PlayRequest& request) {
  require_note_words(request.notes, request.device);
  if (!fs::is_regular_file(file)) throw UsageError(fmt::format("{} is no file", file));

  std::vector<std::string> call = {(workbook.build / "bin" / "play").string(), file, "--device",
                                   text_of(request.device)};
  if (request.json) call.push_back("--json");
  if (request.lines) call.push_back("--lines");
  if (!request.view.empty()) call.insert(call.end(), {"--view", request.view});
  for (const std::string& kind : request.notes) call.insert(call.end(), {"--note", kind});
  // Until it has started: another `play` would build another file to the same place.
  std::optional<Lock> lock(build_lock(workbook));
  if (!build_play(workbook, file)) return kWrong;
  const pid_t program = start_program(call);
  lock.reset();
  return status_of_program(program, call[0]);
}

}  // namespace workbook

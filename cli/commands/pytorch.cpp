#include "commands/pytorch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/memory_limit.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

/// Importing torch takes seconds, so only its version is looked up.
constexpr const char* kHasPyTorch =
    "import importlib.metadata, sys\n"
    "version = importlib.metadata.version('torch').split('.')[:2]\n"
    "sys.exit([int(part) for part in version] < [2, 10])";

bool has_pytorch(const std::string& python) {
  const Outcome outcome = run_limited({python, "-c", kHasPyTorch}, {.time = std::chrono::seconds(60)});
  return outcome.end == Outcome::End::kExited && outcome.code == 0;
}

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// The environment that the launcher installs; all checkouts share it. The launcher has the same path.
fs::path kept_environment() {
  const std::string cache = from_environment("XDG_CACHE_HOME");
  const fs::path folder = cache.empty() ? fs::path(from_environment("HOME")) / ".cache" : fs::path(cache);
  return folder / "workbook" / "torch-2.11.0";
}

/// The launcher leaves the file FOLDER.incomplete until the installation has come to its end.
bool is_complete(const fs::path& environment) { return !file_exists(environment.string() + ".incomplete"); }

}  // namespace

std::string python_with_pytorch() {
  if (const std::string named = from_environment("WORKBOOK_TORCH"); !named.empty()) {
    const std::string python =
        fs::is_directory(named) ? (fs::path(named) / "bin" / "python").string() : named;
    if (has_pytorch(python)) return python;
    throw MachineError(fmt::format(
        "WORKBOOK_TORCH is {}, which has no PyTorch 2.10 or newer; it must be a Python that has it, or the "
        "folder of such an environment",
        named));
  }
  if (has_pytorch("python3")) return "python3";
  const fs::path kept = kept_environment();
  const std::string python = (kept / "bin" / "python").string();
  if (is_complete(kept) && has_pytorch(python)) return python;
  throw MachineError(
      "this exercise is judged in Python with PyTorch 2.10 or newer, which python3 does not have. "
      "./workbook run 09 installs PyTorch into an environment of its own (a download of 2.7 GB); "
      "WORKBOOK_TORCH=FOLDER ./workbook check takes an environment that has it");
}

std::vector<std::string> python_judge(const std::string& python, const ExerciseFiles& exercise,
                                      const std::string& result) {
  const std::string judge = (exercise.solution.parent_path() / "judge.py").string();
  return {python, "-B", judge, exercise.name, exercise.file.string(), result};  // -B: leaves no __pycache__
}

Limits python_judging_limits() {
  // The judge gives each answer the tenth part.
  return {.time = 10 * time_limit(std::chrono::seconds(30)),
          .memory_bytes = std::min(std::size_t{8} << 30, most_memory()),
          .output_bytes = std::size_t{1} << 20,
          .file_bytes = std::size_t{64} << 20};
}

}  // namespace workbook

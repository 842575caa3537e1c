#include "harness/backends/ranks.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "harness/backends/backend.hpp"
#include "system/errors.hpp"
#include "system/read_file.hpp"

namespace workbook {
namespace {

/// The variables of a launcher.
struct Launcher {
  const char *me, *count, *on_host;
};
// One launcher may run within another, and then is the first of the two here: torchrun within a job of Slurm.
// Where one of its variables is missing, another one's are meant: srun may set PMI_RANK as well.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

std::optional<int> whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Rank rank_from(const std::function<const char*(const char*)>& variable) {
  const auto text = [&](const char* name) -> std::string {
    const char* value = variable(name);
    return value ? value : "";
  };
  const auto number = [&](const char* name) {
    const auto value = whole_number(text(name));
    if (!value) throw UsageError(fmt::format("{} is '{}': expected a whole number", name, text(name)));
    return *value;
  };
  const auto port_after = [&](const char* name) { return number(name) + 1; };

  for (const Launcher& launcher : kLaunchers) {
    if (text(launcher.me).empty() || text(launcher.count).empty() || text(launcher.on_host).empty()) continue;
    Rank rank = {number(launcher.me), number(launcher.count), number(launcher.on_host), text("NCCL_COMM_ID")};
    if (rank.me >= rank.count)
      throw UsageError(fmt::format("{} is {}: expected less than {}, which is {}", launcher.me, rank.me,
                                   launcher.count, rank.count));
    if (rank.count > kMostGpus)
      throw UsageError(fmt::format("{} is {}: the most is {}", launcher.count, rank.count, kMostGpus));
    if (rank.address.empty() && !text("MASTER_ADDR").empty())
      rank.address = fmt::format("{}:{}", text("MASTER_ADDR"), port_after("MASTER_PORT"));
    return rank;
  }
  throw UsageError(
      "no launcher says which process this is: start it with torchrun --no-python, mpirun or srun, or set "
      "RANK, WORLD_SIZE and LOCAL_RANK yourself");
}

void leave_in_file(const std::string& path, const std::string& bytes) {
  if (std::filesystem::exists(path))
    throw UsageError(fmt::format(
        "--id-file {}: it exists. Another run uses it, or left it: delete it, or name another one", path));
  const std::string unfinished = path + ".part";
  std::ofstream(unfinished, std::ios::binary) << bytes;
  std::error_code failed;
  std::filesystem::rename(unfinished, path, failed);  // whole, for those who look
  if (failed) throw MachineError(fmt::format("--id-file {}: {}", path, failed.message()));
}

std::string take_from_file(const std::string& path, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (const FileContent file = read_file(path); file.problem.empty()) return file.text;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw MachineError(fmt::format("--id-file {}: process 0 has not written it within {} s", path,
                                 std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
}

}  // namespace workbook

#include "harness/backends/run_processes.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/backends/process_backend.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"
#include "system/errors.hpp"
#include "system/exit_status.hpp"
#include "system/say.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

constexpr const char* kName = "several_processes";

struct Choices {
  std::string size = "128x8192", id_file;
  std::vector<std::string> stages;
};

std::vector<const Stage*> chosen(const Chapter& chapter, const std::vector<std::string>& names) {
  std::vector<const Stage*> stages;
  for (int i = 0; i < chapter.stage_count; ++i)
    if (names.empty()) stages.push_back(&chapter.stages[i]);
  for (const std::string& name : names)
    for (const std::string& stage : stages_named(name, chapter))
      for (int i = 0; i < chapter.stage_count; ++i)
        if (stage == chapter.stages[i].name) stages.push_back(&chapter.stages[i]);
  return stages;
}

/// Checks and times the stages; process 0 tells the results.
int run(const Choices& choices, const Chapter& chapter) {
  const std::vector<const Stage*> stages = chosen(chapter, choices.stages);
  const Rank rank = rank_from(std::getenv);
  const Shape of_rows = parse_shape(choices.size, "RxC");
  const Shape shape = {{rank.count, of_rows.dims[0], of_rows.dims[1], 1, 1}};
  const auto device = join_processes(rank, choices.id_file);
  const auto print = [&](const std::string& line) {
    if (rank.me != 0) return;
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  print(fmt::format("{} processes, a GPU each: {}; {} rows of {} elements\n", rank.count, device->info().name,
                    shape.dims[1], shape.dims[2]));
  require_memory(chapter, shape, *device, *make_cpu_backend());
  Problem problem(chapter, shape, *device);
  bool all_right = true;
  for (const Stage* stage : stages) {
    const StageResult result = problem.check(*stage);
    if (result.status != Status::kOk) {
      all_right &= result.status == Status::kSkipped;
      print(fmt::format("{:12} {:>10}  {}", stage->name, text_of(result.status), result.message));
      continue;
    }
    device->measure_next_run();
    problem.run_once(*stage);
    print(fmt::format("{:12} {:7.1f} us", stage->name, device->microseconds()));
  }
  return all_right ? kDone : kWrong;
}

}  // namespace

int run_processes(int argc, const char* const* argv, const Chapter& chapter) {
  Choices choices;
  CLI::App app(
      "Chapter 10 with a process for each GPU. Verifies its stages, then times them in a CUDA graph.");
  app.name(kName);
  app.add_option("--size", choices.size, "rows and columns (default: 128x8192)")->type_name("RxC");
  app.add_option("--stage", choices.stages, "run these alone: names or numbers, A,B,...")
      ->type_name("STAGE")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--id-file", choices.id_file, "meet through this file, in a folder that all see")
      ->type_name("FILE");
  app.footer(
      "torchrun, mpirun or srun starts it, and says which process is which. torchrun\n"
      "also says where they meet; otherwise --id-file does, or NCCL_COMM_ID, which is\n"
      "the host and a free port of process 0.");
  const auto complain = [](const std::exception& error, int status) {
    say("{}", complaint(kName, error.what()));
    return status;
  };
  try {
    app.parse(argc, argv);
    return run(choices, chapter);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kDone;
  } catch (const CLI::ParseError& error) {
    return complain(error, kBadUsage);
  } catch (const UsageError& error) {
    return complain(error, kBadUsage);
  } catch (const MachineError& error) {
    return complain(error, kMachineLacks);
  } catch (const std::exception& error) {
    return complain(error, kWrong);
  }
}

}  // namespace workbook

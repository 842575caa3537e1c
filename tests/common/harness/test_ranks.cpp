// How the processes of a problem learn which each of them is, and meet: launchers are pretended.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "catch.hpp"
#include "harness/backends/ranks.hpp"
#include "system/errors.hpp"

namespace test_ranks {
namespace {

using workbook::Rank;

/// The rank in an environment that has these variables alone.
Rank rank_in(const std::map<std::string, std::string>& variables) {
  return workbook::rank_from([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string complaint_in(const std::map<std::string, std::string>& variables) {
  try {
    rank_in(variables);
  } catch (const workbook::UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("ranks: each launcher's variables say which process this is, and torchrun's where they meet") {
  const std::map<std::string, std::string> slurm = {
      {"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "1"}};
  std::map<std::string, std::string> by_pmi = slurm, both = slurm;
  by_pmi.merge(std::map<std::string, std::string>{{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}});
  CHECK(rank_in(by_pmi).on_host == 1);
  both.merge(std::map<std::string, std::string>{{"RANK", "3"},
                                                {"WORLD_SIZE", "4"},
                                                {"LOCAL_RANK", "0"},
                                                {"MASTER_ADDR", "node7"},
                                                {"MASTER_PORT", "29500"}});
  const Rank of_slurm = rank_in(slurm), of_torchrun = rank_in(both);
  CHECK((of_slurm.me == 5 && of_slurm.count == 8 && of_slurm.on_host == 1 && of_slurm.address.empty()));
  CHECK((of_torchrun.me == 3 && of_torchrun.count == 4 && of_torchrun.on_host == 0));
  CHECK(of_torchrun.address == "node7:29501");
  both["NCCL_COMM_ID"] = "node1:4000";
  CHECK(rank_in(both).address == "node1:4000");
  CHECK(
      rank_in(
          {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}})
          .me == 1);
  CHECK(rank_in({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "2"}}).on_host == 2);
}

TEST_CASE("ranks: what they say is checked") {
  CHECK_THAT(complaint_in({}),
             ContainsSubstring("no launcher says which process this is: start it with torchrun"));
  CHECK_THAT(complaint_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}}),
             ContainsSubstring("set RANK, WORLD_SIZE and"));
  CHECK(complaint_in({{"RANK", "1"}, {"WORLD_SIZE", "two"}, {"LOCAL_RANK", "1"}}) ==
        "WORLD_SIZE is 'two': expected a whole number");
  CHECK(complaint_in({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}}) ==
        "RANK is 2: expected less than WORLD_SIZE, which is 2");
  CHECK(complaint_in({{"RANK", "0"}, {"WORLD_SIZE", "9"}, {"LOCAL_RANK", "0"}}) ==
        "WORLD_SIZE is 9: the most is 8");
}

TEST_CASE("ranks: processes meet through a file, which is whole when it is there") {
  const auto folder = std::filesystem::temp_directory_path() / ("workbook-ranks-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = folder / "id", bytes("\0id\n", 4);
  std::string got;
  std::thread other([&] { got = workbook::take_from_file(file, std::chrono::seconds(60)); });
  workbook::leave_in_file(file, bytes);
  other.join();
  CHECK(got == bytes);
  CHECK_THROWS_WITH(workbook::leave_in_file(file, bytes), ContainsSubstring("it exists"));
  CHECK_THROWS_WITH(workbook::take_from_file(folder / "none", std::chrono::milliseconds(0)),
                    ContainsSubstring("process 0 has not written it within 0 s"));
  CHECK_THROWS_AS(workbook::leave_in_file(folder / "no_folder" / "id", bytes), workbook::MachineError);
  std::filesystem::remove_all(folder);
}

}  // namespace test_ranks

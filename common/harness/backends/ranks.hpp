/// \file
/// Several processes that share a problem: which of them this one is, and how they find each other.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace workbook {

/// Where this process stands among those that a launcher has started.
struct Rank {
  int me;               ///< its number, from 0
  int count;            ///< how many there are
  int on_host;          ///< its number among those of its host
  std::string address;  ///< "host:port" at which process 0 is met; empty where nothing says one
};

/// The rank that torchrun, Open MPI's mpirun, that of MPICH and Intel MPI, or Slurm's srun tell in
/// environment variables; `variable` is std::getenv. The address is NCCL_COMM_ID's, or the one after
/// torchrun's own. \throws UsageError where they tell none, or no whole numbers
Rank rank_from(const std::function<const char*(const char*)>& variable);

/// Process 0 leaves `bytes` for the others in a new file, in a folder that all of them see. \throws
/// UsageError where there is such a file, MachineError where none can be written
void leave_in_file(const std::string& path, const std::string& bytes);

/// The other processes wait for that file. \throws MachineError after `patience`
std::string take_from_file(const std::string& path, std::chrono::milliseconds patience);

}  // namespace workbook

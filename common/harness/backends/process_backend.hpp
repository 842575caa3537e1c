/// \file
/// A device that is spread over several processes, each of which has one GPU of it.
#pragma once

#include <memory>
#include <string>

#include "harness/backends/backend.hpp"
#include "harness/backends/ranks.hpp"

namespace workbook {

/// Every process holds the whole problem on its host and calls the same functions in the same order. Each
/// fills and checks what its own GPU has, and downloads what any of them has. Where the GPUs reach each
/// other's memory, its kernels do (cudaIpcOpenMemHandle). Memory stays until the process ends, since others
/// may still use it.
class ProcessBackend : public Backend {
 public:
  /// The next run() also measures.
  virtual void measure_next_run() = 0;
  /// Microseconds that it took in the slowest process: as one of many, one after another in a
  /// CUDA graph, with inputs in L2 as the one before leaves them.
  virtual double microseconds() const = 0;
};

/// Meets the other processes through `id_file`, or without one at the rank's address.
/// \throws UsageError, MachineError, gpu::Error
std::unique_ptr<ProcessBackend> join_processes(const Rank& rank, const std::string& id_file);

}  // namespace workbook

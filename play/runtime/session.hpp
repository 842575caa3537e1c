/// \file
/// The run of the user's program, for the files that the runtime consists of.
#pragma once

#include <csetjmp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/backends/backend.hpp"
#include "harness/tables/cards.hpp"
#include "play/play_report.hpp"
#include "play/program/runtime.hpp"
#include "play/runtime/repeats.hpp"

namespace workbook {

struct Session {
  PlayOptions options;
  std::vector<LaunchCounts> launches;
  std::unique_ptr<Backend> backend;
  std::map<void*, std::string> arrays;                      ///< that are not freed, and their names
  std::map<std::string, int> library_calls;                 ///< that the host has computed
  std::map<const void*, std::size_t> dynamic_shared_bytes;  ///< that cudaFuncSetAttribute() allows a kernel
  Repeats repeats;
  std::size_t lost_accesses = 0;  ///< of GPUs, when the repeats were cleared
  int launch_count = 0, not_run = 0;
  std::thread::id thread = std::this_thread::get_id();  ///< that runs main
  std::jmp_buf end_of_main;                             ///< where exit() goes
  std::optional<int> exit_status;                       ///< where it was called
  bool in_main = false;
  int json_output = -1;  ///< with --json, standard output as it was: the program's goes to standard error
};

extern Session* session;  ///< null outside of a run
extern thread_local cudaError_t last_error;

/// Whose properties the program sees.
Card& card();

/// Ends the program with the report: the user's code must not catch what was found.
[[noreturn]] void end_with(const std::string& finding, std::string_view note_word = "");

}  // namespace workbook

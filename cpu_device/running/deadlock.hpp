/// \file
/// The findings for a block in which no thread can go on.
#pragma once

#include <string>
#include <vector>

#include "cpu_device/running/block_threads.hpp"
#include "cpu_device/running/spin_probe.hpp"

namespace cpu {

/// "thread (0,0,0) of block (3,0,0) of GPU 1 polls flags[0] at line 14": the thread that the others wait for.
std::string waiting_thread(const BlockThreads& threads, const std::vector<Spin>& spins);

/// Every thread has ended, spins, or waits for one that does. `spins` has an entry for each thread.
/// \throws Finding
[[noreturn]] void throw_deadlock(const BlockThreads& threads, const std::vector<Spin>& spins);

}  // namespace cpu

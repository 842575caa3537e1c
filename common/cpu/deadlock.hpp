/// \file
/// The findings for a block in which no thread can go on.
#pragma once

#include <vector>

#include "cpu/block_threads.hpp"
#include "cpu/spin_probe.hpp"

namespace cpu {

/// Every thread has ended, spins, or waits for one that does. `spins` has an entry for each thread.
/// \throws Finding
[[noreturn]] void throw_deadlock(const BlockThreads& threads, const std::vector<Spin>& spins);

}  // namespace cpu

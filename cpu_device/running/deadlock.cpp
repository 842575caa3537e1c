#include "cpu_device/running/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/program_image/segments.hpp"
#include "cpu_device/running/block_barrier.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/gpus.hpp"
#include "cpu_device/running/scheduler.hpp"

namespace cpu {
namespace {

std::string polled_name(const Spin& spin) {
  return memory_name(reinterpret_cast<const void*>(spin.polled.address), spin.polled.size);
}

/// Whether the loop waits for another thread. One that stores has only forgotten to move on.
bool polls(const Spin& spin) { return spin.polled.size != 0 && !spin.stores; }

bool polls_device_memory(const Spin& spin) {
  return polls(spin) && device().launch.is_global(spin.polled.address);
}

bool polls_host_memory(const Spin& spin) {
  if (!polls_device_memory(spin)) return false;
  const Buffer* const array = memory().owner(spin.polled.address);
  if (!array || !array->shared_with_host) return false;
  const std::vector<Region> variables = program().of_each_gpu;  // shared only for copies, unlike managed ones
  return std::none_of(variables.begin(), variables.end(),
                      [&](const Region& part) { return part.contains(spin.polled.address); });
}

bool is_last_block() { return device().block.number + 1 == device().launch.blocks(); }

/// The thread to report. One that polls device memory may wait for another block, and others for it.
unsigned thread_to_report(const BlockThreads& threads, const std::vector<Spin>& spins) {
  const auto rank = [&](unsigned t) {
    if (!polls(spins[t])) return 0;
    return polls_device_memory(spins[t]) && !is_last_block() ? 1 : 2;
  };
  unsigned best = threads.count();
  for (unsigned t = 0; t < threads.count(); ++t)
    if (threads.state[t] == ThreadState::kSpins && (best == threads.count() || rank(t) < rank(best)))
      best = t;
  return best;
}

/// A thread's current activity, as "waits at __syncthreads() at line 14".
std::string activity(const BlockThreads& threads, const std::vector<Spin>& spins, unsigned t) {
  switch (threads.state[t]) {
    case ThreadState::kSpins:
      return polls(spins[t]) ? fmt::format("polls {} at {}", polled_name(spins[t]),
                                           place_text(spins[t].polled.instruction))
                             : "is in a loop at " + place_text(spins[t].at.instruction);
    case ThreadState::kAtBarrier:
      return fmt::format("waits at {} at {}", name_of(threads.barrier[t]), place_text(threads.waits_at[t]));
    case ThreadState::kInWarpOperation:
      return "waits for lanes of its warp at " + place_text(threads.waits_at[t]);
    default:
      return "has ended";
  }
}

/// Equal for threads that do the same.
auto activity_key(const BlockThreads& threads, const std::vector<Spin>& spins, unsigned t) {
  const Spin& spin = spins[t];
  switch (threads.state[t]) {
    case ThreadState::kSpins:
      return std::tuple(threads.state[t], polls(spin) ? spin.polled.instruction : spin.at.instruction,
                        polls(spin) ? spin.polled.address : 0);
    case ThreadState::kDone:
      return std::tuple(threads.state[t], std::uintptr_t{0}, std::uintptr_t{0});
    default:
      return std::tuple(threads.state[t], threads.waits_at[t], std::uintptr_t{0});
  }
}

/// A line for each thing that the other threads are doing.
std::string others(const BlockThreads& threads, const std::vector<Spin>& spins, unsigned but) {
  constexpr std::size_t kMostLines = 4;
  struct Group {
    unsigned first, count;
  };
  std::vector<Group> groups;
  for (unsigned t = 0; t < threads.count(); ++t) {
    if (t == but) continue;
    const auto does_the_same = [&](const Group& group) {
      return activity_key(threads, spins, group.first) == activity_key(threads, spins, t);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), does_the_same);
    if (group != groups.end()) {
      ++group->count;
    } else if (groups.size() < kMostLines) {
      groups.push_back({t, 1});
    }
  }
  std::string lines;
  for (const Group& group : groups) {
    lines += fmt::format("\n  {} {}", thread_name(group.first), activity(threads, spins, group.first));
    if (group.count > 1) lines += fmt::format(", and so for {} more", group.count - 1);
  }
  return lines;
}

/// A line for each other GPU.
std::string other_gpus() {
  Device* const mine = &device();
  std::string lines;
  for (unsigned gpu = 0; gpu < mine->gpus->count(); ++gpu) {
    if (gpu == mine->gpu) continue;
    the_running = &mine->gpus->device_of(gpu);  // for the names of its threads
    lines += mine->gpus->has_ended(gpu) ? fmt::format("\n  GPU {} has ended", gpu)
                                        : "\n  " + scheduler().waiting_thread();
    the_running = mine;
  }
  return lines;
}

}  // namespace

std::string waiting_thread(const BlockThreads& threads, const std::vector<Spin>& spins) {
  const unsigned t = thread_to_report(threads, spins);
  return thread_name(t) + " " + activity(threads, spins, t);
}

void throw_deadlock(const BlockThreads& threads, const std::vector<Spin>& spins) {
  const unsigned t = thread_to_report(threads, spins);
  const Spin& spin = spins[t];
  const std::string who = waiting_thread(threads, spins);
  if (!polls(spin))
    throw_finding({"infinite loop",
                   fmt::format("  {}, each iteration of which {}", who,
                               spin.stores ? "reads and writes the same as the one before"
                                           : "changes nothing and reads no memory"),
                   "what was meant to end the loop? Does each iteration move on, as by ++i?"});
  if (polls_device_memory(spin) && device().gpus)
    throw_finding(
        {"GPU that waits for ever",
         fmt::format("  {}, and no GPU can change that{}{}", who, others(threads, spins, t), other_gpus()),
         "which GPU was meant to store the value, and does it, in the memory that is polled here, before it "
         "waits itself? A block may wait for blocks of other GPUs. Those of one GPU run one after another on "
         "the CPU device, so it cannot wait for a later block of its own."});
  if (polls_device_memory(spin) && !is_last_block())
    throw_finding(
        {"block that waits for a later block",
         fmt::format("  {}, and no thread of its block can change that\n"
                     "  Blocks run one after another on the CPU device, so a value that a later block "
                     "stores never arrives.{}",
                     who, others(threads, spins, t)),
         device().launch.cooperative
             ? "is a later block meant to store it? On the CPU device blocks of a cooperative launch wait "
               "for each other with grid.sync() alone."
             : "is a later block meant to store it? On a GPU that works only if all blocks are resident at "
               "the same time: launch fewer blocks, or make it a cooperative launch. If a thread of this "
               "block is meant to store it, what keeps it from doing so?"});
  throw_finding(
      {"deadlock",
       fmt::format("  {}, and no thread of the block will ever change that{}", who,
                   others(threads, spins, t)),
       "which thread was meant to change it, and what keeps it from doing so? If none was: does each "
       "iteration of the loop move on, as by ++i?" +
           std::string(polls_host_memory(spin)
                           ? " If host code was: it goes on only when the kernel has ended."
                           : "")});
}

}  // namespace cpu

#include "cpu_device/running/block_barrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running/device.hpp"

namespace cpu {

const char* name_of(BarrierOperation operation) {
  switch (operation) {
    case BarrierOperation::kSync:
      break;
    case BarrierOperation::kCount:
      return "__syncthreads_count()";
    case BarrierOperation::kAnd:
      return "__syncthreads_and()";
    case BarrierOperation::kOr:
      return "__syncthreads_or()";
    case BarrierOperation::kGrid:
      return "grid.sync()";
  }
  return "__syncthreads()";
}

void BlockBarrier::release() {
  unsigned first = 0;
  while (threads_.state[first] != ThreadState::kAtBarrier) ++first;
  std::optional<unsigned> ended, elsewhere;
  unsigned ended_threads = 0;
  for (unsigned t = 0; t < threads_.count(); ++t) {
    if (threads_.state[t] == ThreadState::kDone && ++ended_threads == 1) ended = t;
    if (threads_.state[t] != ThreadState::kAtBarrier) continue;
    if (threads_.barrier[t] != threads_.barrier[first]) throw_mixed({first, t});
    const std::uintptr_t here = threads_.waits_at[t], there = threads_.waits_at[first];
    if (!elsewhere && here != there && !same_line(here, there)) elsewhere = t;
  }
  if (elsewhere) check_lines({first, *elsewhere});
  if (ended) check_ended(first, *ended);
  for (unsigned t = first; t < threads_.count(); ++t)
    if (threads_.state[t] == ThreadState::kAtBarrier) threads_.state[t] = ThreadState::kReady;
  vote_ = std::exchange(arrived_, {0, 0});
  completed_ = threads_.barrier[first];
  ++device().counts.barriers;
  device().block.last_barrier = threads_.waits_at[first];
  device().block.ended_before_barrier = ended_threads;
  device().site_log.add_barrier(threads_.waits_at[first]);
  device().races.pass_barrier();
}

/// Reports threads of the block that wait at different lines.
void BlockBarrier::check_lines(const Pair& at_several_lines) const {
  if (const std::optional<Pair> lanes = lanes_at_several_lines()) {
    const std::uintptr_t where = threads_.waits_at[lanes->one];
    if (is_noted("barrier that not all threads reach", where)) return;
    return throw_or_note(
        {"barrier that not all threads reach", pair_text(*lanes),
         "all threads of the block must reach the same __syncthreads(): is one inside an if?", where});
  }
  const std::uintptr_t instruction = threads_.waits_at[at_several_lines.one];
  if (is_noted("barrier in several lines", instruction)) return;
  note({"barrier in several lines", pair_text(at_several_lines),
        "the barrier completes because a GPU counts the warps that arrive, at whichever line. "
        "But CUDA defines a barrier in an if only where all threads of the block take "
        "the same branch: can one barrier outside of the if replace these?",
        instruction});
}

/// Two lanes of one warp that wait at different lines, if there are any.
std::optional<BlockBarrier::Pair> BlockBarrier::lanes_at_several_lines() const {
  std::optional<unsigned> leader;  // the first lane of the warp that waits
  for (unsigned t = 0; t < threads_.count(); ++t) {
    if (threads_.state[t] != ThreadState::kAtBarrier) continue;
    if (!leader || *leader / kWarpSize != t / kWarpSize) leader = t;
    if (!same_line(threads_.waits_at[t], threads_.waits_at[*leader])) return Pair{*leader, t};
  }
  return std::nullopt;
}

/// A GPU need not wait for threads that have ended, but cooperative groups wants all at grid.sync().
void BlockBarrier::check_ended(unsigned waiting, unsigned ended) const {
  if (threads_.barrier[waiting] != BarrierOperation::kGrid) return note_ended(waiting, ended);
  throw_or_note({"barrier that not all threads reach",
                 fmt::format("  {} waits at grid.sync() at {}\n  {} has ended", thread_name(waiting),
                             place_text(threads_.waits_at[waiting]), thread_name(ended)),
                 "all threads of the grid must reach grid.sync(): does a guard such as `if (i >= n) return;` "
                 "end some of them before?",
                 threads_.waits_at[waiting]});
}

/// Notes, once for each kernel, that the barrier completes although threads have ended.
void BlockBarrier::note_ended(unsigned waiting, unsigned ended) const {
  const auto kernel = reinterpret_cast<std::uintptr_t>(device().launch.kernel);
  if (is_noted("barrier without the threads that have ended", kernel)) return;
  const auto count = std::count(threads_.state.begin(), threads_.state.end(), ThreadState::kDone);
  const std::string others = count == 1   ? ", which has ended"
                             : count == 2 ? " and another one, which have ended"
                                          : fmt::format(" and {} others, which have ended", count - 1);
  note({"barrier without the threads that have ended",
        fmt::format("  {} passes {} at {}\n  without {}{}", thread_name(waiting),
                    name_of(threads_.barrier[waiting]), place_text(threads_.waits_at[waiting]),
                    thread_name(ended), others),
        "the barrier completes because a GPU of compute capability 7.0 or more does not wait "
        "for threads that have ended. But code that is added later cannot use them: "
        "can all threads come to the barrier, with an `if` around their work alone?",
        kernel});
}

void BlockBarrier::throw_mixed(const Pair& threads) const {
  throw_finding(
      {"votes and barriers mixed", pair_text(threads),
       "a barrier completes when all threads of the block have come to the same one "
       "of __syncthreads(), __syncthreads_count(), _and(), _or() and grid.sync(): is one in an if?"});
}

/// Where two threads wait, in two lines.
std::string BlockBarrier::pair_text(const Pair& threads) const {
  const auto line = [&](unsigned t) {
    return fmt::format("  {} waits at {} at {}", thread_name(t), name_of(threads_.barrier[t]),
                       place_text(threads_.waits_at[t]));
  };
  return line(threads.one) + "\n" + line(threads.other);
}

}  // namespace cpu

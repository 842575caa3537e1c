#include "cpu_device/running/warp_operations.hpp"

#include <fmt/format.h>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/findings/place_names.hpp"
#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/running/block_barrier.hpp"
#include "cpu_device/running/device.hpp"

namespace cpu {
namespace {

bool ended_lanes_excused = false;

}  // namespace

void set_ended_lanes_excused(bool excused) { ended_lanes_excused = excused; }

/// The lanes of a call's mask that must come.
std::uint32_t WarpOperations::needed(std::uint32_t mask, const Warp& warp) const {
  if (!ended_lanes_excused) return mask;
  for (const unsigned lane : lanes_of(mask)) {
    const unsigned t = warp.first + lane;
    if (t >= warp.end || threads_.state[t] == ThreadState::kDone) mask &= ~(1u << lane);
  }
  return mask;
}

void WarpOperations::arrive(unsigned thread, const WarpCall& call) {
  const unsigned lane = thread % kWarpSize;
  if (call.operation != WarpOperation::kActive && !(call.mask >> lane & 1))
    stop_launch({"warp operation without the caller",
                 fmt::format("  {} names the lanes {:#010x} at {}, and is lane {}", thread_name(thread),
                             call.mask, place_text(threads_.waits_at[thread]), lane),
                 "the mask that a lane passes to a _sync function must contain the bit of that lane"});
  calls_[thread] = call;
}

bool WarpOperations::release(const Warp& warp) {
  const std::uint32_t waiting = threads_.lanes_in(ThreadState::kInWarpOperation, warp);
  for (const unsigned lane : lanes_of(waiting)) {
    const WarpCall& call = calls_[warp.first + lane];
    if (call.operation == WarpOperation::kActive || !all_came(warp.first + lane, waiting, warp)) continue;
    finish(call, warp);
    threads_.make_ready(needed(call.mask, warp), warp);
    return true;
  }
  return false;
}

bool WarpOperations::release_active(const Warp& warp) {
  std::uint32_t asking = 0;
  for (const unsigned lane : lanes_of(threads_.lanes_in(ThreadState::kInWarpOperation, warp)))
    if (calls_[warp.first + lane].operation == WarpOperation::kActive) asking |= 1u << lane;
  for (const unsigned lane : lanes_of(asking)) calls_[warp.first + lane].result = asking;
  threads_.make_ready(asking, warp);
  return asking != 0;
}

bool WarpOperations::all_came(unsigned caller, std::uint32_t waiting, const Warp& warp) const {
  const std::uint32_t mask = needed(calls_[caller].mask, warp);
  if ((mask & waiting) != mask) return false;
  for (const unsigned lane : lanes_of(mask))
    if (!same_call(caller, warp.first + lane)) return false;
  return true;
}

/// Whether two threads wait in the same operation. A collective one is a single instruction of the whole warp
/// (`.aligned` in the PTX manual), of which the compiler may have made several; the others need not be.
bool WarpOperations::same_call(unsigned a, unsigned b) const {
  const WarpCall &one = calls_[a], &other = calls_[b];
  if (one.operation != other.operation || one.mask != other.mask || one.work != other.work) return false;
  return one.operation != WarpOperation::kCollective || same_line(threads_.waits_at[a], threads_.waits_at[b]);
}

/// Gives every lane of the call's mask its result.
void WarpOperations::finish(const WarpCall& call, const Warp& warp) {
  const std::uint32_t mask = needed(call.mask, warp);
  switch (call.operation) {
    case WarpOperation::kSync:
      return device().races.sync_warp(warp.first, mask, true);
    case WarpOperation::kShuffle:
      device().races.sync_warp(warp.first, mask, false);
      return shuffle(mask, warp);
    case WarpOperation::kBallot:
      device().races.sync_warp(warp.first, mask, false);
      return vote(mask, warp);
    case WarpOperation::kCollective:
      return work_together(call, warp);
    case WarpOperation::kActive:  // see release_active
      return;
  }
}

void WarpOperations::shuffle(std::uint32_t mask, const Warp& warp) {
  for (const unsigned lane : lanes_of(mask)) {
    WarpCall& mine = calls_[warp.first + lane];
    mine.result = mask >> mine.source & 1 ? calls_[warp.first + static_cast<unsigned>(mine.source)].value
                                          : undefined_value(warp.first + lane);
  }
}

void WarpOperations::vote(std::uint32_t mask, const Warp& warp) {
  std::uint32_t ballot = 0;
  for (const unsigned lane : lanes_of(mask))
    if (calls_[warp.first + lane].value) ballot |= 1u << lane;
  for (const unsigned lane : lanes_of(mask)) calls_[warp.first + lane].result = ballot;
}

void WarpOperations::work_together(const WarpCall& call, const Warp& warp) const {
  void* lanes[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane] = calls_[warp.first + lane].mine;
  call.work(lanes);
}

void WarpOperations::check_complete(const Warp& warp) const {
  const std::uint32_t waiting = threads_.lanes_in(ThreadState::kInWarpOperation, warp);
  if (!waiting) return;
  const unsigned caller = warp.first + first_lane(waiting);
  const WarpCall& call = calls_[caller];
  const bool collective = call.operation == WarpOperation::kCollective;
  const std::string needs =
      collective ? "needs all lanes of its warp" : fmt::format("names the lanes {:#010x}", call.mask);
  throw_finding(
      {"warp operation that a lane does not reach",
       fmt::format("  {} {} at {}\n  and waits for {}", thread_name(caller), needs,
                   place_text(threads_.waits_at[caller]), missing_lane(caller, warp)),
       collective
           ? "whole warps must reach it: it cannot be inside an if that only some lanes take"
           : "all lanes that the mask names must make the same call: which `if` or return keeps one out, and "
             "can the call stand before it?"});
}

/// The first lane that the caller waits for, and why it cannot come.
std::string WarpOperations::missing_lane(unsigned caller, const Warp& warp) const {
  for (const unsigned lane : lanes_of(calls_[caller].mask)) {
    const unsigned t = warp.first + lane;
    if (t >= warp.end) return fmt::format("lane {}, which the block does not have", lane);
    if (threads_.state[t] == ThreadState::kDone) return thread_name(t) + ", which has ended";
    if (threads_.state[t] == ThreadState::kAtBarrier)
      return fmt::format("{}, which waits at {} at {}", thread_name(t), name_of(threads_.barrier[t]),
                         place_text(threads_.waits_at[t]));
    if (!same_call(caller, t))
      return fmt::format("{}, which waits in another operation or with another mask at {}", thread_name(t),
                         place_text(threads_.waits_at[t]));
  }
  return "";
}

/// The value that a lane gets from one that is not in the mask. CUDA calls it undefined, and code may read it
/// but must not use it. A result that does use it should be wrong, so it is large, and positive and negative
/// in turn: as an integer, as a float or double (about 1e36 or 1e285), and in 16 bits.
std::uint64_t WarpOperations::undefined_value(unsigned thread) {
  const WarpCall& call = calls_[thread];
  constexpr FindingKind kKind = "shuffle from a lane that does not take part";
  if (!is_noted(kKind, threads_.waits_at[thread]))
    note({kKind,
          fmt::format("  {} reads lane {} at {}; {}\n  so the value is undefined", thread_name(thread),
                      call.source, place_text(threads_.waits_at[thread]),
                      call.mask >> call.source & 1 ? "that lane has ended or is not there"
                                                   : fmt::format("the mask names {:#010x}", call.mask)),
          fmt::format(
              "this is right only if the result does not depend on that value, which here is a large "
              "number and on a GPU can be any. Is lane {} meant to take part? Often it is simpler to "
              "let all 32 lanes take part, with a neutral value such as 0 in those that have no element.",
              call.source),
          threads_.waits_at[thread]});
  undefined_is_negative_ = !undefined_is_negative_;
  return undefined_is_negative_ ? 0x7b617b537b617b53 : 0xfb2bfb19fb2bfb19;
}

}  // namespace cpu

#include "cpu_device/running/scheduler.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu_device/coordinates.hpp"
#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/launch_limits.hpp"
#include "cpu_device/running/cores.hpp"
#include "cpu_device/running/deadlock.hpp"
#include "cpu_device/running/device.hpp"
#include "cpu_device/running/gpus.hpp"

namespace cpu {

Scheduler::Scheduler() : fibers_(kMostThreads, [this] { run_threads(); }) {}

bool Scheduler::run_block(unsigned threads) {
  threads_.begin_block(threads);
  barrier_.begin_block();
  warp_operations_.begin_block();
  done_ = 0;
  paused_.resize((threads + kWarpSize - 1) / kWarpSize);
  spins_.resize(threads);
  seen_.resize(threads);
  return run_threads_of_block();
}

Scheduler::Waiting Scheduler::leave_block() {
  Waiting block = {threads_, done_, {}};
  for (unsigned t = 0; t < threads_.count(); ++t)
    if (threads_.state[t] == ThreadState::kReady) block.fibers.push_back(fibers_.keep(threads_.fiber[t]));
  return block;
}

bool Scheduler::go_on_with(const Waiting& block) {
  threads_ = block.threads;
  done_ = block.done;
  barrier_.begin_block();
  warp_operations_.begin_block();
  fibers_.restore(block.fibers);
  return run_threads_of_block();
}

bool Scheduler::run_threads_of_block() {
  const unsigned threads = threads_.count();
  for (;;) {
    const std::uint64_t before = progress_;
    had_its_turn_ = false;
    bool complete = true;
    for (unsigned first = 0; first < threads; first += kWarpSize)
      complete &= run_warp({first, std::min(first + kWarpSize, threads)});
    if (done_ == threads) return true;
    if (complete) {
      barrier_.release();
      if (barrier_.is_of_grid()) return false;
    } else if (progress_ == before && !let_other_gpus_run()) {
      throw_deadlock(threads_, spins_);
    } else if (had_its_turn_) {  // perhaps it waits for another GPU, in a loop that SpinProbe does not know
      let_other_gpus_run();
    }
  }
}

/// The block can only go on when another GPU does something. Returns false if none can.
bool Scheduler::let_other_gpus_run() {
  if (!device().gpus || !device().gpus->wait_for_others(progress_ != resumed_at_)) return false;
  resumed_at_ = ++progress_;
  return true;
}

/// Runs the threads of one warp until all have ended or are at the barrier, and returns true. Returns false
/// when other warps must run first, because threads spin or because the warp has had its turn.
bool Scheduler::run_warp(const Warp& warp) {
  warp_ = warp;
  Device& d = device();
  d.steps.begin_slice();
  if (resume(warp)) let_all_go_on(warp);
  bool stopped = false;
  do {
    run_ready_lanes(warp);
    while (d.steps.slice_over()) {
      if (others_can_run(warp) || device().gpus) {
        had_its_turn_ = true;
        pause(warp);
        return false;
      }
      let_all_go_on(warp);
      d.steps.begin_slice();
      run_ready_lanes(warp);
    }
    stopped = threads_.have_stopped(warp);
  } while (!stopped && (warp_operations_.release(warp) || catch_up(warp) ||
                        warp_operations_.release_active(warp) || wake_spinning(warp)));
  if (!stopped && threads_.lanes_in(ThreadState::kSpins, warp)) {
    pause(warp);
    return false;
  }
  if (!stopped) warp_operations_.check_complete(warp);
  d.log.end_segment();
  return true;
}

/// Runs each lane that can until it must wait.
void Scheduler::run_ready_lanes(const Warp& warp) {
  for (unsigned t = warp.first; t < warp.end; ++t) {
    if (threads_.state[t] == ThreadState::kReady) switch_to(threads_.fiber[t]);
    if (threads_.state[t] == ThreadState::kNotStarted) start_from(t);
  }
}

/// Lets the lanes poll again that last did so before some other thread ran. Returns whether there were any.
bool Scheduler::wake_spinning(const Warp& warp) {
  bool any = false;
  for (const unsigned lane : lanes_of(threads_.lanes_in(ThreadState::kSpins, warp))) {
    const unsigned t = warp.first + lane;
    if (seen_[t] == progress_) continue;
    threads_.state[t] = ThreadState::kReady;
    any = true;
  }
  return any;
}

/// Lets all lanes go on, not only the slowest: one may wait, in a loop that counts, for a faster one.
void Scheduler::let_all_go_on(const Warp& warp) {
  threads_.make_ready(threads_.lanes_in(ThreadState::kWaitsForLanes, warp), warp);
  wake_spinning(warp);
}

bool Scheduler::others_can_run(const Warp& warp) const {
  for (unsigned t = 0; t < threads_.count(); ++t)
    if ((t < warp.first || t >= warp.end) && threads_.state[t] != ThreadState::kDone &&
        threads_.state[t] != ThreadState::kAtBarrier)
      return true;
  return false;
}

/// Keeps what the warp's counts depend on: it goes on later as if it had never been left.
void Scheduler::pause(const Warp& warp) {
  paused_[warp.number()] = true;
  device().log.pause(warp.number());
}

/// Returns whether the warp was paused.
bool Scheduler::resume(const Warp& warp) {
  if (!paused_[warp.number()]) return false;
  make_current(warp.first);
  device().log.resume(warp.number());
  paused_[warp.number()] = false;
  return true;
}

/// Lets the slowest of the lanes that wait for others continue. Returns whether there were any.
bool Scheduler::catch_up(const Warp& warp) {
  Device& d = device();
  const std::uint32_t waiting = threads_.lanes_in(ThreadState::kWaitsForLanes, warp);
  if (!waiting) return false;
  std::vector<const Position*> stopped;
  const Position* slowest = nullptr;
  const std::uint32_t others =
      threads_.lanes_in(ThreadState::kInWarpOperation, warp) | threads_.lanes_in(ThreadState::kSpins, warp);
  for (const unsigned lane : lanes_of(waiting | others)) {
    const Position* position = &threads_.fiber[warp.first + lane]->flow.position;
    if (stopped.empty() || stopped.back()->key() != position->key()) stopped.push_back(position);
    if (waiting >> lane & 1 && (!slowest || before(*position, *slowest))) slowest = stopped.back();
  }
  std::iter_swap(stopped.begin(), std::find(stopped.begin(), stopped.end(), slowest));  // asked first
  d.log.advance(stopped);
  for (const unsigned lane : lanes_of(waiting))
    if (threads_.fiber[warp.first + lane]->flow.key == slowest->key())
      threads_.state[warp.first + lane] = ThreadState::kReady;
  return true;
}

/// Starts a thread on a free fiber, which then runs the threads after it until one must wait.
void Scheduler::start_from(unsigned thread) {
  next_ = thread;
  switch_to(fibers_.take());
}

/// The body of a fiber: it runs the threads of the warp that have not started.
void Scheduler::run_threads() {
  Device& d = device();
  const Launch& launch = device().launch;
  d.stack = fibers_.running()->stack;
  while (next_ < warp_.end && threads_.state[next_] == ThreadState::kNotStarted) {
    make_current(next_++);
    d.iterations.start(*d.thread.flow);
    launch.thread(launch.closure);
    if (d.races.has_open_store()) d.races.settle_store();
    threads_.state[current_] = ThreadState::kDone;
    ++done_;
  }
}

/// Runs a fiber, and those that go on after it, until a thread must wait, or has ended and there is none left
/// to start. A waiting thread keeps its fiber.
void Scheduler::switch_to(Fiber* fiber) {
  fibers_.resume(fiber);
  if (mistake_) throw_finding(*mistake_);
  if (part_stopped_) throw PartStopped();
  if (threads_.state[current_] == ThreadState::kDone) fibers_.give_back(fibers_.running());
  note_progress();
}

/// The running thread leaves its turn.
void Scheduler::note_progress() {
  if (!only_polled_) ++progress_;
  seen_[current_] = progress_;
  only_polled_ = false;
}

/// Suspends the running fiber. The next lane goes on at once if it can; else the scheduler does.
void Scheduler::leave_turn() {
  const unsigned next = current_ + 1;
  if (next >= warp_.end || threads_.state[next] != ThreadState::kReady) return fibers_.suspend();
  if (next + 1 < warp_.end && threads_.fiber[next + 1]) threads_.fiber[next + 1]->prefetch();
  note_progress();
  fibers_.hand_over(threads_.fiber[next]);
}

void Scheduler::make_current(unsigned thread) {
  Device& d = device();
  current_ = thread;
  d.thread = {coordinates(thread, device().launch.block), thread, thread % kWarpSize,
              &fibers_.running()->flow};
}

/// Suspends the running thread in that state; returns when the scheduler resumes it.
void Scheduler::wait(ThreadState state) {
  Device& d = device();
  d.steps.interrupt();
  threads_.state[current_] = state;
  threads_.fiber[current_] = fibers_.running();
  const RunningThread thread = d.thread;
  const Region stack = d.stack;
  leave_turn();
  d.thread = thread;
  d.stack = stack;
  current_ = thread.number;
}

std::uintptr_t Scheduler::waiting_at() const {
  for (unsigned t = 0; t < threads_.count(); ++t)
    if (threads_.state[t] == ThreadState::kAtBarrier) return threads_.waits_at[t];
  return 0;
}

std::uintptr_t waiting_at() { return scheduler().waiting_at(); }

void stop_launch(const Mistake& mistake) { scheduler().stop(mistake); }

std::string Scheduler::waiting_thread() const { return cpu::waiting_thread(threads_, spins_); }

BarrierVote Scheduler::barrier(BarrierOperation operation, bool predicate, std::uintptr_t instruction) {
  Device& d = device();
  d.steps.count_call(instruction);
  threads_.waits_at[current_] = instruction;
  barrier_.arrive(current_, operation, predicate);
  wait(ThreadState::kAtBarrier);
  Iterations::resume(*d.thread.flow);
  return barrier_.vote();
}

std::uint64_t Scheduler::warp_operation(const WarpCall& call, std::uintptr_t instruction) {
  device().steps.count_call(instruction);
  const unsigned thread = current_;
  threads_.waits_at[thread] = instruction;
  warp_operations_.arrive(thread, call);
  wait(ThreadState::kInWarpOperation);
  return warp_operations_.result(thread);
}

void Scheduler::spin(Spin&& spin, bool again) {
  spins_[current_] = std::move(spin);
  only_polled_ = again;
  wait(ThreadState::kSpins);
}

void Scheduler::stop(const Mistake& mistake) {
  mistake_ = mistake;
  fibers_.suspend();
  __builtin_unreachable();
}

void Scheduler::stop_part() {
  part_stopped_ = true;
  fibers_.suspend();
  __builtin_unreachable();
}

void Scheduler::abandon() {
  mistake_.reset();
  part_stopped_ = false;
  fibers_.abandon();
  std::fill(paused_.begin(), paused_.end(), false);
}

}  // namespace cpu

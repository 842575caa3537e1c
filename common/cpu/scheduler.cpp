#include "cpu/scheduler.hpp"

#include <algorithm>
#include <vector>

#include "cpu/coordinates.hpp"
#include "cpu/device.hpp"
#include "cpu/launch_limits.hpp"
#include "cpu/stop.hpp"

namespace cpu {

Scheduler::Scheduler() : fibers_(kMostThreads, [this] { run_threads(); }) {}

void Scheduler::run_block(unsigned threads) {
  threads_.begin_block(threads);
  barrier_.begin_block();
  warp_operations_.begin_block();
  done_ = 0;
  for (;;) {
    for (unsigned first = 0; first < threads; first += kWarpSize)
      run_warp({first, std::min(first + kWarpSize, threads)});
    if (done_ == threads) return;
    barrier_.release();
  }
}

/// Runs the threads of one warp until all have ended or are at the barrier.
void Scheduler::run_warp(const Warp& warp) {
  warp_ = warp;
  do {
    for (unsigned t = warp.first; t < warp.end; ++t) {
      if (threads_.state[t] == ThreadState::kReady) {
        make_current(t);
        switch_to(threads_.fiber[t]);
      }
      if (threads_.state[t] == ThreadState::kNotStarted) start_from(t);
    }
  } while (warp_operations_.release(warp) || catch_up(warp) || warp_operations_.release_active(warp));
  warp_operations_.check_complete(warp);
  BlockState& block = device().block;
  block.log.end_segment();
  for (unsigned lane = 0; lane < warp.end - warp.first; ++lane) block.iterations.restart(block.flow[lane]);
}

/// Lets the slowest of the lanes that wait for others continue. Returns whether there were any.
bool Scheduler::catch_up(const Warp& warp) {
  BlockState& block = device().block;
  const std::uint32_t waiting = threads_.lanes_in(ThreadState::kWaitsForLanes, warp);
  if (!waiting) return false;
  std::vector<const Position*> stopped;
  const Position* slowest = nullptr;
  for (const unsigned lane : lanes_of(waiting | threads_.lanes_in(ThreadState::kInWarpOperation, warp))) {
    const Position* position = &block.flow[lane].position;
    if (stopped.empty() || stopped.back()->key() != position->key()) stopped.push_back(position);
    if (waiting >> lane & 1 && (!slowest || before(*position, *slowest))) slowest = position;
  }
  block.log.advance(stopped);
  for (const unsigned lane : lanes_of(waiting))
    if (block.flow[lane].position.key() == slowest->key())
      threads_.state[warp.first + lane] = ThreadState::kReady;
  return true;
}

/// Starts a thread on a free fiber, which then runs the threads after it until one must wait.
void Scheduler::start_from(unsigned thread) {
  next_ = thread;
  switch_to(fibers_.take());
}

/// What a fiber runs: the threads of the warp that have not started.
void Scheduler::run_threads() {
  BlockState& block = device().block;
  const Launch& launch = device().launch;
  while (next_ < warp_.end && threads_.state[next_] == ThreadState::kNotStarted) {
    make_current(next_++);
    block.iterations.start(*block.thread.flow);
    launch.thread(launch.closure);
    threads_.state[current_] = ThreadState::kDone;
    ++done_;
  }
}

/// Runs a fiber until its thread must wait, or has ended and there is none left to start. A waiting thread
/// keeps the fiber.
void Scheduler::switch_to(Fiber* fiber) {
  fibers_.resume(fiber);
  if (mistake_) throw_finding(*mistake_);
  if (threads_.state[current_] == ThreadState::kDone) fibers_.give_back(fiber);
}

void Scheduler::make_current(unsigned thread) {
  BlockState& block = device().block;
  const unsigned lane = thread % kWarpSize;
  current_ = thread;
  block.thread = {coordinates(thread, device().launch.block), thread, lane, &block.flow[lane]};
}

/// Suspends the running thread in that state; returns when the scheduler resumes it.
void Scheduler::wait(ThreadState state) {
  threads_.state[current_] = state;
  threads_.fiber[current_] = fibers_.running();
  fibers_.suspend();
}

BarrierVote Scheduler::barrier(bool predicate, std::uintptr_t instruction) {
  BlockState& block = device().block;
  block.steps.count(instruction);
  threads_.waits_at[current_] = instruction;
  barrier_.arrive(predicate);
  const std::uintptr_t last = block.thread.flow->last;
  wait(ThreadState::kAtBarrier);
  block.thread.flow->last = last;  // other warps have used it since
  return barrier_.vote();
}

std::uint64_t Scheduler::warp_operation(const WarpCall& call, std::uintptr_t instruction) {
  device().block.steps.count(instruction);
  const unsigned thread = current_;
  threads_.waits_at[thread] = instruction;
  warp_operations_.arrive(thread, call);
  wait(ThreadState::kInWarpOperation);
  return warp_operations_.result(thread);
}

void Scheduler::stop(const Mistake& mistake) {
  mistake_ = mistake;
  fibers_.suspend();
  __builtin_unreachable();
}

void Scheduler::abandon() {
  mistake_.reset();
  fibers_.abandon();
}

}  // namespace cpu

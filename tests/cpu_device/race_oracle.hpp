/// \file
/// Programs of random_accesses.hpp as the tests build them, and a brute-force answer to the question whether
/// one has a race. Nothing here knows how the CPU device finds races.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/random_accesses.hpp"

namespace race_oracle {

using cpu::test_kernels::Does;
using cpu::test_kernels::Done;
using cpu::test_kernels::RandomProgram;

/// One operation of one thread.
struct Operation {
  Does does;
  bool shared = false;
  int offset = 0, size = 0, value = 0;
  unsigned mask = 0;
  /// Identifies a warp operation: the same number in all lanes that take part, and a different one for each
  /// other operation.
  int meeting = -1;
};

/// A thread that does more than pass the barriers.
struct Actor {
  int block, thread;
  std::vector<std::vector<Operation>> segments;  ///< a __syncthreads() between one and the next
};

struct Launch {
  int blocks = 1, threads = 32, segments = 1;
  std::vector<Actor> actors;
};

/// Launches that run one after another on one array in device memory.
struct Program {
  int bytes = 16;        ///< of the array in device memory
  int misalignment = 0;  ///< bytes from a multiple of 16 to its start
  bool uses_shared = false;
  std::vector<Launch> launches;
};

/// The program of one launch as the kernel takes it. Its operations have the order of the actors.
RandomProgram flat(const Program& program, const Launch& launch);
/// The launch's operations, actor by actor.
int operation_count(const Launch& launch);

/// What of each launch has been executed: as `done` of the kernel.
using Execution = std::vector<std::vector<Done>>;
/// An execution in which nothing has been done.
Execution not_begun(const Program& program);

/// Where an operation is.
struct Place {
  int launch, actor, segment, index;
};
/// Two accesses that race.
struct Race {
  Place one, other;
};

/// Whether one of the two is a plain load, the other an atomic.
bool load_beside_atomic(const Program& program, const Race& race);

/// A thread of a launch that was stopped at an access which it has not noted in `done`.
struct Stopped {
  int launch, block, thread;
};

/// Which rules hold. The tests leave one out to see how many of the random programs depend on it.
struct Rules {
  bool barriers = true, meetings = true, launches = true, fences = true;
  bool block_fences_stay_in_block = true;  ///< __threadfence_block() is less than __threadfence()
};

/// The races of what has been executed, by brute force. `stopped`, if given, has executed its next operation
/// as well; it must be an access. \throws std::logic_error when the execution is none of the program's
std::vector<Race> races(const Program& program, const Execution& execution,
                        const std::optional<Stopped>& stopped = {}, const Rules& rules = {});

/// The program for a person: what each thread does, in rows. `execution` adds the tickets and marks what has
/// not been executed.
std::string text(const Program& program, const Execution& execution);
std::string text(const Program& program, const Place& place);
const Operation& operation_at(const Program& program, const Place& place);

}  // namespace race_oracle

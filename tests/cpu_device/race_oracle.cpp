#include "tests/cpu_device/race_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <stdexcept>
#include <tuple>

namespace race_oracle {
namespace {

using cpu::test_kernels::kMostActors;
using cpu::test_kernels::kMostBlocks;
using cpu::test_kernels::kMostBytes;
using cpu::test_kernels::kMostOperations;
using cpu::test_kernels::kMostSegments;
using cpu::test_kernels::kMostThreads;

constexpr std::size_t kMostNodes = 768;
using Nodes = std::bitset<kMostNodes>;

bool is_access(Does does) { return does == Does::kLoad || does == Does::kStore || does == Does::kAtomic; }
bool is_fence(Does does) { return does == Does::kFence || does == Does::kFenceBlock; }
bool is_meeting(Does does) {
  return does == Does::kSyncWarp || does == Does::kShuffle || does == Does::kBallot;
}

/// An access that has been executed. What happens before `node` happens before it; it happens before all that
/// `effect` happens before. The two differ in atomics alone.
struct Access {
  Place place;
  int node, effect, block;
  const Operation* operation;
};

/// A word that atomics update: launch and block are 0 for device memory.
using Location = std::tuple<bool, int, int, int>;

struct Atomic {
  Location location;
  int node, effect, launch, block;
  Done ticket;
  bool last;  // the one at which the launch was stopped: it has no ticket, and comes after all others
};

struct Fence {
  int node, launch, block;
  bool device;  // __threadfence(), not __threadfence_block()
};

/// The happens-before relation of one execution, as a graph: a node for each operation that a thread does
/// alone, one for each barrier, each meeting of lanes, and each launch's beginning.
class HappensBefore {
 public:
  HappensBefore(const Program& program, const Execution& execution, const std::optional<Stopped>& stopped,
                const Rules& rules)
      : program_(program), execution_(execution), stopped_(stopped), rules_(rules) {
    int before = new_node();  // the host fills the array
    for (std::size_t l = 0; l < program.launches.size(); ++l)
      before = add_launch(static_cast<int>(l), before);
    if (stopped_ && !found_stopped_) throw std::logic_error("the thread that was stopped has no access left");
    // Edges 1 to 3. Those of a launch's order are there too, but join no fence and atomic of one launch.
    close();
    if (rules_.fences)
      for (const auto& [from, to] : fence_edges()) edge(from, to);
    close();
  }

  const std::vector<Access>& accesses() const { return accesses_; }
  bool ordered(const Access& a, const Access& b) const {
    return before(a.effect, b.node) || before(b.effect, a.node);
  }

 private:
  int new_node() {
    if (predecessors_.size() == kMostNodes) throw std::logic_error("too many events for the oracle");
    predecessors_.emplace_back();
    return static_cast<int>(predecessors_.size()) - 1;
  }
  void edge(int from, int to) { predecessors_[static_cast<std::size_t>(to)].push_back(from); }
  bool before(int a, int b) const {
    return before_[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)];
  }

  /// Adds what a launch has executed; returns the node of its end.
  int add_launch(int l, int start) {
    const Launch& launch = program_.launches[static_cast<std::size_t>(l)];
    const int end = new_node();
    edge(start, end);
    barriers_.clear();
    meetings_.clear();
    std::size_t operation = 0;
    for (std::size_t a = 0; a < launch.actors.size(); ++a) {
      std::size_t count = 0;
      for (const auto& segment : launch.actors[a].segments) count += segment.size();
      edge(add_actor({l, static_cast<int>(a), 0, 0}, operation, start), end);
      operation += count;
    }
    return rules_.launches ? end : start;
  }

  /// Adds an actor's operations, the first of which has that number in `done`; returns the node of the last.
  int add_actor(Place place, std::size_t operation, int node) {
    const Launch& launch = program_.launches[static_cast<std::size_t>(place.launch)];
    const Actor& actor = launch.actors[static_cast<std::size_t>(place.actor)];
    const bool stops = stopped_ && stopped_->launch == place.launch && stopped_->block == actor.block &&
                       stopped_->thread == actor.thread;
    for (place.segment = 0; place.segment < launch.segments; ++place.segment) {
      if (place.segment > 0) {
        const int barrier =
            rules_.barriers ? shared_node(barriers_, {actor.block, place.segment}) : new_node();
        edge(node, barrier);
        node = barrier;
      }
      const auto& segment = actor.segments[static_cast<std::size_t>(place.segment)];
      int skipped = 0;
      for (place.index = 0; place.index < static_cast<int>(segment.size()); ++place.index, ++operation) {
        const Operation& op = segment[static_cast<std::size_t>(place.index)];
        if (skipped > 0) {
          --skipped;
          continue;
        }
        const Done done = execution_[static_cast<std::size_t>(place.launch)][operation];
        if (done == 0 && !stops) {
          // The thread may have come to a meeting that is over, and not have gone on yet.
          if (is_meeting(op.does)) add_operation(place, actor.block, op, done, node);
          return node;
        }
        if (done == 0 && !is_access(op.does)) throw std::logic_error("stopped where there is no access");
        if (op.does == Does::kSkipUnless && done == 2) skipped = op.size;
        node = add_operation(place, actor.block, op, done, node);
        if (done == 0) {
          found_stopped_ = true;
          return node;
        }
      }
    }
    return node;
  }

  int add_operation(const Place& place, int block, const Operation& op, Done done, int previous) {
    const int node =
        is_meeting(op.does) && rules_.meetings ? shared_node(meetings_, {op.meeting, 0}) : new_node();
    edge(previous, node);
    int effect = node;
    if (op.does == Does::kAtomic) {
      effect = new_node();
      edge(effect, node);
    }
    if (is_access(op.does)) accesses_.push_back({place, node, effect, block, &op});
    if (is_fence(op.does)) fences_.push_back({node, place.launch, block, op.does == Does::kFence});
    if (op.does == Does::kAtomic) {
      const Location location =
          op.shared ? Location{true, place.launch, block, op.offset} : Location{false, 0, 0, op.offset};
      atomics_.push_back({location, node, effect, place.launch, block, done - 1, done == 0});
    }
    return node;
  }

  int shared_node(std::map<std::pair<int, int>, int>& nodes, std::pair<int, int> key) {
    const auto found = nodes.find(key);
    if (found != nodes.end()) return found->second;
    return nodes[key] = new_node();
  }

  /// Sets before_ to all nodes from which a path leads to each node.
  void close() {
    const std::size_t count = predecessors_.size();
    before_.assign(count, Nodes());
    std::vector<int> left(count);
    std::vector<std::vector<int>> successors(count);
    std::vector<int> ready;
    for (std::size_t n = 0; n < count; ++n) {
      left[n] = static_cast<int>(predecessors_[n].size());
      for (const int p : predecessors_[n])
        successors[static_cast<std::size_t>(p)].push_back(static_cast<int>(n));
      if (left[n] == 0) ready.push_back(static_cast<int>(n));
    }
    std::size_t closed = 0;
    while (!ready.empty()) {
      const auto n = static_cast<std::size_t>(ready.back());
      ready.pop_back();
      ++closed;
      for (const int p : predecessors_[n]) {
        before_[n] |= before_[static_cast<std::size_t>(p)];
        before_[n].set(static_cast<std::size_t>(p));
      }
      for (const int s : successors[n])
        if (--left[static_cast<std::size_t>(s)] == 0) ready.push_back(s);
    }
    if (closed != count) throw std::logic_error("no execution: something happens before itself");
  }

  /// Whether the second atomic on a location came after the first. A plain store to the word starts the
  /// tickets again, from a number whose upper 24 bits no other store leaves. In a program without a race it
  /// is ordered with every atomic on that word by other edges, so none is lost by telling only tickets of one
  /// such number apart.
  static bool came_later(const Atomic& first, const Atomic& second) {
    if (first.location != second.location || first.last) return false;
    return second.last || (first.ticket >> 8 == second.ticket >> 8 && first.ticket < second.ticket);
  }

  /// Rule 5. before_ must be closed over edges 1 to 3.
  std::vector<std::pair<int, int>> fence_edges() const {
    std::vector<std::pair<int, int>> edges;
    for (const Fence& fence : fences_)
      for (const Atomic& release : atomics_) {
        if (release.launch != fence.launch || !before(fence.node, release.node)) continue;
        for (const Atomic& acquire : atomics_) {
          const bool in_reach = fence.device || !rules_.block_fences_stay_in_block ||
                                (acquire.launch == fence.launch && acquire.block == fence.block);
          if (!in_reach || !came_later(release, acquire)) continue;
          edges.emplace_back(fence.node, acquire.node);
          edges.emplace_back(release.effect, acquire.node);
        }
      }
    return edges;
  }

  const Program& program_;
  const Execution& execution_;
  const std::optional<Stopped>& stopped_;
  const Rules rules_;
  bool found_stopped_ = false;
  std::vector<std::vector<int>> predecessors_;  // by node
  std::vector<Nodes> before_;                   // by node
  std::map<std::pair<int, int>, int> barriers_, meetings_;
  std::vector<Access> accesses_;
  std::vector<Atomic> atomics_;
  std::vector<Fence> fences_;
};

bool overlap(const Access& a, const Access& b) {
  const Operation &one = *a.operation, &other = *b.operation;
  if (one.shared != other.shared) return false;
  if (one.shared && (a.block != b.block || a.place.launch != b.place.launch)) return false;
  return one.offset < other.offset + other.size && other.offset < one.offset + one.size;
}

bool same_thread(const Access& a, const Access& b) {
  return a.place.launch == b.place.launch && a.place.actor == b.place.actor;
}

bool conflict(const Access& a, const Access& b) {
  const Does one = a.operation->does, other = b.operation->does;
  if (one == Does::kLoad && other == Does::kLoad) return false;
  if (one == Does::kAtomic && other == Does::kAtomic) return false;
  return !same_thread(a, b) && overlap(a, b);
}

std::string operation_text(const Operation& op) {
  const std::string what =
      fmt::format("{}[{}..{}]", op.shared ? "shared" : "array", op.offset, op.offset + op.size - 1);
  switch (op.does) {
    case Does::kLoad:
      return "load " + what;
    case Does::kStore:
      return fmt::format("store {} to {}", op.value, what);
    case Does::kAtomic:
      return "atomic " + what;
    case Does::kFence:
      return "__threadfence";
    case Does::kFenceBlock:
      return "__threadfence_block";
    case Does::kSyncWarp:
      return fmt::format("__syncwarp({:#x}) #{}", op.mask, op.meeting);
    case Does::kShuffle:
      return fmt::format("__shfl_sync({:#x}) #{}", op.mask, op.meeting);
    case Does::kBallot:
      return fmt::format("__ballot_sync({:#x}) #{}", op.mask, op.meeting);
    case Does::kSkipUnless:
      return fmt::format("unless the ticket is {} skip {}", op.value, op.size);
  }
  return "";
}

}  // namespace

int operation_count(const Launch& launch) {
  std::size_t count = 0;
  for (const Actor& actor : launch.actors)
    for (const auto& segment : actor.segments) count += segment.size();
  return static_cast<int>(count);
}

RandomProgram flat(const Program& program, const Launch& launch) {
  if (operation_count(launch) > kMostOperations || launch.actors.size() > kMostActors ||
      launch.blocks > kMostBlocks || launch.threads > kMostThreads || launch.segments > kMostSegments)
    throw std::logic_error("a program that is too large for the kernel");
  RandomProgram flat = {};
  flat.blocks = launch.blocks;
  flat.threads = launch.threads;
  flat.segments = launch.segments;
  flat.initialises = program.uses_shared ? 0 : -1;
  for (auto& block : flat.actor)
    for (signed char& actor : block) actor = -1;
  int operation = 0;
  for (std::size_t a = 0; a < launch.actors.size(); ++a) {
    const Actor& actor = launch.actors[a];
    flat.actor[actor.block][actor.thread] = static_cast<signed char>(a);
    for (std::size_t s = 0; s < actor.segments.size(); ++s) {
      flat.first[a][s] = static_cast<unsigned char>(operation);
      for (const Operation& op : actor.segments[s])
        flat.operations[operation++] = {op.does,
                                        op.shared,
                                        static_cast<unsigned char>(op.size),
                                        static_cast<unsigned char>(op.offset),
                                        static_cast<unsigned char>(op.value),
                                        op.mask};
      flat.first[a][s + 1] = static_cast<unsigned char>(operation);
    }
  }
  return flat;
}

Execution not_begun(const Program& program) {
  return Execution(program.launches.size(), std::vector<Done>(kMostOperations, 0));
}

const Operation& operation_at(const Program& program, const Place& place) {
  return program.launches[static_cast<std::size_t>(place.launch)]
      .actors[static_cast<std::size_t>(place.actor)]
      .segments[static_cast<std::size_t>(place.segment)][static_cast<std::size_t>(place.index)];
}

bool load_beside_atomic(const Program& program, const Race& race) {
  const Does one = operation_at(program, race.one).does, other = operation_at(program, race.other).does;
  return (one == Does::kLoad && other == Does::kAtomic) || (one == Does::kAtomic && other == Does::kLoad);
}

std::vector<Race> races(const Program& program, const Execution& execution,
                        const std::optional<Stopped>& stopped, const Rules& rules) {
  const HappensBefore order(program, execution, stopped, rules);
  std::vector<Race> races;
  const auto& accesses = order.accesses();
  for (std::size_t i = 0; i < accesses.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (conflict(accesses[i], accesses[j]) && !order.ordered(accesses[i], accesses[j]))
        races.push_back({accesses[j].place, accesses[i].place});
  return races;
}

std::string text(const Program& program, const Place& place) {
  const Actor& actor =
      program.launches[static_cast<std::size_t>(place.launch)].actors[static_cast<std::size_t>(place.actor)];
  return fmt::format("launch {}, block {}, thread {}: {} (segment {}, operation {})", place.launch,
                     actor.block, actor.thread, operation_text(operation_at(program, place)), place.segment,
                     place.index);
}

std::string text(const Program& program, const Execution& execution) {
  std::string text = fmt::format("array of {} bytes in device memory, {} bytes past a multiple of 16\n",
                                 program.bytes, program.misalignment);
  for (std::size_t l = 0; l < program.launches.size(); ++l) {
    const Launch& launch = program.launches[l];
    text += fmt::format("launch {}: {} blocks of {} threads\n", l, launch.blocks, launch.threads);
    std::size_t operation = 0;
    for (const Actor& actor : launch.actors) {
      if (std::all_of(actor.segments.begin(), actor.segments.end(), [](const auto& s) { return s.empty(); }))
        continue;
      text += fmt::format("  block {}, thread {}:", actor.block, actor.thread);
      for (std::size_t s = 0; s < actor.segments.size(); ++s) {
        if (s > 0) text += " | __syncthreads |";
        for (const Operation& op : actor.segments[s]) {
          const Done done = execution[l][operation++];
          text += fmt::format(" {}{};", done ? "" : "(not executed) ", operation_text(op));
          if (op.does == Does::kAtomic && done) text += fmt::format(" ticket {:#x};", done - 1);
        }
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace race_oracle

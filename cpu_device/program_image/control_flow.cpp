#include "cpu_device/program_image/control_flow.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "cpu_device/program_image/instruction.hpp"

namespace cpu {
namespace {

using Change = Step::Change;
using Flow = Instruction::Flow;

/// A piece of the code that is entered at its start only. The first one is empty: the function's caller.
struct Block {
  std::uintptr_t begin = 0;
  bool is_place = false;
  std::vector<unsigned> next, previous;  // indices of blocks
  std::vector<Loop*> loops;              // outermost first
  std::vector<std::uintptr_t> calls;     // of these functions
  bool returns = false;
};

/// The blocks that can be reached, each after those from which it is reached, but for edges that lead back.
class Graph {
 public:
  Graph(const Region& code, std::uintptr_t marker) : code_(code), marker_(marker) {
    find_blocks();
    sort();
    find_dominators();
  }

  std::vector<Block>& blocks() { return blocks_; }
  bool dominates(unsigned block, unsigned other) const {
    while (other > block) other = dominator_[other];
    return other == block;
  }

 private:
  Instruction at(std::uintptr_t address) const {
    return decode(reinterpret_cast<const unsigned char*>(address), code_.begin + code_.size - address);
  }
  bool marks_place(const Instruction& i) const { return i.flow == Flow::kCall && i.target == marker_; }

  /// Where the instruction may continue within the function.
  std::vector<std::uintptr_t> continuations(std::uintptr_t address, const Instruction& i) const {
    std::vector<std::uintptr_t> found;
    const bool goes_on = i.flow == Flow::kNext || i.flow == Flow::kCall || i.flow == Flow::kBranch;
    if (goes_on && code_.contains(address + i.size)) found.push_back(address + i.size);
    const bool jumps = i.flow == Flow::kJump || i.flow == Flow::kBranch;
    if (jumps && code_.contains(i.target)) found.push_back(i.target);
    return found;
  }

  void find_blocks() {
    struct Start {
      bool is_place = false;
      unsigned index = 0;
    };
    std::map<std::uintptr_t, Start> starts;  // of blocks
    std::vector<bool> seen(code_.size, false);
    std::vector<std::uintptr_t> open = {code_.begin};
    starts[code_.begin];
    while (!open.empty()) {
      const std::uintptr_t address = open.back();
      open.pop_back();
      if (seen[address - code_.begin]) continue;
      seen[address - code_.begin] = true;
      const Instruction i = at(address);
      for (const std::uintptr_t next : continuations(address, i)) {
        open.push_back(next);
        if (i.flow == Flow::kJump || i.flow == Flow::kBranch) starts[next];
        if (marks_place(i)) starts[next].is_place = true;
      }
    }
    blocks_.resize(1);
    for (auto& [address, start] : starts) {
      start.index = static_cast<unsigned>(blocks_.size());
      Block& block = blocks_.emplace_back();
      block.begin = address;
      block.is_place = start.is_place;
    }
    blocks_[0].next = {starts.at(code_.begin).index};
    for (const auto& [begin, start] : starts) {
      Block& block = blocks_[start.index];
      std::uintptr_t address = begin;
      std::vector<std::uintptr_t> next;
      do {
        const Instruction i = at(address);
        if (i.flow == Flow::kCall && i.target != marker_) block.calls.push_back(i.target);
        block.returns = i.flow == Flow::kEnd;
        next = continuations(address, i);
        address += i.size;
      } while (next.size() == 1 && next[0] == address && !starts.contains(address));
      for (const std::uintptr_t target : next) block.next.push_back(starts.at(target).index);
    }
  }

  /// Reverse postorder of a depth-first search.
  void sort() {
    std::vector<unsigned> postorder;
    std::vector<bool> seen(blocks_.size(), false);
    struct Visit {
      unsigned block;
      std::size_t edge;
    };
    std::vector<Visit> path = {{0, 0}};
    seen[0] = true;
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.edge == blocks_[visit.block].next.size()) {
        postorder.push_back(visit.block);
        path.pop_back();
        continue;
      }
      const unsigned next = blocks_[visit.block].next[visit.edge++];
      if (!seen[next]) path.push_back({next, 0});
      seen[next] = true;
    }
    std::vector<unsigned> index(blocks_.size());
    std::vector<Block> sorted;
    for (auto block = postorder.rbegin(); block != postorder.rend(); ++block) {
      index[*block] = static_cast<unsigned>(sorted.size());
      sorted.push_back(blocks_[*block]);
    }
    blocks_ = std::move(sorted);
    for (unsigned b = 0; b < blocks_.size(); ++b)
      for (unsigned& next : blocks_[b].next) {
        next = index[next];
        blocks_[next].previous.push_back(b);
      }
  }

  /// K. Cooper, T. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm.
  void find_dominators() {
    constexpr unsigned kNone = ~0u;
    dominator_.assign(blocks_.size(), kNone);
    dominator_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned b = 1; b < blocks_.size(); ++b) {
        unsigned common = kNone;
        for (unsigned previous : blocks_[b].previous) {
          if (dominator_[previous] == kNone) continue;
          if (common == kNone) common = previous;
          while (common != previous)
            (common > previous ? common : previous) = dominator_[std::max(common, previous)];
        }
        changed |= dominator_[b] != common;
        dominator_[b] = common;
      }
    }
  }

  Region code_;
  std::uintptr_t marker_;
  std::vector<Block> blocks_;
  std::vector<unsigned> dominator_;
};

/// The blocks of the loop that begins at block `header`; none where no loop does.
std::set<unsigned> natural_loop(Graph& graph, unsigned header) {
  std::vector<unsigned> open;
  for (const unsigned previous : graph.blocks()[header].previous)
    if (graph.dominates(header, previous)) open.push_back(previous);
  std::set<unsigned> body;
  if (!open.empty()) body.insert(header);
  while (!open.empty()) {
    const unsigned block = open.back();
    open.pop_back();
    if (!body.insert(block).second) continue;
    const auto& previous = graph.blocks()[block].previous;
    open.insert(open.end(), previous.begin(), previous.end());
  }
  return body;
}

/// How the loops around a lane have changed since the last place.
struct Way {
  unsigned block;
  Change change;
  unsigned level;
  auto operator<=>(const Way&) const = default;
};

/// The way over an edge from the end of `way` to the block `next`.
Way over_edge(Graph& graph, Way way, unsigned next) {
  const Block &here = graph.blocks()[way.block], &there = graph.blocks()[next];
  const auto depth = static_cast<unsigned>(there.loops.size());
  const bool leads_back = next <= way.block;
  const bool is_header = depth > 0 && there.loops.back()->header == there.begin;
  const bool was_inside =
      is_header && std::find(here.loops.begin(), here.loops.end(), there.loops.back()) != here.loops.end();
  way.block = next;
  if (way.change == Change::kNotFollowed) return way;
  if (way.level >= depth) way = {next, Change::kNone, 0};                 // left again
  if (leads_back && !was_inside) return {next, Change::kNotFollowed, 0};  // no natural loop
  if (!is_header) return way;
  const bool inside_changed = way.change != Change::kNone;
  if (was_inside && inside_changed) return {next, Change::kNotFollowed, 0};
  if (inside_changed) return way;
  return {next, was_inside ? Change::kBeginsAgain : Change::kEnters, depth - 1};
}

/// Whether the edge leads back to the header of a loop that no lane is seen in, such as one that touches the
/// pages of a large array on the stack.
bool begins_loop_without_places(Graph& graph, unsigned from, unsigned to) {
  if (to > from || !graph.dominates(to, from)) return false;
  const Block& header = graph.blocks()[to];
  return header.loops.empty() || header.loops.back()->header != header.begin;
}

}  // namespace

// The finaliser of splitmix64 (S. Vigna, public domain), to spread the bits of its numbers over a key.
std::uint64_t loop_key(std::uint64_t around, const Loop& loop) {
  std::uint64_t x = around + loop.header * kOddStep;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

bool Place::may_call(std::uintptr_t function) const {
  return std::any_of(calls.begin(), calls.end(), [&](auto called) { return !called || called == function; });
}

ControlFlow::ControlFlow(const Region& code, std::uintptr_t marker) : code_(code) {
  Graph graph(code, marker);
  std::vector<Block>& blocks = graph.blocks();
  // Headers in ascending order: of two nested loops the outer one first.
  for (unsigned header = 1; header < blocks.size(); ++header) {
    const std::set<unsigned> body = natural_loop(graph, header);
    if (std::none_of(body.begin(), body.end(), [&](unsigned b) { return blocks[b].is_place; })) continue;
    Loop& loop = loops_.emplace_back(Loop{blocks[header].begin, header});
    for (const unsigned b : body) blocks[b].loops.push_back(&loop);
  }
  for (unsigned b = 0; b < blocks.size(); ++b) {
    if (!blocks[b].is_place) continue;
    Place& place = places_[blocks[b].begin];
    place.loops.assign(blocks[b].loops.begin(), blocks[b].loops.end());
    if (!place.loops.empty()) place.loop = static_cast<std::uint16_t>(place.loops.back()->order);
    place.call = {blocks[b].begin, b};
  }

  std::map<Loop*, std::uintptr_t> latch;  // the first place found from which a loop begins again
  for (unsigned b = 0; b < blocks.size(); ++b) {
    if (b > 0 && !blocks[b].is_place) continue;
    const std::uintptr_t from = b ? blocks[b].begin : 0;
    std::set<Way> seen;
    std::vector<Way> open = {{b, Change::kNone, 0}};
    while (!open.empty()) {
      const Way way = open.back();
      open.pop_back();
      if (b > 0) {
        const std::vector<std::uintptr_t>& calls = blocks[way.block].calls;
        places_[from].calls.insert(places_[from].calls.end(), calls.begin(), calls.end());
        places_[from].returns |= blocks[way.block].returns;
      }
      for (const unsigned next : blocks[way.block].next) {
        if (begins_loop_without_places(graph, way.block, next)) continue;
        const Way longer = over_edge(graph, way, next);
        if (!seen.insert(longer).second) continue;
        if (!blocks[next].is_place) {
          open.push_back(longer);
          continue;
        }
        Place& place = places_[blocks[next].begin];
        if (place.step(from)) {
          place.steps.back().change = Change::kNotFollowed;
          continue;
        }
        place.steps.push_back({from, longer.change, longer.level});
        if (longer.change != Change::kBeginsAgain) continue;
        Loop* loop = blocks[next].loops[longer.level];
        loop->ambiguous |= latch.try_emplace(loop, from).first->second != from;
      }
    }
  }

  slots_.resize(code.size / 4 + 1);
  for (const auto& [address, place] : places_) {
    Slot& slot = slots_[(address - code.begin) / 4];
    slot.place = &place;
    slot.depth = static_cast<std::uint16_t>(place.loops.size());
    for (const Step& step : place.steps)
      if (step.change == Change::kBeginsAgain && step.level + 1 == place.loops.size() &&
          !place.loops.back()->ambiguous)
        slot.latch = static_cast<std::uint32_t>(step.from - code.begin);
  }
  if (blocks.size() + 1 < kNever) find_quiet_places();
}

std::uintptr_t ControlFlow::entry() const {
  for (const auto& [address, place] : places_)
    if (const Step* step = place.step(0); step && step->change == Change::kNone) return address;
  return 0;
}

void ControlFlow::find_quiet_places() {
  for (const auto& [address, place] : places_) {
    const auto& loops = place.loops;
    const auto is_quiet = [&](const Step& step) {
      if (step.from == 0) return false;
      return step.change == Change::kNone || places_.at(step.from).loops != loops;
    };
    if (std::all_of(place.steps.begin(), place.steps.end(), is_quiet))
      slots_[(address - code_.begin) / 4].quiet = place.loop;
  }
}

}  // namespace cpu

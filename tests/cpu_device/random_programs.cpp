#include "tests/cpu_device/random_programs.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace race_oracle {
namespace {

using cpu::test_kernels::kMostOperations;
using cpu::test_kernels::kMostSegments;

constexpr unsigned kLanes = 32;
constexpr int kSharedBytes = 32;
/// Few enough that a store's value and the atomics after it fit into a byte, which the oracle relies on.
constexpr int kMostStores = 100, kMostAtomics = 150;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed * 2654435761u % 2147483647u) { random_.discard(5); }

  Program program() {
    program_.bytes = 8 * between(1, 4);
    program_.misalignment = one_in(3) ? 4 : 0;
    // Which memory the program uses: the device's, the block's, or both.
    shared_of_8_ = pick({0, 0, 0, 0, 2, 4, 8, 8});
    program_.uses_shared = shared_of_8_ > 0;
    const int launches = one_in(6) ? 2 : 1;
    for (int l = 0; l < launches; ++l) add_launch();
    if (one_in(2))
      for (int changes = between(1, 2); changes > 0; --changes) change_something();
    keep_skips_short();
    widen_stores();
    return program_;
  }

 private:
  // Numbers. std::uniform_int_distribution differs from library to library.
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int between(int least, int most) { return least + below(most - least + 1); }
  bool one_in(int n) { return below(n) == 0; }
  int pick(std::initializer_list<int> choices) {
    return choices.begin()[below(static_cast<int>(choices.size()))];
  }
  template <class T>
  T& any(std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

  Launch& launch() { return program_.launches.back(); }
  int actor_count() { return static_cast<int>(launch().actors.size()); }
  Actor& actor(int a) { return launch().actors[static_cast<std::size_t>(a)]; }

  // Shapes.
  void add_launch() {
    program_.launches.emplace_back();
    Launch& l = launch();
    l.blocks = pick({1, 1, 2, 2, 3});
    l.threads = pick({32, 33, 40, 64, 70});
    operations_ = 0;
    add_actors();
    for (Actor& a : l.actors) a.segments.emplace_back();
    const int patterns = full_warp_ ? 1 : pick({1, 1, 1, 2, 2, 3});
    for (int p = 0; p < patterns; ++p) {
      if (p > 0 && !one_in(4)) barrier();
      add_pattern();
    }
  }

  /// A handful of threads in each warp, or all lanes of one.
  void add_actors() {
    Launch& l = launch();
    full_warp_ = one_in(8);
    if (full_warp_) {
      const int block = below(l.blocks), first = l.threads >= 64 ? pick({0, 32}) : 0;
      for (int lane = 0; lane < 32; ++lane) l.actors.push_back({block, first + lane, {}});
      return;
    }
    const int most = pick({1, 2, 3, 4});
    for (int block = 0; block < l.blocks; ++block)
      for (int first = 0; first < l.threads; first += 32) {
        std::set<int> threads;
        for (int i = between(block == 0 && first == 0 ? 1 : 0, most); i > 0; --i)
          threads.insert(first + below(std::min(32, l.threads - first)));
        for (const int t : threads) l.actors.push_back({block, t, {}});
      }
    if (l.actors.size() > 1) return;
    const int thread = (l.actors[0].thread + 1 + below(l.threads - 1)) % l.threads;
    l.actors.push_back({l.actors[0].block, thread, {}});
  }

  // Operations.
  void add(int a, const Operation& op) {
    if (operations_ == kMostOperations) return;
    ++operations_;
    actor(a).segments.back().push_back(op);
  }
  bool any_space() { return below(8) < shared_of_8_; }
  int bytes(bool shared) const { return shared ? kSharedBytes : program_.bytes; }
  /// An aligned place for `size` bytes.
  int offset(bool shared, int size) {
    const int skew = shared ? 0 : (size - program_.misalignment % size) % size;
    const int count = (bytes(shared) - skew) / size;
    return count > 0 ? skew + size * below(count) : -1;
  }
  int access_size() { return pick({1, 1, 1, 2, 2, 2, 4, 4, 4, 4, 4, 8, 8, 16}); }

  void access(int a, Does does, bool shared, int at, int size) {
    if (at < 0 || at + size > bytes(shared)) return;
    if (does == Does::kStore && stores_ == kMostStores) does = Does::kLoad;
    Operation op = {does, shared, at, size};
    if (does == Does::kStore) op.value = ++stores_;
    add(a, op);
  }
  void load(int a, bool shared, int at, int size) { access(a, Does::kLoad, shared, at, size); }
  void store(int a, bool shared, int at, int size) { access(a, Does::kStore, shared, at, size); }
  void atomic(int a, bool shared, int word) {
    if (atomics_++ < kMostAtomics) access(a, Does::kAtomic, shared, 4 * word, 4);
  }
  void any_access(int a) {
    const bool shared = any_space();
    if (one_in(5)) return atomic(a, shared, below(bytes(shared) / 4));
    const int size = access_size();
    access(a, one_in(3) ? Does::kStore : Does::kLoad, shared, offset(shared, size), size);
  }
  void fence(int a, bool device) {
    Operation op = {};
    op.does = device ? Does::kFence : Does::kFenceBlock;
    add(a, op);
  }
  void skip_unless(int a, int ticket, int count) {
    Operation op = {};
    op.does = Does::kSkipUnless;
    op.value = ticket;
    op.size = count;
    add(a, op);
  }

  bool barrier() {
    if (actor(0).segments.size() == kMostSegments) return false;
    for (Actor& a : launch().actors) a.segments.emplace_back();
    ++launch().segments;
    return true;
  }

  int warp(int a) { return actor(a).block * 100 + actor(a).thread / 32; }
  /// Lanes of a warp meet: all of them, or some.
  void meet(const std::vector<int>& actors) {
    if (actors.empty() || operations_ + static_cast<int>(actors.size()) > kMostOperations) return;
    Operation op = {};
    op.does = static_cast<Does>(static_cast<int>(Does::kSyncWarp) + pick({0, 0, 0, 1, 2}));
    op.meeting = meetings_++;
    for (const int a : actors) op.mask |= 1u << static_cast<unsigned>(actor(a).thread) % kLanes;
    for (const int a : actors) add(a, op);
  }
  std::vector<int> actors_of_warp(int warp_number) {
    std::vector<int> actors;
    for (int a = 0; a < actor_count(); ++a)
      if (warp(a) == warp_number) actors.push_back(a);
    return actors;
  }
  std::vector<int> some_of(std::vector<int> actors) {
    if (one_in(2)) return actors;
    const int keep_of_8 = between(2, 7);
    actors.erase(std::remove_if(actors.begin(), actors.end(), [&](int) { return below(8) >= keep_of_8; }),
                 actors.end());
    return actors;
  }
  void meet_somewhere() { meet(some_of(actors_of_warp(warp(below(actor_count()))))); }

  /// Something that may order the actors: a barrier, meetings of every warp, fences, or nothing.
  void some_order() {
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        barrier();
        return;
      case 3:
      case 4:
      case 5: {
        const bool some = one_in(4);
        std::set<int> warps;
        for (int a = 0; a < actor_count(); ++a) warps.insert(warp(a));
        for (const int w : warps) meet(some ? some_of(actors_of_warp(w)) : actors_of_warp(w));
        return;
      }
      case 6:
        for (int a = 0; a < actor_count(); ++a) fence(a, one_in(2));
        return;
      default:
        return;
    }
  }

  // Patterns: what kernels do, more or less.
  void add_pattern() {
    switch (below(9)) {
      case 0:
        return chaos();
      case 1:
      case 2:
        return owners();
      case 3:
        return readers_and_a_writer();
      case 4:
        return neighbours();
      case 5:
        return tree();
      case 6:
        return flags();
      case 7:
        return last_one();
      default:
        return counters();
    }
  }

  /// A few accesses anywhere.
  void chaos() {
    for (int count = between(2, full_warp_ ? 3 : 6); count > 0; --count) {
      any_access(below(actor_count()));
      if (one_in(3)) meet_somewhere();
      if (one_in(5)) fence(below(actor_count()), one_in(2));
      if (one_in(8)) barrier();
    }
  }

  /// Every byte belongs to one actor, or to all for reading. Where lanes meet, what belongs to them may
  /// change hands; at a barrier, what belongs to a block. Now and then someone forgets that.
  void owners() {
    const int careless = pick({0, 0, 0, 60, 15});
    std::vector<int> owner(static_cast<std::size_t>(program_.bytes + kSharedBytes * launch().blocks));
    const auto any_owner = [&] { return one_in(4) ? -1 : below(actor_count()); };
    const auto byte = [&](bool shared, int block, int at) -> int& {
      return owner[static_cast<std::size_t>(shared ? program_.bytes + kSharedBytes * block + at : at)];
    };
    // Pieces of 4 bytes, some of them cut up.
    for (std::size_t i = 0; i < owner.size(); ++i)
      owner[i] = i % 4 == 0 || one_in(6) ? any_owner() : owner[i - 1];
    for (int round = between(3, full_warp_ ? 40 : 16); round > 0; --round) {
      const int a = below(actor_count());
      if (one_in(6)) {
        const auto lanes = some_of(actors_of_warp(warp(a)));
        meet(lanes);
        for (int& o : owner)
          if (one_in(2) && std::find(lanes.begin(), lanes.end(), o) != lanes.end())
            o = lanes[static_cast<std::size_t>(below(static_cast<int>(lanes.size())))];
      } else if (one_in(12) && barrier()) {
        for (int& o : owner) {
          if (o < 0 && launch().blocks > 1) continue;
          const int next = o < 0 || launch().blocks == 1 ? any_owner() : below(actor_count());
          if (o < 0 || next < 0 || actor(next).block == actor(o).block) o = next;
        }
      } else {
        const bool shared = any_space();
        const int size = access_size();
        const Does does = one_in(2) ? Does::kStore : Does::kLoad;
        for (int tries = 0; tries < 8; ++tries) {
          const int at = offset(shared, size);
          if (at < 0) break;
          bool allowed = true;
          for (int i = 0; i < size; ++i) {
            const int o = byte(shared, actor(a).block, at + i);
            allowed &= o == a || (o < 0 && does == Does::kLoad);
          }
          if (!allowed && !(careless && one_in(careless))) continue;
          access(a, does, shared, at, size);
          break;
        }
      }
    }
  }

  /// Many read, one writes, with something between or nothing.
  void readers_and_a_writer() {
    const bool shared = any_space();
    const int size = access_size(), at = offset(shared, size);
    const int writer = below(actor_count());
    const bool writes_first = one_in(2);
    if (writes_first) store(writer, shared, at, size);
    if (writes_first) some_order();
    const int leave_out_of_8 = pick({0, 2, 5});
    for (int a = 0; a < actor_count(); ++a) {
      if (below(8) < leave_out_of_8) continue;
      const int other_size = one_in(3) ? access_size() : size;
      load(a, shared, other_size == size ? at : offset(shared, other_size), other_size);
    }
    if (writes_first) return;
    some_order();
    if (one_in(3)) some_order();
    store(one_in(4) ? actor_count() - 1 : writer, shared, at, size);
  }

  /// Actor a's element of an array, or -1 where the array ends.
  int element(bool shared, int index, int size) {
    const int at = (shared ? 0 : (size - program_.misalignment % size) % size) + index * size;
    return at + size <= bytes(shared) ? at : -1;
  }

  /// Each writes its own element and reads the next one's.
  void neighbours() {
    const bool shared = any_space(), in_place = one_in(3);
    const int size = pick({1, 1, 2, 2, 4}), step = pick({1, 1, 1, 2});
    if (!in_place) {
      for (int a = 0; a < actor_count(); ++a) store(a, shared, element(shared, a, size), size);
      some_order();
    }
    const bool all = one_in(2);
    for (int a = 0; a < actor_count(); ++a)
      if (all || one_in(2)) load(a, shared, element(shared, a + step, size), size);
    if (one_in(3)) return;
    some_order();
    for (int a = 0; a < actor_count(); ++a)
      if (all || one_in(2)) store(a, shared, element(shared, a, size), size);
  }

  /// x[a] += x[a + stride], with less and less actors.
  void tree() {
    const bool shared = any_space();
    const int size = pick({1, 2, 2, 4});
    const bool meetings = one_in(2), forgets = one_in(2);
    for (int stride = pick({2, 4}); stride > 0; stride /= 2) {
      for (int a = 0; a < actor_count() && a < stride; ++a) {
        load(a, shared, element(shared, a, size), size);
        load(a, shared, element(shared, a + stride, size), size);
        store(a, shared, element(shared, a, size), size);
      }
      if (forgets && one_in(2)) continue;
      if (meetings)
        meet(actors_of_warp(warp(0)));
      else
        barrier();
    }
  }

  /// Data that is handed over by a fence and an atomic, from one to the next.
  void flags() {
    const bool shared_data = any_space(), shared_flag = any_space();
    const int size = access_size(), at = offset(shared_data, size);
    const int flag = below(bytes(shared_flag) / 4);
    std::vector<int> order(static_cast<std::size_t>(actor_count()));
    for (int a = 0; a < actor_count(); ++a) order[static_cast<std::size_t>(a)] = a;
    if (one_in(5)) std::reverse(order.begin(), order.end());
    const int hands = std::min(between(2, 4), actor_count());
    const int fences = pick({0, 0, 0, 1, 1, 2});  // of the device, of the block, a mixture with none
    int left = hands;
    for (const int a : order) {
      if (below(actor_count()) >= hands && !one_in(2)) continue;
      const bool first = left == hands;
      const int my_flag = one_in(10) ? below(bytes(shared_flag) / 4) : flag;
      if (!first || one_in(4)) atomic(a, shared_flag, my_flag);
      if (!first && one_in(5)) skip_unless(a, hands - left - 1, 2);
      const int my_size = one_in(6) ? access_size() : size;
      const int my_at = my_size == size ? at : offset(shared_data, my_size);
      if (!first) load(a, shared_data, my_at, my_size);
      if (first || one_in(2)) store(a, shared_data, my_at, my_size);
      if (one_in(8)) meet(some_of(actors_of_warp(warp(a))));
      if (fences == 0 || !one_in(3)) fence(a, fences == 0 || (fences == 2 && one_in(2)));
      if (one_in(8)) meet(some_of(actors_of_warp(warp(a))));
      const bool other = one_in(4) && actors_of_warp(warp(a)).size() > 1;
      if (other) {  // another lane does the atomic
        const auto lanes = actors_of_warp(warp(a));
        meet(lanes);
        atomic(lanes[0] == a ? lanes[1] : lanes[0], shared_flag, my_flag);
      } else {
        atomic(a, shared_flag, my_flag);
      }
      if (--left == 0) break;
    }
  }

  /// A last-block reduction: each stores, one of each block counts, and who counts last reads all.
  void last_one() {
    const int size = pick({1, 2, 4}), counter = below(program_.bytes / 4);
    const int mistake = pick({0, 0, 0, 0, 1, 2, 3, 4, 5, 6});
    for (int a = 0; a < actor_count(); ++a) {
      store(a, false, element(false, a, size) / 4 == counter ? -1 : element(false, a, size), size);
      const bool fences = mistake == 1 ? false : mistake == 2 ? actor(a).thread % 2 == 0 : true;
      if (fences) fence(a, mistake != 3);
    }
    if (mistake != 4) barrier();
    std::set<int> counted;
    for (int a = 0; a < actor_count(); ++a) {
      if (!counted.insert(actor(a).block).second) continue;
      atomic(a, false, mistake == 5 ? below(program_.bytes / 4) : counter);
      if (mistake != 6) skip_unless(a, launch().blocks - 1, actor_count());
      for (int other = 0; other < actor_count(); ++other) {
        const int at = element(false, other, size);
        load(a, false, at >= 0 && at / 4 == counter ? -1 : at, size);
      }
    }
  }

  /// Atomics on few words, and plain accesses to them that something orders, or nothing.
  void counters() {
    const bool shared = any_space();
    const int word = below(bytes(shared) / 4);
    if (one_in(3)) store(below(actor_count()), shared, 4 * word, pick({2, 4}));
    some_order();
    for (int a = 0; a < actor_count(); ++a)
      for (int count = between(0, 2); count > 0; --count)
        atomic(a, shared, one_in(6) ? below(bytes(shared) / 4) : word);
    if (one_in(3)) fence(below(actor_count()), one_in(2));
    if (one_in(2)) return;
    some_order();
    load(below(actor_count()), shared, 4 * word, pick({1, 2, 4}));
  }

  // Changes: kernels that are nearly right.
  void change_something() {
    const auto all = places(program_);
    if (all.empty()) return;
    const Place place = all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    auto& segment = program_.launches[static_cast<std::size_t>(place.launch)]
                        .actors[static_cast<std::size_t>(place.actor)]
                        .segments[static_cast<std::size_t>(place.segment)];
    Operation& op = segment[static_cast<std::size_t>(place.index)];
    switch (op.does) {
      case Does::kLoad:
      case Does::kStore:
        if (one_in(3)) {
          const int size = access_size(), at = offset(op.shared, size);
          if (at < 0) return;
          op.offset = at;
          op.size = size;
        } else if (op.does == Does::kLoad && one_in(2) && stores_ < kMostStores) {
          op.does = Does::kStore;
          op.value = ++stores_;
        } else if (op.does == Does::kStore && one_in(2)) {
          op.does = Does::kLoad;
        } else {
          program_ = without(program_, place);
        }
        return;
      case Does::kAtomic:
        if (one_in(2))
          op.offset = 4 * below(bytes(op.shared) / 4);
        else
          op.does = Does::kLoad;
        return;
      case Does::kFence:
        op.does = Does::kFenceBlock;
        return;
      case Does::kFenceBlock:
      case Does::kSyncWarp:
      case Does::kShuffle:
      case Does::kBallot:
        program_ = without(program_, place);
        return;
      case Does::kSkipUnless:
        op.value = below(3);
        return;
    }
  }

  /// A thread may skip accesses, but nothing that other lanes wait for.
  void keep_skips_short() {
    for (Launch& l : program_.launches)
      for (Actor& a : l.actors)
        for (auto& segment : a.segments)
          for (std::size_t i = 0; i < segment.size(); ++i) {
            if (segment[i].does != Does::kSkipUnless) continue;
            std::size_t end = i + 1;
            const auto skipped = [](Does does) { return does == Does::kLoad || does == Does::kStore; };
            while (end < segment.size() && skipped(segment[end].does)) ++end;
            segment[i].size = std::min(segment[i].size, static_cast<int>(end - i - 1));
          }
  }

  /// The lowest byte of a word counts its atomics, from which the oracle tells their order when there are
  /// fences: then a store to that byte alone becomes one of the whole word.
  void widen_stores() {
    std::set<std::pair<bool, int>> words;
    bool fences = false;
    for (const Place& place : places(program_)) {
      const Operation& op = operation_at(program_, place);
      if (op.does == Does::kAtomic) words.insert({op.shared, op.offset});
      fences |= op.does == Does::kFence || op.does == Does::kFenceBlock;
    }
    if (!fences) return;
    for (Launch& l : program_.launches)
      for (Actor& a : l.actors)
        for (auto& segment : a.segments)
          for (Operation& op : segment)
            if (op.does == Does::kStore && op.size < 4 && words.count({op.shared, op.offset})) op.size = 4;
  }

  std::minstd_rand random_;
  Program program_;
  int shared_of_8_ = 0;
  bool full_warp_ = false;
  int operations_ = 0, stores_ = 0, atomics_ = 0, meetings_ = 0;
};

}  // namespace

Program random_program(unsigned seed) { return Generator(seed).program(); }

std::vector<Place> places(const Program& program) {
  std::vector<Place> places;
  for (std::size_t l = 0; l < program.launches.size(); ++l)
    for (std::size_t a = 0; a < program.launches[l].actors.size(); ++a) {
      const auto& segments = program.launches[l].actors[a].segments;
      for (std::size_t s = 0; s < segments.size(); ++s)
        for (std::size_t i = 0; i < segments[s].size(); ++i)
          places.push_back(
              {static_cast<int>(l), static_cast<int>(a), static_cast<int>(s), static_cast<int>(i)});
    }
  return places;
}

Program without(const Program& program, const Place& place) {
  Program next = program;
  const int meeting = operation_at(program, place).meeting;
  Launch& launch = next.launches[static_cast<std::size_t>(place.launch)];
  for (std::size_t a = 0; a < launch.actors.size(); ++a) {
    if (meeting < 0 && static_cast<int>(a) != place.actor) continue;
    auto& segment = launch.actors[a].segments[static_cast<std::size_t>(place.segment)];
    for (std::size_t i = 0; i < segment.size(); ++i) {
      if (meeting < 0 ? static_cast<int>(i) != place.index : segment[i].meeting != meeting) continue;
      for (std::size_t j = 0; j < i; ++j)
        if (segment[j].does == Does::kSkipUnless && i - j <= static_cast<std::size_t>(segment[j].size))
          --segment[j].size;
      segment.erase(segment.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  return next;
}

std::vector<Program> smaller_programs(const Program& program) {
  std::vector<Program> smaller;
  for (std::size_t l = 0; l < program.launches.size(); ++l) {
    if (program.launches.size() > 1) {
      smaller.push_back(program);
      smaller.back().launches.erase(smaller.back().launches.begin() + static_cast<std::ptrdiff_t>(l));
    }
    for (int s = 0; s + 1 < program.launches[l].segments; ++s) {
      smaller.push_back(program);
      Launch& launch = smaller.back().launches[l];
      --launch.segments;
      for (Actor& actor : launch.actors) {
        const auto joined = actor.segments.begin() + s, next = joined + 1;
        joined->insert(joined->end(), next->begin(), next->end());
        actor.segments.erase(next);
      }
    }
  }
  for (const Place& place : places(program)) smaller.push_back(without(program, place));
  return smaller;
}

}  // namespace race_oracle

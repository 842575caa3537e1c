/// \file
/// Finds races: two threads that access the same byte, at least one of them writes, not both by atomics, and
/// neither access happens before the other (happens_before.hpp).
///
/// It finds the races of the order in which the device has run the threads. In another order of their
/// atomics, others may appear.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cpu_device/access.hpp"
#include "cpu_device/memory/access_sites.hpp"
#include "cpu_device/memory/shared_shadow.hpp"
#include "cpu_device/memory/word_history.hpp"
#include "cpu_device/races/happens_before.hpp"
#include "cpu_device/races/race_findings.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {

/// Belongs to one block at a time. It reads and writes the histories of arrays, which all blocks share.
class RaceCheck {
 public:
  RaceCheck(const LaunchState& launch, SharedShadow& shadow, const Sites& sites)
      : launch_(launch), shadow_(shadow), sites_(sites) {}

  /// Starts a launch of a GPU that runs alone.
  void begin_launch();
  /// Starts one of a GPU that runs beside others. `first`: no launch of this GPU was before it.
  void begin_launch(const GpuLaunches& launches, bool first);
  /// Uses what `other` knows of device memory, from now on.
  void share(RaceCheck& other);
  /// Forgets all accesses to device memory.
  void forget();
  /// Starts the block with that number in the grid.
  void begin_block(std::size_t block);
  /// All threads of the block have come to a barrier.
  void pass_barrier();
  void sync_warp(unsigned first_thread, std::uint32_t lanes, bool orders_memory) {
    if (!on_) return;
    order_.sync_warp(first_thread, lanes, orders_memory);
    if (!order_.has_moments()) pause();
  }
  void fence(unsigned thread, Scope scope) {
    if (!on_) return;
    order_.fence(thread, scope);
    if (!order_.has_moments()) pause();
  }
  /// All threads of the block have ended.
  void end_block() {
    report_suspects();
    order_.end_block();
  }

  /// Whether the grid is small enough, and the block's moments have sufficed so far.
  bool is_on() const { return on_; }

  /// Checks an access of that thread of the block and records it, under the number of its instruction.
  /// `words` are the histories from the word at its address on. Stops the launch at a race.
  void check(Access access, bool shared, WordHistory* words, unsigned thread, std::uint8_t site);
  /// Does the usual cases of a plain access to `count` whole words. Returns false for all others: `check`
  /// must do them.
  [[gnu::always_inline]] bool check_quickly(WordHistory* words, bool shared, unsigned count, unsigned thread,
                                            Role role, std::uint8_t site) const {
    const std::uint32_t mine = (order_.first_thread() + thread + 1) << 4 | 0xf;
    const Moment now = order_.now(thread);
    for (unsigned w = 0; w < count; ++w)
      if (!record_quickly(words[w], shared, mine, role, now, site)) return false;
    return true;
  }

  /// A thread has made its next step since a store that raced with another one: both may have stored the same
  /// value.
  void settle_store();
  /// Whether there is such a store.
  bool has_open_store() const { return open_store_.has_value(); }

 private:
  /// The access that is being checked, as far as it concerns one word.
  struct Part {
    Access access;
    WordHistory& word;
    std::uint32_t thread;  ///< in the grid
    std::uint8_t bytes;    ///< of the word, a bit each
    Role role;
    std::uint8_t site;
    bool shared;
  };
  using Groups = std::vector<AccessGroup>;

  using MoreGroups = std::unordered_map<const WordHistory*, Groups>;

  bool grid_is_small() const {
    return (launch_.first_block + launch_.blocks()) * launch_.numbers_per_block <= kMostTracedThreads;
  }
  void pause();
  bool record_quickly(WordHistory& word, bool shared, std::uint32_t mine, Role role, Moment now,
                      std::uint8_t site) const;
  bool adds_nothing(const WordHistory& word, bool shared, std::uint32_t mine) const;
  void check_slowly(const Part& part);
  void confirm_guess(const Access& access, bool shared, WordHistory* words, unsigned thread);
  void start_moments_again();
  void check_strong(Access access, bool shared, WordHistory* words, unsigned thread, std::uint8_t site);
  void check_words(Access access, bool shared, WordHistory* words, unsigned thread, Role role,
                   std::uint8_t site);

  /// The slow way: all that is known of a word, as a list. The next call overwrites it.
  Groups& unpacked(const WordHistory& word, bool shared);
  void pack(const Groups& groups, WordHistory& word, bool shared);
  MoreGroups& more(bool shared) { return shared ? more_shared_ : *more_global_; }
  void compare(const Part& part, const AccessGroup& earlier);
  Ordered order_of(const Part& part, const AccessGroup& earlier, std::uint32_t* thread) const;
  void add_write(Groups& groups, const AccessGroup& now) const;
  void add_to_set(Groups& groups, const AccessGroup& now, const Part& part) const;
  bool joins(AccessGroup& group, const AccessGroup& now) const;
  bool continues(AccessGroup& group, const AccessGroup& next) const;
  void limit(Groups& groups, const AccessGroup& now) const;
  bool is_covered(const Groups& groups, const AccessGroup& group, const AccessGroup& now) const;
  std::uint32_t block_of(std::uint32_t thread) const { return thread / launch_.numbers_per_block; }
  bool is_current(std::uint32_t thread) const { return thread - order_.first_thread() < order_.threads(); }

  // Races that may turn out to be none.
  Race race_of(const Part& part, const AccessGroup& earlier, std::uint32_t earlier_thread) const;
  void race(const Part& part, const AccessGroup& earlier, std::uint32_t earlier_thread);
  void open_store(const Race& race);
  void report_suspects();

  /// A store that races with another one, before it has taken place.
  struct OpenStore {
    Race race;
    unsigned char before[16];  ///< what was there
  };
  /// A plain read that races with an atomic: a race unless its thread does a compare-and-swap there.
  struct Suspect {
    std::uint32_t reader;
    Race race;
  };

  const LaunchState& launch_;
  SharedShadow& shadow_;
  const Sites& sites_;
  bool on_ = false;
  HappensBefore order_;
  // Groups that a history has no room for.
  std::shared_ptr<MoreGroups> more_global_ = std::make_shared<MoreGroups>();
  MoreGroups more_shared_;
  Groups unpacked_, left_;  // of the word that is being checked; kept since allocations take long
  std::optional<OpenStore> open_store_;
  std::vector<Suspect> suspects_;
};

// Inline because every access comes here.

/// Does the usual cases: no one else has come to the word since the last barrier but readers at even
/// distances. Returns false for all others, and for races.
[[gnu::always_inline]] inline bool RaceCheck::record_quickly(WordHistory& word, bool shared,
                                                             std::uint32_t mine, Role role, Moment now,
                                                             std::uint8_t site) const {
  if (word.flags | word.other) return false;
  const std::uint32_t first = order_.first_thread() + 1, threads = order_.threads();
  const Moment phase = order_.phase();
  const auto is_ours = [&](std::uint32_t thread_and_bytes) {  // in shared memory, all are
    return shared || (thread_and_bytes >> 4) - first < threads;
  };
  if (word.writer && (word.writer ^ mine) >= 16 && !(is_ours(word.writer) && word.writer_moment < phase))
    return false;
  if (role == Role::kRead) {
    if (!word.reader ||
        (is_ours(word.reader) && word.reader_moment < phase && !(word.reader & ~mine & 0xf))) {
      word.reader = mine;
      word.reader_moment = now;
      word.readers = 0;
      word.reader_site = site;
      return true;
    }
    if (!is_ours(word.reader)) return !order_.is_intricate() && !(mine & ~word.reader & 0xf);
    if (word.reader_moment != now || (word.reader ^ mine) & 0xf) return false;
    const std::uint32_t distance = (mine - word.reader) >> 4, count = word.readers & WordHistory::kCount;
    if (count == 0) {
      if (distance == 0) return true;
      if (distance > 512 || distance & (distance - 1)) return false;  // not std::has_single_bit: a call
      word.readers = static_cast<std::uint16_t>(1 | std::countr_zero(distance) << WordHistory::kStrideShift);
      return true;
    }
    const unsigned stride = word.readers >> WordHistory::kStrideShift;
    if (distance == count << stride) return true;
    if (distance != (count + 1) << stride) return false;
    ++word.readers;
    return true;
  }
  if (role != Role::kWrite || word.writer & ~mine & 0xf || word.reader & ~mine & 0xf) return false;
  if (word.reader && !(is_ours(word.reader) && word.reader_moment < phase) &&
      ((word.reader ^ mine) >= 16 || word.readers))
    return false;
  word.writer = mine;
  word.writer_moment = now;
  word.writer_site = site;
  word.reader = 0;
  return true;
}

}  // namespace cpu

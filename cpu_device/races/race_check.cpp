#include "cpu_device/races/race_check.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu_device/findings/end_launch.hpp"
#include "cpu_device/findings/notes.hpp"
#include "cpu_device/memory/memory.hpp"
#include "cpu_device/races/race_findings.hpp"
#include "cpu_device/running_thread.hpp"

namespace cpu {
namespace {

bool race_by_role(Role one, Role other) {
  if (one == Role::kWrite || other == Role::kWrite) return true;
  return one != other;  // a plain read and an atomic
}

}  // namespace

// --- The course of a launch ---

void RaceCheck::forget() {
  order_.forget_atomics();
  more_global_->clear();
}

void RaceCheck::begin_launch() {
  order_.begin_launch();
  forget();
  more_shared_.clear();
  open_store_.reset();
  suspects_.clear();
}

void RaceCheck::begin_launch(const GpuLaunches& launches, bool first) {
  order_.begin_launch(launches, first);
  more_shared_.clear();
  open_store_.reset();
  suspects_.clear();
}

void RaceCheck::share(RaceCheck& other) {
  order_.share(other.order_);
  more_global_ = other.more_global_;
}

void RaceCheck::begin_block(std::size_t block) {
  on_ = grid_is_small();
  if (!on_) return;
  order_.begin_block(static_cast<std::uint32_t>((launch_.first_block + block) * launch_.numbers_per_block),
                     launch_.threads_per_block, launch_.numbers_per_block);
  more_shared_.clear();
}

void RaceCheck::pass_barrier() {
  report_suspects();
  on_ = grid_is_small();
  if (!on_) return;
  order_.pass_barrier();
  if (!order_.has_moments()) start_moments_again();
}

/// There are no more moments until the next barrier: accesses go unchecked and unrecorded, so blocks that run
/// on several cores could not be compared.
void RaceCheck::pause() {
  on_ = false;
  need_block_order();
}

/// Everything that the block did so far happened before all that follows, so it moves to moment 0.
void RaceCheck::start_moments_again() {
  const auto forget = [&](WordHistory& word) {
    if (word.writer && is_current((word.writer >> 4) - 1)) word.writer_moment = 0;
    if (word.reader && is_current((word.reader >> 4) - 1)) word.reader_moment = 0;
    if (word.other && is_current((word.other >> 4) - 1)) word.other_moment = 0;
  };
  for (const auto& buffer : memory().buffers())
    buffer->seen_by(running().worker).last_accesses.for_each(launch_.number, forget);
  shadow_.for_each(forget);
  for (auto* all : {more_global_.get(), &more_shared_})
    for (auto& [word, groups] : *all)
      for (AccessGroup& group : groups)
        if (is_current(group.first)) group.moment = 0;
  order_.restart_moments();
}

// --- Accesses ---

void RaceCheck::check_words(Access access, bool shared, WordHistory* words, unsigned thread, Role role,
                            std::uint8_t site) {
  const std::uint32_t me = order_.first_thread() + thread;
  const unsigned size = access.size, count = (size + 3) / 4;
  const std::uint32_t whole = size >= 4 ? 0xfu : ((1u << size) - 1) << access.address % 4;
  const std::uint32_t last = size > 4 && size % 4 != 0 ? (1u << size % 4) - 1 : whole;
  const Moment now = order_.now(thread);
  for (unsigned w = 0; w < count; ++w) {
    const std::uint32_t bytes = w + 1 == count ? last : whole;
    const std::uint32_t mine = (me + 1) << 4 | bytes;
    if (!record_quickly(words[w], shared, mine, role, now, site) &&
        !(role == Role::kRead && adds_nothing(words[w], shared, mine)))
      check_slowly({access, words[w], me, static_cast<std::uint8_t>(bytes), role, site, shared});
  }
}

/// Whether a read need not be noted: whoever has written the word did so before it, its readers suffice, and
/// a block before this one has read these bytes, or two warps have since the last barrier. A write that races
/// with this read races with one of theirs.
bool RaceCheck::adds_nothing(const WordHistory& word, bool shared, std::uint32_t mine) const {
  constexpr unsigned kElements = 3u << WordHistory::kReaderElement;
  if (!(word.flags & WordHistory::kReadersSuffice) || word.flags & kElements) return false;
  if (order_.is_intricate() || !word.reader || !word.other) return false;
  if (mine & ~(word.reader & word.other) & 0xf) return false;
  const auto thread = [](std::uint32_t reader) { return (reader >> 4) - 1; };
  const auto is_ours = [&](std::uint32_t reader) { return shared || is_current(thread(reader)); };
  if (word.writer && (word.writer ^ mine) >= 16 &&
      !(is_ours(word.writer) && word.writer_moment < order_.phase()))
    return false;
  if (!is_ours(word.reader) || !is_ours(word.other)) return true;
  return thread(word.reader) / kWarpSize != thread(word.other) / kWarpSize &&
         word.reader_moment >= order_.phase() && word.other_moment >= order_.phase();
}

void RaceCheck::check(Access access, bool shared, WordHistory* words, unsigned thread, std::uint8_t site) {
  if (access.kind == AccessKind::kAtomic || access.manner != AccessManner::kPlain)
    return check_strong(access, shared, words, thread, site);
  check_words(access, shared, words, thread, access.kind == AccessKind::kLoad ? Role::kRead : Role::kWrite,
              site);
}

static HappensBefore::Effect effect_of(const Access& access) {
  if (access.kind == AccessKind::kStore) return HappensBefore::Effect::kReleases;
  if (access.kind == AccessKind::kAtomic) return HappensBefore::Effect::kBoth;
  return access.manner == AccessManner::kAcquire ? HappensBefore::Effect::kAcquires
                                                 : HappensBefore::Effect::kObserves;
}

void RaceCheck::check_strong(Access access, bool shared, WordHistory* words, unsigned thread,
                             std::uint8_t site) {
  if (!shared) need_block_order();
  const bool is_volatile = access.manner == AccessManner::kVolatile;
  if (is_volatile && access.kind == AccessKind::kStore && !order_.has_fence(thread))
    return check_words(access, shared, words, thread, Role::kWrite, site);
  if (access.manner == AccessManner::kCompareAndSwap) confirm_guess(access, shared, words, thread);
  // Strong loads and stores are for all GPUs (PTX ISA, 8.4, Volatile Operations).
  const Scope scope = access.kind == AccessKind::kAtomic ? access.scope : Scope::kSystem;
  order_.begin_strong(thread, access.address, shared, scope, effect_of(access));
  check_words(access, shared, words, thread, Role::kStrong, site);
  if (access.kind != AccessKind::kLoad) order_.end_release(thread);
  if (!order_.has_moments()) pause();
}

void RaceCheck::check_slowly(const Part& part) {
  Groups& groups = unpacked(part.word, part.shared);
  for (const AccessGroup& earlier : groups)
    if (earlier.bytes & part.bytes && race_by_role(earlier.role, part.role)) compare(part, earlier);
  AccessGroup now = {.first = part.thread,
                     .moment = order_.now(part.thread - order_.first_thread()),
                     .bytes = part.bytes,
                     .role = part.role,
                     .site = part.site};
  if (part.role == Role::kWrite) {
    add_write(groups, now);
  } else {
    add_to_set(groups, now, part);
  }
  pack(groups, part.word, part.shared);
}

/// How the part's access is ordered after those of a group; the worst of them, and whose it is.
Ordered RaceCheck::order_of(const Part& part, const AccessGroup& earlier, std::uint32_t* thread) const {
  if (earlier.blocks == 1 && is_current(earlier.first) && earlier.moment < order_.phase())
    return Ordered::kYes;
  Ordered worst = Ordered::kYes;
  for (unsigned block = 0; block < earlier.blocks; ++block)
    for (unsigned i = 0; i < earlier.threads; ++i) {
      const std::uint32_t other =
          earlier.first + block * earlier.block_stride * launch_.numbers_per_block + i * earlier.stride;
      if (other == part.thread || !(earlier.bytes_of(i) & part.bytes)) continue;
      const Ordered ordered = order_.before(other, earlier.moment, part.thread - order_.first_thread());
      if (ordered <= worst) continue;
      worst = ordered;
      *thread = other;
      if (worst == Ordered::kNo) return worst;
    }
  return worst;
}

void RaceCheck::compare(const Part& part, const AccessGroup& earlier) {
  std::uint32_t thread = 0;
  switch (order_of(part, earlier, &thread)) {
    case Ordered::kYes:
      return;
    case Ordered::kByShuffle:
      if (!is_noted("order by a shuffle", part.access.instruction))
        note(ordered_by_shuffle(race_of(part, earlier, thread)));
      return;
    case Ordered::kNo:
      return race(part, earlier, thread);
  }
}

// --- Races that may turn out to be none ---

Race RaceCheck::race_of(const Part& part, const AccessGroup& earlier, std::uint32_t earlier_thread) const {
  const GpuLaunches* const launches = running().gpu_launches;
  const Sites* sites = &sites_;  // where the earlier access is numbered; null when its launch has ended
  if (!part.shared && launches) {
    const GpuLaunch& launch = launches->of_thread(earlier_thread);
    sites = launches->is_last(launch) ? launch.sites : nullptr;
  }
  return {part.access, part.shared, part.thread, earlier_thread,
          sites ? sites->numbered(earlier.site) : nullptr};
}

void RaceCheck::race(const Part& part, const AccessGroup& earlier, std::uint32_t earlier_thread) {
  const Race race = race_of(part, earlier, earlier_thread);
  if (part.role == Role::kWrite && earlier.role == Role::kWrite) {
    open_store(race);
  } else if (part.role == Role::kRead && earlier.role == Role::kStrong) {
    suspects_.push_back({part.thread, race});
  } else if (part.role == Role::kStrong && earlier.role == Role::kRead && is_current(earlier_thread)) {
    suspects_.push_back({earlier_thread, race});
  } else {
    stop_or_note(race_between(race));
  }
}

/// Two threads store to one place: a race, unless they store the same.
void RaceCheck::open_store(const Race& race) {
  if (open_store_) return;  // of the same access, another word
  open_store_ = {race, {}};
  std::memcpy(open_store_->before, reinterpret_cast<const void*>(race.access.address), race.access.size);
}

void RaceCheck::settle_store() {
  if (!open_store_) return;
  const OpenStore store = *std::exchange(open_store_, std::nullopt);
  const Access& access = store.race.access;
  if (std::memcmp(store.before, reinterpret_cast<const void*>(access.address), access.size) != 0)
    return stop_or_note(race_between(store.race));
  if (!is_noted("same value stored by several threads", access.instruction))
    note(same_value_stored(store.race));
}

/// A loop such as `old = *x; do assumed = old; while ((old = atomicCAS(x, assumed, f(assumed))) != assumed)`
/// begins with a plain read, and is right whatever that read returns.
void RaceCheck::confirm_guess(const Access& access, bool shared, WordHistory* words, unsigned thread) {
  const std::uint32_t me = order_.first_thread() + thread;
  std::erase_if(suspects_, [&](const Suspect& suspect) {
    return suspect.reader == me && suspect.race.access.address == access.address;
  });
  for (unsigned w = 0; w < access.size / 4; ++w) {
    Groups& groups = unpacked(words[w], shared);
    for (std::size_t i = 0; i < groups.size();) {
      AccessGroup& group = groups[i];
      const bool is_last = group.role == Role::kRead && group.blocks == 1 && !group.element &&
                           group.first + (group.threads - 1u) * group.stride == me;
      if (is_last && --group.threads == 0) {
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    pack(groups, words[w], shared);
  }
}

void RaceCheck::report_suspects() {
  const std::vector<Suspect> suspects = std::exchange(suspects_, {});
  for (const Suspect& suspect : suspects) throw_or_note(race_between(suspect.race));
}

}  // namespace cpu

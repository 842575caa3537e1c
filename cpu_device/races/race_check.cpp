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

// Groups of a word that are kept. Of more, where no fence has been passed, two of different warps will do:
// whoever races with one that is dropped races with one of these.
constexpr std::size_t kManyGroups = 8, kMostGroups = 64;

/// The bytes that thread number i of a group accesses.
std::uint8_t bytes_of(const AccessGroup& group, unsigned i) {
  if (!group.element) return group.bytes;
  const unsigned lowest = static_cast<unsigned>(std::countr_zero(group.bytes));
  return static_cast<std::uint8_t>(((1u << group.element) - 1) << (lowest + i * group.element));
}

bool race_by_role(Role one, Role other) {
  if (one == Role::kWrite || other == Role::kWrite) return true;
  return one != other;  // a plain read and an atomic
}

bool is_single(const AccessGroup& group) { return group.threads == 1 && group.blocks == 1; }

/// Takes bytes away from the group at `index`; a group of elements may become several. Returns how many
/// groups there are in its place.
std::size_t remove_bytes(std::vector<AccessGroup>& groups, std::size_t index, std::uint8_t bytes) {
  const AccessGroup group = groups[index];
  const auto left = static_cast<std::uint8_t>(group.bytes & ~bytes);
  if (left == group.bytes) return 1;
  const auto at = groups.begin() + static_cast<std::ptrdiff_t>(index);
  if (left && !group.element) {
    at->bytes = left;
    return 1;
  }
  std::vector<AccessGroup> parts;
  for (unsigned i = 0; left && i < group.threads; ++i) {
    const auto own = static_cast<std::uint8_t>(bytes_of(group, i) & left);
    if (!own) continue;
    AccessGroup part = group;
    part.first = group.first + i * group.stride;
    part.threads = 1;
    part.element = 0;
    part.bytes = own;
    parts.push_back(part);
  }
  groups.insert(groups.erase(at), parts.begin(), parts.end());
  return parts.size();
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
      if (other == part.thread || !(bytes_of(earlier, i) & part.bytes)) continue;
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

// --- The history as a list ---

RaceCheck::Groups& RaceCheck::unpacked(const WordHistory& word, bool shared) {
  Groups& groups = unpacked_;
  groups.clear();
  if (word.flags & WordHistory::kMore) groups = more(shared)[&word];
  if (word.writer) {
    AccessGroup group = {.first = (word.writer >> 4) - 1,
                         .moment = word.writer_moment,
                         .bytes = static_cast<std::uint8_t>(word.writer & 0xf),
                         .role = Role::kWrite,
                         .site = word.writer_site};
    group.element = word.flags >> WordHistory::kWriterElement & 3;
    if (group.element) group.threads = static_cast<std::uint16_t>(std::popcount(group.bytes) / group.element);
    groups.push_back(group);
  }
  if (word.other)
    groups.push_back({.first = (word.other >> 4) - 1,
                      .moment = word.other_moment,
                      .bytes = static_cast<std::uint8_t>(word.other & 0xf),
                      .role = word.flags & WordHistory::kOtherStrong ? Role::kStrong : Role::kRead,
                      .site = word.other_site});
  if (word.reader) {
    AccessGroup group = {.first = (word.reader >> 4) - 1,
                         .moment = word.reader_moment,
                         .bytes = static_cast<std::uint8_t>(word.reader & 0xf),
                         .role = word.flags & WordHistory::kReaderStrong ? Role::kStrong : Role::kRead,
                         .site = word.reader_site};
    group.element = word.flags >> WordHistory::kReaderElement & 3;
    group.threads = static_cast<std::uint16_t>((word.readers & WordHistory::kCount) + 1);
    group.stride = static_cast<std::uint16_t>(1 << (word.readers >> WordHistory::kStrideShift));
    groups.push_back(group);
  }
  return groups;
}

void RaceCheck::pack(const Groups& groups, WordHistory& word, bool shared) {
  const bool had_more = word.flags & WordHistory::kMore;
  const auto of_role = [&](Role role) {
    return std::count_if(groups.begin(), groups.end(), [&](const auto& g) { return g.role == role; });
  };
  const bool suffice = !order_.is_intricate() && of_role(Role::kRead) > 1 && of_role(Role::kStrong) == 0 &&
                       of_role(Role::kWrite) <= 1;
  word = {};
  if (suffice) word.flags = WordHistory::kReadersSuffice;
  Groups& left = left_;
  left.clear();
  // Two readers of different warps tell most.
  const auto tells_more = [&](const AccessGroup& group) {
    return !suffice || !word.reader || ((word.reader >> 4) - 1) / kWarpSize != group.first / kWarpSize;
  };
  // And of each of these, one thread.
  const auto is_told_by_one = [&](const AccessGroup& group) {
    return is_single(group) ||
           (suffice && group.blocks == 1 && !group.element && !(group.bytes & ~word.reader & 0xf));
  };
  const auto thread_and_bytes = [](const AccessGroup& group) { return (group.first + 1) << 4 | group.bytes; };
  // The newest reader has the best place, since the next one usually continues its group.
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    const bool strong = group->role == Role::kStrong, fits = group->blocks == 1;
    if (group->role == Role::kWrite && !word.writer && fits) {
      word.writer = thread_and_bytes(*group);
      word.writer_moment = group->moment;
      word.writer_site = group->site;
      word.flags |= static_cast<std::uint8_t>(group->element << WordHistory::kWriterElement);
    } else if (group->role != Role::kWrite && !word.reader && fits && std::has_single_bit(group->stride)) {
      word.reader = thread_and_bytes(*group);
      word.reader_moment = group->moment;
      word.reader_site = group->site;
      word.readers = static_cast<std::uint16_t>((group->threads - 1) | std::countr_zero(group->stride)
                                                                           << WordHistory::kStrideShift);
      word.flags |= static_cast<std::uint8_t>(group->element << WordHistory::kReaderElement |
                                              (strong ? WordHistory::kReaderStrong : 0));
    } else if (group->role != Role::kWrite && !word.other && is_told_by_one(*group) && tells_more(*group)) {
      word.other = thread_and_bytes(*group);
      word.other_moment = group->moment;
      word.other_site = group->site;
      if (strong) word.flags |= WordHistory::kOtherStrong;
    } else {
      left.push_back(*group);
    }
  }
  if (!left.empty()) {
    word.flags |= WordHistory::kMore;
    more(shared)[&word].assign(left.rbegin(), left.rend());
  } else if (had_more) {
    more(shared).erase(&word);
  }
}

/// Makes `now` part of a group, if it is one more of the same accesses.
bool RaceCheck::joins(AccessGroup& group, const AccessGroup& now) const {
  if (group.role != now.role || group.moment != now.moment || group.blocks != 1 ||
      block_of(group.first) != block_of(now.first))
    return false;
  if (group.threads == 1 && group.first == now.first) {
    group.bytes |= now.bytes;
    return true;
  }
  const unsigned size = static_cast<unsigned>(std::popcount(now.bytes));
  const bool elements = group.element == size || (group.threads == 1 && size < 4 &&
                                                  std::popcount(group.bytes) == static_cast<int>(size));
  if (elements && now.first == group.first + group.threads) {
    AccessGroup longer = group;
    longer.element = static_cast<std::uint8_t>(size);
    if (bytes_of(longer, group.threads) == now.bytes) {
      longer.stride = 1;
      longer.bytes |= now.bytes;
      ++longer.threads;
      group = longer;
      return true;
    }
  }
  if (group.role == Role::kWrite || group.element || group.bytes != now.bytes || now.first <= group.first)
    return false;
  const std::uint32_t distance = now.first - group.first;
  if (group.threads == 1 && distance <= 512 && std::has_single_bit(distance)) {
    group.stride = static_cast<std::uint16_t>(distance);
  } else if (distance == std::uint32_t{group.stride} * (group.threads - 1u)) {
    return true;  // again
  } else if (group.threads == 1 || distance != std::uint32_t{group.stride} * group.threads) {
    return false;
  }
  ++group.threads;
  return true;
}

/// A write that comes after all accesses of its bytes: whoever comes after it comes after them.
void RaceCheck::add_write(Groups& groups, const AccessGroup& now) const {
  for (std::size_t i = 0; i < groups.size();) i += remove_bytes(groups, i, now.bytes);
  for (AccessGroup& group : groups)
    if (joins(group, now)) return;
  groups.push_back(now);
}

/// A read or an atomic: it does not take the place of others that are not ordered before it.
void RaceCheck::add_to_set(Groups& groups, const AccessGroup& now, const Part& part) const {
  // An earlier one that is ordered before this one: whoever comes after this one comes after that as well.
  // Not so of atomics that release: one may be visible elsewhere without the other.
  if (part.role == Role::kRead || !order_.is_intricate()) {
    std::uint32_t other = 0;
    std::erase_if(groups, [&](const AccessGroup& group) {
      return group.role == now.role && !(group.bytes & ~now.bytes) && group.moment != now.moment &&
             order_of(part, group, &other) == Ordered::kYes;
    });
  }
  for (AccessGroup& group : groups)
    if (joins(group, now)) return;
  if (!order_.is_intricate() && std::any_of(groups.begin(), groups.end(), [&](const AccessGroup& group) {
        return group.role == now.role && !is_current(group.first) && !(now.bytes & ~group.bytes);
      }))
    return;  // nothing can come after that group any more
  limit(groups, now);
  groups.push_back(now);
}

/// Makes room for `now`.
void RaceCheck::limit(Groups& groups, const AccessGroup& now) const {
  if (order_.is_intricate()) {
    // The same in block after block: one group.
    for (std::size_t i = 0; i + 1 < groups.size(); ++i)
      while (i + 1 < groups.size() && continues(groups[i], groups[i + 1]))
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i + 1));
    if (groups.size() >= kMostGroups) groups.erase(groups.begin());
    return;
  }
  if (groups.size() < kManyGroups) return;
  const auto unneeded = std::find_if(groups.begin(), groups.end(), [&](const AccessGroup& group) {
    return group.role == now.role && is_covered(groups, group, now);
  });
  if (unneeded != groups.end()) groups.erase(unneeded);
}

/// Whether two others of the same role, of different warps, have the group's bytes.
bool RaceCheck::is_covered(const Groups& groups, const AccessGroup& group, const AccessGroup& now) const {
  if (group.bytes & ~now.bytes) return false;
  const auto warp = [](const AccessGroup& g) { return g.first / kWarpSize; };
  return std::any_of(groups.begin(), groups.end(), [&](const AccessGroup& other) {
    return &other != &group && other.role == group.role && !other.element && !(group.bytes & ~other.bytes) &&
           warp(other) != warp(now);
  });
}

/// Adds `next` to a group of the same accesses in earlier blocks.
bool RaceCheck::continues(AccessGroup& group, const AccessGroup& next) const {
  if (next.blocks != 1 || is_current(next.first) || group.role != next.role ||
      group.threads != next.threads || group.stride != next.stride || group.moment != next.moment ||
      group.bytes != next.bytes || group.element != next.element || next.first <= group.first)
    return false;
  const std::uint32_t distance = next.first - group.first, in_block = launch_.numbers_per_block;
  if (distance % in_block != 0) return false;
  if (group.blocks == 1) group.block_stride = distance / in_block;
  if (distance / in_block != group.block_stride * group.blocks) return false;
  ++group.blocks;
  return true;
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

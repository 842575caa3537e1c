/// \file
/// How RaceCheck keeps what is known of a word: packed into a WordHistory, or as a list of groups.
#include <algorithm>
#include <bit>

#include "cpu_device/races/race_check.hpp"

namespace cpu {
namespace {

// Groups of a word that are kept. Of more, where no fence has been passed, two of different warps will do:
// whoever races with one that is dropped races with one of these.
constexpr std::size_t kManyGroups = 8, kMostGroups = 64;

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
    const auto own = static_cast<std::uint8_t>(group.bytes_of(i) & left);
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
    if (longer.bytes_of(group.threads) == now.bytes) {
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

}  // namespace cpu

#include "cpu_device/races/happens_before.hpp"

#include <algorithm>

namespace cpu {
namespace {

/// Makes each of `count` moments the later of itself and `others`.
void raise(Moment* moments, const Moment* others, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) moments[i] = std::max(moments[i], others[i]);
}

Moment latest_of(const std::vector<Moment>& moments, unsigned first_thread, std::uint32_t lanes) {
  Moment latest = 0;
  for (const unsigned lane : lanes_of(lanes)) latest = std::max(latest, moments[first_thread + lane]);
  return latest;
}

}  // namespace

// --- Within a warp ---

void WarpOrder::begin_block(unsigned threads) {
  const unsigned warps = (threads + kWarpSize - 1) / kWarpSize;
  all_.assign(warps, 0);
  partial_.assign(warps, 0);
  known_.resize(std::size_t{warps} * kWarpSize * kWarpSize);
}

void WarpOrder::sync(unsigned first_thread, std::uint32_t lanes, bool whole,
                     const std::vector<Moment>& moments) {
  const unsigned warp = first_thread / kWarpSize;
  Moment* const known = &known_[std::size_t{first_thread} * kWarpSize];
  if (whole) {
    all_[warp] = static_cast<Moment>(latest_of(moments, first_thread, lanes) + 1);
    return;
  }
  if (!partial_[warp]) std::fill_n(known, kWarpSize * kWarpSize, Moment{0});
  partial_[warp] = 1;
  Moment merged[kWarpSize] = {};
  for (const unsigned lane : lanes_of(lanes)) {
    raise(merged, &known[lane * kWarpSize], kWarpSize);
    merged[lane] = std::max(merged[lane], static_cast<Moment>(moments[first_thread + lane] + 1));
  }
  for (const unsigned lane : lanes_of(lanes)) std::copy_n(merged, kWarpSize, &known[lane * kWarpSize]);
}

// --- Within a block ---

void HappensBefore::begin_launch() {
  forget_fences();
  fences_.clear();
  acquired_before_.clear();
  acquired_in_launch_.clear();
  gpus_ = nullptr;
  has_fences_ = intricate_ = false;
}

void HappensBefore::begin_launch(const GpuLaunches& launches, bool first) {
  if (first) acquired_in_launch_.clear();
  acquired_before_ = acquired_in_launch_;
  gpus_ = &launches;
  has_fences_ = intricate_ = true;  // another GPU's fences concern this one
}

void HappensBefore::begin_block(std::uint32_t first_thread, unsigned threads, unsigned numbers) {
  first_thread_ = first_thread;
  threads_ = threads;
  numbers_ = numbers;
  phase_ = latest_ = 1;
  moments_.assign(threads, 0);
  by_warps_.begin_block(threads);
  with_shuffles_.begin_block(threads);
  if (fences_.size() != threads) {
    fences_.assign(threads, {});
    known_.assign(threads, {});
    acquired_.assign(threads, {});
    learned_.assign(threads, {});
    observed_.assign(threads, {});
  }
  forget_fences();
  ended_blocks_.clear();
  acquired_by_all_ = acquired_before_;
}

void HappensBefore::end_block() {
  if (!gpus_) return;
  add(acquired_in_launch_, acquired_by_all_);
  for (const auto& acquired : acquired_) add(acquired_in_launch_, acquired);
}

/// Forgets what the last block's threads have fenced and acquired.
void HappensBefore::forget_fences() {
  if (!has_fences_) return;
  std::fill(fences_.begin(), fences_.end(), Fences());
  for (auto& known : known_) known.clear();
  for (auto& acquired : acquired_) acquired.clear();
  for (auto& learned : learned_) learned.clear();
  for (auto& observed : observed_) observed.clear();
  fences_of_all_ = {};
  acquired_by_all_.clear();
  shared_locations_.clear();
}

void HappensBefore::restart_moments() {
  phase_ = latest_ = 1;
  std::fill(moments_.begin(), moments_.end(), Moment{0});
  by_warps_.begin_block(threads_);
  with_shuffles_.begin_block(threads_);
}

void HappensBefore::sync_warp(unsigned first_thread, std::uint32_t lanes, bool orders_memory) {
  const unsigned in_warp = std::min(kWarpSize, threads_ - first_thread);
  const bool whole = lanes == (in_warp == kWarpSize ? ~0u : (1u << in_warp) - 1);
  for (const unsigned lane : lanes_of(lanes)) moments_[first_thread + lane] = now(first_thread + lane);
  if (orders_memory) by_warps_.sync(first_thread, lanes, whole, moments_);
  with_shuffles_.sync(first_thread, lanes, whole, moments_);
  const Moment latest = latest_of(moments_, first_thread, lanes);
  for (const unsigned lane : lanes_of(lanes)) {
    Moment& moment = moments_[first_thread + lane];
    moment = static_cast<Moment>((whole ? latest : moment) + 1);
  }
  latest_ = std::max(latest_, static_cast<Moment>(latest + 1));
  intricate_ |= !whole;
  if (has_fences_) merge_lanes(first_thread, lanes);
}

Ordered HappensBefore::before_in_block(unsigned earlier, Moment moment, unsigned thread) const {
  if (earlier == thread || moment < phase_) return Ordered::kYes;
  if (has_fences_ && acquired_in_block(earlier, moment, thread)) return Ordered::kYes;
  if (earlier / kWarpSize != thread / kWarpSize) return Ordered::kNo;
  const unsigned lane = earlier % kWarpSize;
  if (moment < by_warps_.known(thread, lane)) return Ordered::kYes;
  return moment < with_shuffles_.known(thread, lane) ? Ordered::kByShuffle : Ordered::kNo;
}

/// Whether the thread has acquired what another of its block did: something before a fence, or the atomic
/// after it.
bool HappensBefore::acquired_in_block(unsigned earlier, Moment moment, unsigned thread) const {
  if (!known_[thread].empty() && moment < known_[thread][earlier]) return true;
  const auto has_atomic = [&](const Acquired& known) {
    const auto first = known.location->releases.begin();
    return std::any_of(first, first + static_cast<std::ptrdiff_t>(known.releases), [&](const Release& r) {
      return r.thread == first_thread_ + earlier && r.has_atomic_at(moment);
    });
  };
  return std::any_of(learned_[thread].begin(), learned_[thread].end(), has_atomic);
}

Ordered HappensBefore::before(std::uint32_t earlier, Moment moment, unsigned thread) const {
  if (earlier - first_thread_ < threads_) return before_in_block(earlier - first_thread_, moment, thread);
  if (gpus_ && ended_blocks_.contains(block_of(earlier))) return Ordered::kYes;
  if (gpus_ && gpus_->before(block_of(earlier), block_of(first_thread_))) return Ordered::kYes;
  if (!has_fences_) return Ordered::kNo;
  const Visible to_all = released(earlier, moment, acquired_by_all_);
  if (to_all == Visible::kBlock) ended_blocks_.insert(block_of(earlier));
  if (to_all != Visible::kNo) return Ordered::kYes;
  return released(earlier, moment, acquired_[thread]) == Visible::kNo ? Ordered::kNo : Ordered::kYes;
}

// --- Fences, and the atomics that release and acquire ---

HappensBefore::Fenced HappensBefore::known_to(unsigned thread) const {
  Fenced fenced = {first_thread_, std::vector<Moment>(threads_, phase_), acquired_by_all_, learned_[thread]};
  const auto learn = [&](unsigned other, Moment until) {
    fenced.until[other] = std::max(fenced.until[other], until);
  };
  const unsigned first = thread / kWarpSize * kWarpSize;
  for (unsigned other = first; other < std::min(first + kWarpSize, threads_); ++other)
    learn(other, with_shuffles_.known(thread, other - first));
  raise(fenced.until.data(), known_[thread].data(), known_[thread].size());
  learn(thread, static_cast<Moment>(now(thread) + 1));
  add(fenced.acquired, acquired_[thread]);
  return fenced;
}

void HappensBefore::fence(unsigned thread, Scope scope) {
  has_fences_ = intricate_ = true;
  acquire_observed(thread, scope);
  Fences& mine = fences_[thread];
  mine.here = std::make_shared<const Fenced>(known_to(thread));
  if (scope != Scope::kBlock) mine.everywhere = mine.here;
  if (scope == Scope::kSystem) mine.system = mine.here;
  moments_[thread] = static_cast<Moment>(now(thread) + 1);
  latest_ = std::max(latest_, moments_[thread]);
}

/// What all of them make visible.
HappensBefore::FencedPointer HappensBefore::merged(const std::vector<FencedPointer>& parts) {
  if (parts.empty()) return nullptr;
  if (std::all_of(parts.begin(), parts.end(), [&](const auto& part) { return part == parts.front(); }))
    return parts.front();
  Fenced all = *parts.front();
  for (const FencedPointer& part : parts) {
    raise(all.until.data(), part->until.data(), all.until.size());
    add(all.acquired, part->acquired);
    add(all.learned, part->learned);
  }
  return std::make_shared<const Fenced>(std::move(all));
}

/// The same of fences for all GPUs, of fences for the device and of fences for the block.
HappensBefore::Fences HappensBefore::merged(const std::vector<Fences>& parts, const Fences& more) {
  std::vector<FencedPointer> system, everywhere, here;
  const auto take = [&](const Fences& fences) {
    if (fences.system) system.push_back(fences.system);
    if (fences.everywhere) everywhere.push_back(fences.everywhere);
    if (fences.here) here.push_back(fences.here);
  };
  take(more);
  for (const Fences& fences : parts) take(fences);
  return {merged(system), merged(everywhere), merged(here)};
}

void HappensBefore::add(std::vector<Acquired>& to, const std::vector<Acquired>& more) {
  for (const Acquired& one : more) {
    const auto known =
        std::find_if(to.begin(), to.end(), [&](const auto& a) { return a.location == one.location; });
    if (known == to.end()) {
      to.push_back(one);
    } else {
      known->releases = std::max(known->releases, one.releases);
    }
  }
}

void HappensBefore::pass_barrier() {
  phase_ = ++latest_;
  if (!has_fences_) return;
  fences_of_all_ = merged(fences_, fences_of_all_);
  for (unsigned t = 0; t < threads_; ++t) {
    fences_[t] = {};
    known_[t].clear();
    add(acquired_by_all_, acquired_[t]);
    acquired_[t].clear();
    learned_[t].clear();
  }
}

/// Lanes that have waited for each other know the same, and may release it for each other.
void HappensBefore::merge_lanes(unsigned first_thread, std::uint32_t lanes) {
  std::vector<Fences> fences;
  std::vector<Moment> known;
  std::vector<Acquired> acquired, learned;
  for (const unsigned lane : lanes_of(lanes)) {
    const unsigned t = first_thread + lane;
    fences.push_back(fences_[t]);
    add(acquired, acquired_[t]);
    add(learned, learned_[t]);
    if (known_[t].empty()) continue;
    known.resize(threads_, 0);
    raise(known.data(), known_[t].data(), threads_);
  }
  const Fences all = merged(fences);
  for (const unsigned lane : lanes_of(lanes)) {
    fences_[first_thread + lane] = all;
    known_[first_thread + lane] = known;
    acquired_[first_thread + lane] = acquired;
    learned_[first_thread + lane] = learned;
  }
}

void HappensBefore::begin_strong(unsigned thread, std::uintptr_t address, bool shared, Scope scope,
                                 Effect effect) {
  if (!has_fences_) return;
  Locations& locations = shared ? shared_locations_ : *device_locations_;
  const bool releases = effect == Effect::kReleases || effect == Effect::kBoth;
  if (!releases && !locations.contains(address)) return;
  auto& location = locations[address];
  if (!location) location = std::make_unique<Location>();
  const Observed seen = {location.get(), location->releases.size(), shared};
  if (effect == Effect::kObserves) observe(thread, seen);
  if (effect == Effect::kAcquires || effect == Effect::kBoth) acquire(thread, seen);
  if (releases) release(thread, *location, scope);
}

void HappensBefore::observe(unsigned thread, const Observed& seen) {
  auto& observed = observed_[thread];
  const auto known = std::find_if(observed.begin(), observed.end(),
                                  [&](const Observed& one) { return one.location == seen.location; });
  if (known == observed.end()) {
    observed.push_back(seen);
  } else {
    *known = seen;
  }
}

/// A fence makes acquires of the strong loads before it, as far as it reaches.
void HappensBefore::acquire_observed(unsigned thread, Scope scope) {
  std::erase_if(observed_[thread], [&](const Observed& seen) {
    const bool reached = seen.releases == 0 || reaches(scope, seen.location->releases[seen.releases - 1]);
    if (reached) acquire(thread, seen);
    return reached;
  });
}

/// Whether a fence of that scope orders what a thread of the running block does after that release.
bool HappensBefore::reaches(Scope scope, const Release& release) const {
  if (scope == Scope::kSystem || release.thread - first_thread_ < threads_) return true;
  return scope == Scope::kDevice && on_one_gpu(block_of(release.thread), block_of(first_thread_));
}

/// The thread learns what the releases on the location have made visible.
void HappensBefore::acquire(unsigned thread, const Observed& seen) {
  auto& learned = learned_[thread];
  const auto mine = std::find_if(learned.begin(), learned.end(),
                                 [&](const auto& a) { return a.location == seen.location; });
  const std::size_t before = mine == learned.end() ? 0 : mine->releases;
  for (std::size_t i = seen.releases; i-- > before;) {
    const Release& release = seen.location->releases[i];
    // Earlier ones are another block's, or from before the last barrier.
    if (release.thread - first_thread_ >= threads_ || release.moments.back() < phase_) break;
    const Fenced& fenced = *release.fences.here;
    std::vector<Moment>& known = known_[thread];
    known.resize(threads_, 0);
    raise(known.data(), fenced.until.data(), threads_);
    add(learned, fenced.learned);
    add(acquired_[thread], fenced.acquired);
  }
  if (seen.releases == 0) return;
  add(learned, {{seen.location, seen.releases}});
  if (!seen.shared) add(acquired_[thread], {{seen.location, seen.releases}});
}

/// Makes everything that the thread, or one ordered before it, has fenced visible to later atomics on the
/// location: with an atomic of that scope to no more threads than it reaches.
void HappensBefore::release(unsigned thread, Location& location, Scope scope) {
  const Fences& mine = fences_[thread];
  Fences all = {mine.system ? mine.system : fences_of_all_.system,
                mine.everywhere ? mine.everywhere : fences_of_all_.everywhere,
                mine.here ? mine.here : fences_of_all_.here};
  if (scope != Scope::kSystem) all.system = nullptr;
  if (!all.here) return;
  // At a moment of its own, so that what acquires it comes after this atomic, but not after what is between
  // the fence and it.
  moments_[thread] = static_cast<Moment>(now(thread) + 1);
  const bool again =
      !location.releases.empty() && location.releases.back().thread == first_thread_ + thread &&
      location.releases.back().moments.back() < moments_[thread] && location.releases.back().fences == all;
  if (!again) location.releases.push_back({all, first_thread_ + thread, {}});
  location.releases.back().moments.push_back(moments_[thread]);
}

void HappensBefore::end_release(unsigned thread) {
  if (!has_fences_) return;
  moments_[thread] = static_cast<Moment>(now(thread) + 1);
  latest_ = std::max(latest_, moments_[thread]);
}

/// Whether threads of the two blocks are on one GPU.
bool HappensBefore::on_one_gpu(std::uint32_t block, std::uint32_t other) const {
  return !gpus_ || gpus_->of_block(block).gpu == gpus_->of_block(other).gpu;
}

/// The fence of a release that reaches threads of that other block; null if there is none.
const HappensBefore::FencedPointer& HappensBefore::fence_towards(const Release& release,
                                                                 std::uint32_t block) const {
  return on_one_gpu(block_of(release.thread), block) ? release.fences.everywhere : release.fences.system;
}

/// Whether what another block's thread did is visible to a thread of the running block that has acquired
/// `to`.
HappensBefore::Visible HappensBefore::released(std::uint32_t earlier, Moment moment,
                                               const std::vector<Acquired>& to) const {
  std::vector<Acquired> open = to, seen;
  for (Acquired& acquired : open) acquired.block = block_of(first_thread_);
  while (!open.empty()) {
    const Acquired next = open.back();
    open.pop_back();
    const auto known = std::find_if(seen.begin(), seen.end(), [&](const auto& a) {
      return a.location == next.location && a.block == next.block;
    });
    const std::size_t before = known == seen.end() ? 0 : known->releases;
    if (before >= next.releases) continue;
    if (const Visible found = released(earlier, moment, next); found != Visible::kNo) return found;
    if (known == seen.end()) {
      seen.push_back(next);
    } else {
      known->releases = next.releases;
    }
    for (std::size_t i = before; i < next.releases; ++i) {
      const Release& release = next.location->releases[i];
      const FencedPointer& fenced = fence_towards(release, next.block);
      if (!fenced) continue;
      for (Acquired further : fenced->acquired) {
        further.block = block_of(release.thread);
        open.push_back(further);
      }
    }
  }
  return Visible::kNo;
}

/// Whether one of the releases on a location that a thread has acquired makes it visible by itself. One that
/// does not reach the whole device reaches threads of its own block.
HappensBefore::Visible HappensBefore::released(std::uint32_t earlier, Moment moment,
                                               const Acquired& to) const {
  const std::uint32_t block = block_of(earlier);
  const auto comes_after_block = [&](const Release& release) {
    const std::uint32_t releasing = block_of(release.thread);
    return releasing > block && gpus_->before(block, releasing) && fence_towards(release, to.block);
  };
  const auto makes_visible = [&](const Release& release) {
    if (block_of(release.thread) != block) return false;
    const FencedPointer& fenced = fence_towards(release, to.block);
    if (!fenced && to.block != block) return false;
    if (release.thread == earlier && release.has_atomic_at(moment)) return true;
    return fenced && moment < fenced->until[earlier - fenced->first_thread];
  };
  const auto first = to.location->releases.begin();
  const auto end = first + static_cast<std::ptrdiff_t>(to.releases);
  if (gpus_) {
    if (std::any_of(first, end, comes_after_block)) return Visible::kBlock;
    return std::any_of(first, end, makes_visible) ? Visible::kAccess : Visible::kNo;
  }
  // In the order of their blocks.
  const auto begin = std::lower_bound(
      first, end, block, [&](const Release& r, std::uint32_t b) { return block_of(r.thread) < b; });
  const auto after = std::upper_bound(
      begin, end, block, [&](std::uint32_t b, const Release& r) { return b < block_of(r.thread); });
  return std::any_of(begin, after, makes_visible) ? Visible::kAccess : Visible::kNo;
}

}  // namespace cpu

/// \file
/// What happens before what: the order that barriers, fences and atomics give to the accesses of different
/// threads. Two accesses of which neither happens before the other may race.
///
/// An access happens before another one
/// - when the same thread makes it earlier;
/// - within a block, when a __syncthreads() is between them, or a __syncwarp() for the lanes in its mask;
/// - by release and acquire: a thread passes a __threadfence() and then does an atomic, or a strong store, on
///   a location. Another one that does an atomic there later, or a strong load and then a fence, comes after
///   all that happened before the first fence, and after that first atomic. __threadfence_block() does the
///   same within a block, and __threadfence_system() with an atomic for all GPUs between them. Threads that a
///   barrier or a __syncwarp() has ordered after the fence may do the first atomic for it;
/// - where several GPUs run, when it is of an earlier launch of the same GPU.
///
/// These are vector clocks (L. Lamport 1978; C. Fidge, F. Mattern 1988) in the shape that a grid gives them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/gpu_launches.hpp"
#include "cpu_device/lanes.hpp"
#include "cpu_device/memory/word_history.hpp"

namespace cpu {

/// How an earlier access is ordered.
enum class Ordered : unsigned char {
  kYes,
  kByShuffle,  ///< only by a shuffle or vote, which CUDA does not promise to order memory
  kNo
};

/// For each lane of a warp, the moments of the warp's other lanes that happened before.
class WarpOrder {
 public:
  void begin_block(unsigned threads);
  /// Lanes wait for each other. `moments` are the current ones of the block's threads; the lanes then go on
  /// to later ones. `whole` tells that they are all lanes of the warp.
  void sync(unsigned first_thread, std::uint32_t lanes, bool whole, const std::vector<Moment>& moments);
  /// The thread comes after what that lane of its warp did before this moment.
  Moment known(unsigned thread, unsigned lane) const {
    const unsigned warp = thread / kWarpSize;
    const Moment all = all_[warp];
    if (!partial_[warp]) return all;
    const Moment one = known_[std::size_t{thread} * kWarpSize + lane];
    return one > all ? one : all;
  }

 private:
  std::vector<Moment> all_;             // by warp: since all its lanes waited for each other
  std::vector<unsigned char> partial_;  // by warp: some of its lanes have
  std::vector<Moment> known_;           // 32 of each thread
};

/// The order of the accesses of a block's threads among themselves and after those of earlier blocks.
class HappensBefore {
 public:
  /// A launch of a GPU that runs alone.
  void begin_launch();
  /// One of a GPU that runs beside others. `first`: no launch of this GPU was before it.
  void begin_launch(const GpuLaunches& launches, bool first);
  /// Uses what that HappensBefore knows of atomics in device memory, from now on.
  void share(HappensBefore& other) { device_locations_ = other.device_locations_; }
  /// Forgets all atomics in device memory.
  void forget_atomics() { device_locations_->clear(); }

  /// The threads [first_thread, first_thread + threads) begin. `numbers` of them are a block's, of which it
  /// may have fewer.
  void begin_block(std::uint32_t first_thread, unsigned threads, unsigned numbers);
  /// All threads of the block have ended.
  void end_block();

  /// All threads of the block have passed a barrier.
  void pass_barrier();
  /// Those lanes of a warp have waited for each other; shuffles and votes pass `orders_memory` false.
  void sync_warp(unsigned first_thread, std::uint32_t lanes, bool orders_memory);
  /// A thread has passed a fence.
  void fence(unsigned thread, Scope scope);
  /// The effect of a strong access. One that observes acquires when the thread passes a fence later.
  enum class Effect : unsigned char { kObserves, kAcquires, kReleases, kBoth };
  /// A thread makes a strong access there, an atomic for example. This is before the access is checked, and
  /// end_release after the check of one that releases.
  void begin_strong(unsigned thread, std::uintptr_t location, bool shared, Scope scope, Effect effect);
  void end_release(unsigned thread);

  /// The moment of the accesses that a thread of the block makes now.
  [[gnu::always_inline]] Moment now(unsigned thread) const {
    const Moment moment = moments_[thread];
    return moment > phase_ ? moment : phase_;
  }
  /// The moment at which the last barrier ended: what the block did earlier happened before.
  Moment phase() const { return phase_; }
  /// Whether there are more moments in this block.
  bool has_moments() const { return latest_ < kMostMoments; }
  /// The block's threads start again from the first moment. Everything they did is taken as done at moment 0;
  /// only after a barrier.
  void restart_moments();

  std::uint32_t first_thread() const { return first_thread_; }
  unsigned threads() const { return threads_; }
  /// Whether a fence, or a __syncwarp() of a part of a warp, has made orders other than those of barriers.
  bool is_intricate() const { return intricate_; }
  bool has_fence(unsigned thread) const { return fences_[thread].here || fences_of_all_.here; }

  /// Whether what `earlier`, by its number in the grid, did at that moment of its block happens before what
  /// `thread` of the running block does now.
  Ordered before(std::uint32_t earlier, Moment moment, unsigned thread) const;

 private:
  static constexpr Moment kMostMoments = 60000;

  struct Location;
  /// A thread's knowledge of other blocks: the atomics of a location up to that number.
  struct Acquired {
    Location* location;
    std::size_t releases;
    std::uint32_t block = 0;  ///< whose thread acquired it: set where they are searched
  };
  /// The accesses that a fence makes visible: for each thread of its block, the moments that happened before;
  /// and everything that the thread knew of other blocks.
  struct Fenced {
    std::uint32_t first_thread;
    std::vector<Moment> until;
    std::vector<Acquired> acquired;  ///< of device memory's locations
    std::vector<Acquired> learned;   ///< of all locations, since the block's last barrier
  };
  using FencedPointer = std::shared_ptr<const Fenced>;
  /// Fences that happened before what a thread does: for all GPUs, for the device, and for the block.
  struct Fences {
    FencedPointer system, everywhere, here;
    bool operator==(const Fences&) const = default;
  };
  struct Release {
    Fences fences;
    std::uint32_t thread;         ///< in the grid
    std::vector<Moment> moments;  ///< of its atomics, one after the other: a thread may poll by them
    bool has_atomic_at(Moment moment) const {
      return std::binary_search(moments.begin(), moments.end(), moment);
    }
  };
  /// A location on which atomics were done after fences.
  struct Location {
    std::vector<Release> releases;  // block after block, unless several GPUs run
  };
  using Locations = std::unordered_map<std::uintptr_t, std::unique_ptr<Location>>;
  /// A strong load has seen the releases of a location up to that number.
  struct Observed {
    Location* location;
    std::size_t releases;
    bool shared;
  };

  Fenced known_to(unsigned thread) const;
  static FencedPointer merged(const std::vector<FencedPointer>& parts);
  static Fences merged(const std::vector<Fences>& parts, const Fences& more = {});
  static void add(std::vector<Acquired>& to, const std::vector<Acquired>& more);
  void forget_fences();
  void observe(unsigned thread, const Observed& seen);
  void acquire_observed(unsigned thread, Scope scope);
  bool reaches(Scope scope, const Release& release) const;
  void acquire(unsigned thread, const Observed& seen);
  void release(unsigned thread, Location& location, Scope scope);
  std::uint32_t block_of(std::uint32_t thread) const { return thread / numbers_; }
  bool on_one_gpu(std::uint32_t block, std::uint32_t other) const;
  const FencedPointer& fence_towards(const Release& release, std::uint32_t block) const;
  void merge_lanes(unsigned first_thread, std::uint32_t lanes);
  Ordered before_in_block(unsigned earlier, Moment moment, unsigned thread) const;
  bool acquired_in_block(unsigned earlier, Moment moment, unsigned thread) const;
  /// What releases have made visible: the access itself, or all that its block did.
  enum class Visible : unsigned char { kNo, kAccess, kBlock };
  Visible released(std::uint32_t earlier, Moment moment, const std::vector<Acquired>& to) const;
  Visible released(std::uint32_t earlier, Moment moment, const Acquired& to) const;

  std::uint32_t first_thread_ = 0;
  unsigned threads_ = 0, numbers_ = 1;
  Moment phase_ = 1, latest_ = 1;
  std::vector<Moment> moments_;  // by thread, where it is past phase_
  WarpOrder by_warps_;           // what __syncwarp orders
  WarpOrder with_shuffles_;      // what shuffles and votes order as well

  // What fences order. All of it is empty in a launch without fences.
  bool intricate_ = false, has_fences_ = false;
  std::vector<Fences> fences_;                   // by thread: since the last barrier
  Fences fences_of_all_;                         // before the last barrier
  std::vector<std::vector<Moment>> known_;       // by thread: of each thread of the block, or empty
  std::vector<std::vector<Acquired>> acquired_;  // by thread: of device memory's locations
  std::vector<Acquired> acquired_by_all_;
  std::vector<std::vector<Acquired>> learned_;   // by thread: of all locations, since the last barrier
  std::vector<std::vector<Observed>> observed_;  // by thread: to be acquired at its next fence
  std::shared_ptr<Locations> device_locations_ = std::make_shared<Locations>();
  Locations shared_locations_;

  // Where several GPUs run: their launches; what earlier launches of this one have acquired, and what the
  // running one has.
  const GpuLaunches* gpus_ = nullptr;
  std::vector<Acquired> acquired_before_, acquired_in_launch_;
  // Blocks of which all happened before what all threads of the running block do now: found once for each.
  mutable std::unordered_set<std::uint32_t> ended_blocks_;
};

}  // namespace cpu

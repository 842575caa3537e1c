/// \file
/// Groups the accesses of a warp's lanes into requests.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cpu_device/counting/iterations.hpp"
#include "cpu_device/counting/site_log.hpp"
#include "cpu_device/counting/traffic_counter.hpp"
#include "cpu_device/memory/access_sites.hpp"
#include "cpu_device/memory/wavefronts.hpp"

namespace cpu {

/// A request that lanes may still join: those that execute its instruction in the same iteration.
struct alignas(64) OpenRequest : Request {
  std::uint64_t key;  ///< of its position
  OpenRequest* next;
  Position position;
};

/// The open requests of the running warp. What its lanes do with one instruction in the same iteration is one
/// request. A segment is what a warp does between two points at which all its lanes have stopped: a barrier
/// or the end.
class RequestLog {
 public:
  RequestLog(TrafficCounter& traffic, SiteLog& sites, const Iterations& iterations)
      : traffic_(traffic), site_log_(sites), iterations_(iterations) {}

  [[gnu::always_inline]] void add(Site& site, unsigned lane, const LaneFlow& flow, std::uintptr_t address) {
    OpenRequest** link = site.cursor_lane == lane ? &site.cursor->next : &site.first;
    OpenRequest* const request = *link;
    if (!request || request->key != flow.key || request->mask >> lane & 1)
      return add_to_other(site, lane, flow.position, link, address);
    join(site, lane, address, request);
  }

  /// Counts the requests that no lane can join any more; `stopped` are the positions of the lanes that have
  /// not ended, and the slowest comes first.
  void advance(const std::vector<const Position*>& stopped);

  /// Counts all requests; every lane of the warp has stopped.
  void end_segment();

  /// Another warp runs before the segment of this one has ended.
  void pause(unsigned warp);
  /// Goes on with the segment of a warp that was paused.
  void resume(unsigned warp);

  /// The warps that are paused.
  std::vector<unsigned> paused_warps() const;

  /// Drops all open requests of a launch that was ended early.
  void abandon();

 private:
  /// Open requests of one instruction. More mean a loop that is not followed; then the oldest is counted as
  /// it is.
  static constexpr unsigned kMostOpen = 4096;

  /// A site's requests in a segment that is paused.
  struct PausedSite {
    Site* site;
    OpenRequest* first;
    unsigned open;
  };

  static void join(Site& site, unsigned lane, std::uintptr_t address, OpenRequest* request) {
    request->mask |= 1u << lane;
    request->address[lane] = address;
    site.cursor = request;
    site.cursor_lane = lane;
  }
  void add_to_other(Site& site, unsigned lane, const Position& position, OpenRequest** link,
                    std::uintptr_t address);
  OpenRequest* find_request(Site& site, unsigned lane, const Position& position, OpenRequest** link);
  OpenRequest* new_request(const Position& position, OpenRequest* next);
  void begin(Site& site);
  static void leave(Site& site);
  void close(Site& site, OpenRequest** link);
  void count(Site& site, const OpenRequest& request);
  void count_and_keep(Site& site, const OpenRequest& request);

  TrafficCounter& traffic_;
  SiteLog& site_log_;
  const Iterations& iterations_;
  std::vector<Site*> segment_;                                    // the sites that the segment has touched
  std::unordered_map<unsigned, std::vector<PausedSite>> paused_;  // by warp
  std::vector<std::unique_ptr<OpenRequest>> requests_;
  std::vector<OpenRequest*> unused_;
};

}  // namespace cpu

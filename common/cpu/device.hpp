/// \file
/// The inside of the CPU device: which thread is running, and what the warp it belongs to has accessed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpu/async_copies.hpp"
#include "cpu/counts.hpp"
#include "cpu/finding.hpp"
#include "cpu/iterations.hpp"
#include "cpu/memory.hpp"
#include "cpu/runtime.hpp"
#include "cpu/shared_shadow.hpp"
#include "cpu/wavefronts.hpp"

/// In a function that a kernel calls: the address behind the call, which names the instruction of the kernel.
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

namespace cpu {

/// Largest block and largest static plus dynamic shared memory of a block: a GPU of compute capability 9.0.
constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kMostSharedBytes = 227 * 1024;
/// Largest __shared__ arrays of a kernel together: what nvcc accepts.
constexpr std::size_t kMostStaticSharedBytes = 48 * 1024;

/// Where an access goes; an asynchronous copy goes from the one to the other.
enum class Space : unsigned char { kGlobal, kShared, kCopy };

/// Iterations that a warp's fastest lane may begin before the others must have caught up: bounds the memory
/// that a loop takes, whatever its length.
constexpr unsigned kWindow = 16;

/// A request that lanes may still add to: those that come to its instruction in the same iteration.
struct OpenRequest : Request {
  std::uint64_t key;  ///< of its position
  Position position;
  OpenRequest* next;
};

/// One load or store instruction of a kernel, with the open requests of the warp that runs at the moment.
struct Site {
  std::uintptr_t instruction;
  Space space;
  AccessKind kind;
  unsigned size;
  std::uint8_t number = 0;   ///< in the launch, from 1; 0 for those that have none yet, or get none
  Buffer* buffer = nullptr;  ///< the array of the last global access: the next one's most likely array

  bool in_segment = false;
  unsigned open = 0;              ///< requests in the list
  OpenRequest* first = nullptr;   ///< in the order in which a lane passes their positions
  OpenRequest* cursor = nullptr;  ///< the last that `cursor_lane` added to
  unsigned cursor_lane = kWarpSize;
  std::uint32_t ambiguous_mask = 0;  ///< lanes of the last request whose position is ambiguous
};

/// Groups the accesses of a warp into requests and counts them: what its lanes do with one instruction in the
/// same iteration is one request. A segment is what a warp does between two points where all its lanes have
/// stopped: a barrier or the end.
class WarpLog {
 public:
  explicit WarpLog(workbook::Counts& counts) : counts_(counts) {}

  /// A new launch: arrays may have come and gone since the last.
  void begin_launch();

  /// The site of `instruction` when it accesses `size` bytes of `space`.
  [[gnu::always_inline]] Site& site(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size) {
    Site*& cached = cache_[instruction / 2 % kCacheSize];
    if (!cached || cached->instruction != instruction || cached->space != space || cached->kind != kind ||
        cached->size != size)
      cached = &find_site(instruction, space, kind, size);
    return *cached;
  }
  /// Numbers the site, as long as there are numbers.
  void give_number(Site& site);
  /// Instruction of the site of that number; 0 for number 0.
  std::uintptr_t instruction(std::uint8_t number) const { return number ? numbered_[number - 1] : 0; }

  [[gnu::always_inline]] void add(Site& site, unsigned lane, const Position& position,
                                  std::uintptr_t address) {
    if (!site.in_segment) begin(site);
    OpenRequest** link = site.cursor_lane == lane ? &site.cursor->next : &site.first;
    OpenRequest* request = *link;
    if (!request || request->key != position.key() || request->mask >> lane & 1)
      request = find_request(site, lane, position, link);
    request->mask |= 1u << lane;
    request->address[lane] = address;
    site.cursor = request;
    site.cursor_lane = lane;
  }

  /// Counts the requests that no lane can add to any more; `stopped` are the positions of those that have not
  /// ended.
  void advance(const std::vector<const Position*>& stopped);

  /// Counts all requests; every lane of the warp has stopped.
  void end_segment();

  /// Forgets everything after a launch that was broken off.
  void abandon();

 private:
  static constexpr unsigned kCacheSize = 1024;
  /// Of one instruction; more mean a loop that is not followed, and the oldest is counted as it is.
  static constexpr unsigned kMostOpen = 4096;

  Site& find_site(std::uintptr_t instruction, Space space, AccessKind kind, unsigned size);
  OpenRequest* find_request(Site& site, unsigned lane, const Position& position, OpenRequest** link);
  OpenRequest* new_request(const Position& position, OpenRequest* next);
  void begin(Site& site);
  void close(Site& site, OpenRequest** link);
  void count(Site& site, const Request& request);
  void count_and_trace(Site& site, const Request& request);
  void count_shared(const Site& site, const Request& request);
  void count_copy(Site& site, const Request& request);
  void count_global(Site& site, const Request& request);
  void count_compulsory(Site& site, std::uintptr_t sector);

  workbook::Counts& counts_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Site>> sites_;
  std::vector<std::uintptr_t> numbered_;
  Site* cache_[kCacheSize] = {};
  std::vector<Site*> segment_;  // the sites that the segment has touched
  std::vector<std::unique_ptr<OpenRequest>> requests_;
  std::vector<OpenRequest*> unused_;
};

/// What the device knows while a grid runs.
struct Device {
  workbook::Counts counts;
  WarpLog log{counts};
  Iterations iterations;
  LaneFlow flow[kWarpSize];    ///< of the running warp's lanes
  LaneFlow* lane_flow = flow;  ///< of the running thread

  /// Gets the counts of each launch, which then begin anew.
  std::function<void(const workbook::LaunchCounts&)> each_launch;
  bool traces_requests = false;
  std::vector<workbook::TracedRequest> requests;  ///< of the launch

  Launch launch{};
  uint3 block{}, thread{};
  unsigned lane = 0;
  unsigned thread_number = 0;  ///< of the running thread in its block, linear

  Region arena, static_shared, dynamic_shared, stacks;
  Region dynamic_shared_storage;  ///< of which `dynamic_shared` is what the launch asked for
  std::vector<Region> constants;  ///< what the program cannot write: __constant__ tables among it
  SharedShadow shared;            ///< of static, then dynamic shared memory
  AsyncCopies copies;             ///< to it

  std::uint64_t steps = 0;       ///< accesses, barriers and warp operations of the running block
  std::uint64_t most_steps = 0;  ///< more of them are taken for a loop without end

  // For races in device memory.
  std::uint32_t launch_number = 0;
  bool check_races = false;        ///< the grid and the block are small enough for LastAccess
  std::uint32_t first_thread = 0;  ///< of the block, in the grid
  std::uint16_t phase = 0;         ///< barriers that the block has passed
  std::uint32_t synced_warps = 0;  ///< a bit for each warp with a __syncwarp since the last barrier
  bool fenced = false;             ///< a thread of the block has passed __threadfence
  bool took_part = false;          ///< a thread of the block has done an atomic on device memory
  std::vector<bool> published;     ///< by block of the grid: there was an atomic after a fence
};

/// Whether a grid runs: accesses at other times are host code's, that before main among them.
extern bool grid_runs;

/// The one CPU device. A pointer that is set before main: the traces come here too often for a function's
/// static.
extern Device* const the_device;
inline Device& device() { return *the_device; }

/// Counts a step of the running block; stops the launch when there have been too many.
void out_of_steps(std::uintptr_t instruction);
inline void count_step(std::uintptr_t instruction) {
  if (++device().steps > device().most_steps) out_of_steps(instruction);
}

/// Suspends the running thread until the other lanes of its warp have caught up with it.
void wait_for_warp();

/// Ends the launch: `message` becomes the Finding that `run` throws. Called on a thread's stack; does not
/// return.
[[noreturn]] void stop_launch(const std::string& kind, const std::string& details,
                              const std::string& look_at);

/// What to report when the running thread has used up its stack at `instruction`; the launch is over.
Finding stack_overflow(std::uintptr_t instruction);

/// An access of the running thread that the compiler does not report: checked and counted all the same.
void trace_access(const void* address, unsigned size, AccessKind kind, const void* return_address);

/// "q[4]", "s[32]": what an array has at that address, by elements of `size` bytes in shared memory.
std::string memory_name(const void* address, unsigned size);

/// An array, or dynamic shared memory, and where it begins.
struct NamedPlace {
  std::string name;
  std::uintptr_t begin;
};
/// What lies at an address of device or shared memory.
NamedPlace array_at(std::uintptr_t address);

/// Keeps a request that is counted as so many sectors and wavefronts.
void trace_request(const Site& site, const Request& request, long long sectors, long long wavefronts);

/// Suspends the running thread until all 32 lanes of its warp have come to this one instruction. Then `work`
/// runs, once, with the address that each lane gave as `mine`; then the lanes go on.
void warp_collective(void (*work)(void* const* lanes), void* mine, const void* return_address);

/// "thread (5,0,0) of block (17,0,0)": a thread of a block, by its linear index; of the running block by
/// default.
std::string thread_name(unsigned thread, const uint3& block);
inline std::string thread_name(unsigned thread) { return thread_name(thread, device().block); }

/// "line 14", with the file before it where that is not the kernel's.
std::string place_text(std::uintptr_t instruction);

}  // namespace cpu

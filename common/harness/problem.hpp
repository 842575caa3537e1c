/// \file
/// One chapter at one shape on one device: its arrays, its reference, and the results of its stages.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chapter.hpp"
#include "harness/backends/backend.hpp"
#include "harness/references/verify.hpp"

namespace workbook {

/// An array of a chapter in the memory of one device, or on the host.
struct NamedArray {
  std::string name;
  Type type;
  void* data;  ///< null where that side does not have it
  /// The arrays of GPU 1 and further ones, where there are several.
  std::vector<void*> of_other_gpus = {};

  void* of_gpu(int gpu) const {
    return gpu == 0 ? data : of_other_gpus.at(static_cast<std::size_t>(gpu) - 1);
  }
};
/// All arrays of a chapter on one side.
using NamedArrays = std::vector<NamedArray>;

/// Whether a stage computes what it should.
enum class Status {
  kOk,      ///< every element of its output is right
  kWrong,   ///< an element is wrong, or the stage failed
  kSkipped  ///< it does not run on this device or at this shape
};

/// "ok", "wrong" or "skipped", as in JSON.
const char* text_of(Status status);

/// The result of running a stage.
struct StageResult {
  const Stage* stage = nullptr;
  Status status = Status::kSkipped;
  std::string message;  ///< what is wrong, or why it was skipped
  std::vector<std::string>
      wrong_outputs;      ///< those of its arrays that are wrong; `message` is about the first
  bool compared = false;  ///< there was a result to compare with the reference
  double error = 0;       ///< the largest, relative to the magnitude of the terms
  Counts counts;          ///< on a GPU, only the number of kernels
  /// The largest error in units of the last place, of 16-bit outputs alone (verify.hpp).
  std::optional<double> last_places;
  bool timed = false;          ///< the fields up to `above_ceiling` are valid
  ContenderTiming time;        ///< in microseconds
  Timing ceiling;              ///< cold, of the fastest kernel that streams the same bytes, in the same run
  std::string ceiling_kernel;  ///< which one that was
  Ratio share_of_ceiling;      ///< time of the ceiling over the stage's, round by round
  bool above_ceiling = false;  ///< is_above_ceiling(): the ceiling is too low
  std::vector<Resources> resources;  ///< of each kernel, on a GPU
  std::string note_word;  ///< what --note calls the finding that stopped it; empty: it could not go on
  std::vector<std::string> notes;  ///< of the device; Problem leaves them to its caller
};

/// The names, with spaces between.
std::string names_of(const ArrayList& arrays);

/// The bytes that a stage should move: what its `traffic` says, and without one the least that its output
/// needs, which is to read once each input that it is computed from, and to write each output once.
Traffic expected_traffic(const Chapter& chapter, const Stage& stage, const Shape& shape);

/// The bytes of a stage that DRAM must deliver and take, however large the caches are: those that its rate in
/// GB/s and its ceiling are about. A stage with one kernel reads each of its inputs once and writes each of
/// its outputs once. With several kernels it is what `traffic` says, without repeated and merged bytes: an
/// array that one kernel leaves for the next may be larger than the caches.
Traffic dram_traffic(const Chapter& chapter, const Stage& stage, const Shape& shape);

/// Memory that a problem takes, in bytes.
struct MemoryNeed {
  std::size_t host;    ///< for inputs, results and references
  std::size_t device;  ///< for the arrays
  std::size_t timing;  ///< on a GPU, in addition to `device`: for the streaming kernels of the ceilings
};
/// The memory that a chapter takes at a shape.
MemoryNeed memory_need(const Chapter& chapter, const Shape& shape);

/// Checks that the problem fits into the free memory of `device` and, for what is on the host, of `host`.
/// \throws MachineError when it does not
void require_memory(const Chapter& chapter, const Shape& shape, const Backend& device, const Backend& host);

/// The arrays of a chapter at a shape, on the host and on a device.
class Problem {
 public:
  /// Allocates the arrays and fills the inputs. `misalignment` says, by array name, how many bytes after a
  /// multiple of 256 an array starts; arrays that it does not name are aligned. `block` is Data::block.
  /// \throws std::bad_alloc
  Problem(const Chapter& chapter, const Shape& shape, Backend& backend,
          const std::map<std::string, std::size_t>& misalignment = {}, int block = 0);
  ~Problem();
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// Poisons scratch arrays and outputs, runs the stage, and compares its output with the reference; on exact
  /// inputs too, if the chapter has them. An exception that the stage throws is reported in the result.
  StageResult check(const Stage& stage);

  /// Runs the stage once, without checking its output. Does nothing where the stage does not suit the shape
  /// or the device.
  Counts run_once(const Stage& stage);

  /// Times the stages whose status is kOk on rotating sets of inputs, in bursts and perhaps `sustained` as
  /// well, and for each the streaming kernels with the same mix of reads and writes; then checks each stage
  /// again. Fills in the timing fields of `results`.
  void time(GpuBackend& gpu, gpu::SensorLog& sensors, bool sustained, std::vector<StageResult>& results);

  /// Makes stages ready to be timed by the caller, who must not check any meanwhile.
  std::unique_ptr<gpu::Turns> turns(GpuBackend& gpu, const std::vector<const Stage*>& stages);

  /// Registers, spills, shared memory and occupancy of each kernel of the stage.
  std::vector<Resources> resources(GpuBackend& gpu, const Stage& stage);

  /// Bytes that any implementation of a stage with this output must move: it reads once what the output is
  /// computed from, and writes the output once.
  double least_bytes(const ArrayList& output) const;

 private:
  /// Says what is missing for the stage; empty where it runs.
  std::string missing_for(const Stage& stage) const;
  long long count(const Array& array) const { return gpus_ * array.count(shape_); }
  std::size_t bytes(const Array& array) const;
  std::size_t bytes_on_gpu(const Array& array) const {
    return bytes(array) / static_cast<std::size_t>(gpus_);
  }
  void download(std::byte* to, const Array& output) const;
  std::optional<bool> is_written(const Array& output, std::size_t element) const;
  void run_and_compare(const Stage& stage, bool exact, StageResult& result);
  void run_and_compare(const Stage& stage, bool exact, unsigned char poison, StageResult& result);
  void compare_output(const Array& output, const Stage& stage, bool exact, StageResult& result);
  const Reference& reference(const Array& output, bool exact);
  Data data_of(const NamedArrays& arrays) const {
    return {.shape = shape_, .arrays = &arrays, .block = block_, .dropout = chapter_.dropout};
  }
  Data host_data(bool exact) const;
  void fill(bool exact);
  NamedArrays make_set(const std::map<std::string, std::size_t>& misalignment);
  void upload_inputs(const NamedArrays& set, bool exact);
  void poison(unsigned char value);  // scratch and outputs
  Contender contender(const Stage& stage);
  void clear_states();
  int make_sets(const GpuBackend& gpu, const std::vector<Contender>& contenders);

  const Chapter& chapter_;
  Shape shape_;
  int gpus_;
  int block_;
  Backend& backend_;
  /// Inputs on the host, and what is computed from them.
  struct Inputs {
    std::map<std::string, std::vector<std::byte>> values;
    NamedArrays arrays;
    std::map<const Array*, Reference> references;  // by output, while memory is ample
  };
  Inputs inputs_[2];                   // random and exact ones; these are empty until a stage is run on them
  std::vector<std::byte> downloaded_;  // the last result; kept, since new memory is slow
  std::vector<NamedArrays> sets_;      // of device arrays; the first is verified, the others are for timing
};

/// How many arrays a streaming kernel reads and writes.
struct Mix {
  int reads;
  int writes;
};
/// The mix, in small numbers, that writes the largest share of its bytes but not more than `traffic` does,
/// which dram_traffic() returned: DRAM reads faster than it writes, so a ceiling that wrote more would be too
/// slow. A share that is larger by less than 0.005 counts as equal.
Mix mix_of(const Traffic& traffic);

/// Whether a stage was faster than its ceiling beyond doubt: `share` is the ceiling's time over the stage's,
/// and its whole interval is above 1.005. Then the ceiling is wrong. The position of arrays in memory may
/// explain 0.005. It cannot tell for a stage that moves less than four L2 caches, where the start of a launch
/// weighs more than the bytes. And data that one kernel writes and the next one reads may stay in the cache,
/// which saves up to two caches of traffic between any two of a stage's kernels.
bool is_above_ceiling(const Ratio& share, const Traffic& dram, int kernels, std::size_t l2_bytes);

}  // namespace workbook

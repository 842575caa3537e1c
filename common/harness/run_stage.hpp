/// \file
/// One chapter at one shape on one device: the arrays, the reference, and what became of each stage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "chapter.hpp"
#include "harness/backend.hpp"
#include "harness/verify.hpp"

namespace workbook {

struct NamedArray {
  std::string name;
  Type type;
  void* data;
};
using NamedArrays = std::vector<NamedArray>;

/// What became of a stage.
struct StageResult {
  const Stage* stage = nullptr;
  std::string status;     ///< "ok", "wrong" or "skipped"
  std::string message;    ///< what is wrong, or why it was skipped
  bool compared = false;  ///< there was a result to compare with the reference
  double error = 0;       ///< largest error, relative to the magnitude of the terms
  double allowed = 0;
  Counts counts;
  bool timed = false;
  ContenderTiming time;
  ContenderTiming ceiling;  ///< of a streaming kernel with the same mix and number of bytes, in the same run
  std::vector<Resources> resources;
};

/// The bytes that a stage should move: what its `traffic` says; without one, the least that its output needs:
/// each input that it is computed from read once, and each output written once.
Traffic expected_traffic(const Chapter& chapter, const Stage& stage, const Shape& shape);

/// Memory that a problem takes, in bytes.
struct MemoryNeed {
  std::size_t host;
  std::size_t device;
  std::size_t timing;  ///< on a GPU, beside `device`: for the ceilings
};
MemoryNeed memory_need(const Chapter& chapter, const Shape& shape);

/// \throws MachineError when the problem does not fit into what `device`, and `host` for the rest, have free.
void require_memory(const Chapter& chapter, const Shape& shape, const Backend& device, const Backend& host);

/// The arrays of a chapter at a shape, on the host and on a device.
class Problem {
 public:
  /// `misalignment` gives, by array name, the bytes by which its start is off a multiple of 256; 0 where
  /// absent.
  Problem(const Chapter& chapter, const Shape& shape, Backend& backend,
          const std::map<std::string, std::size_t>& misalignment = {});
  ~Problem();
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// Poisons scratch and outputs, runs the stage, and compares. \throws nothing of the stage's: failures are
  /// in the result.
  StageResult check(const Stage& stage);

  /// Runs the stage once, without looking at its result; not at all where it does not suit shape or device.
  Counts run_once(const Stage& stage);

  /// Times the stages that were right, each against a ceiling of its own mix, on rotating sets of inputs;
  /// then checks each again. Fills in the timing fields of `results`.
  void time(GpuBackend& gpu, std::vector<StageResult>& results);

  /// Registers, spills, shared memory and occupancy of each kernel of the stage.
  std::vector<Resources> resources(GpuBackend& gpu, const Stage& stage);

  /// Bytes that any implementation of a stage with this output must move: what it is made of read once, and
  /// it written once.
  double least_bytes(const char* output) const;

 private:
  bool runs(const Stage& stage) const;
  long long count(const Array& array) const { return array.count(shape_); }
  std::size_t bytes(const Array& array) const;
  void run_and_compare(const Stage& stage, unsigned char poison, StageResult& result);
  void compare_output(const Array& output, const Stage& stage, StageResult& result);
  const Reference& reference(const Array& output);
  Data device_data(const NamedArrays& arrays) const { return {shape_, &arrays}; }
  NamedArrays make_set(const std::map<std::string, std::size_t>& misalignment);
  void upload_inputs(const NamedArrays& set);
  void poison(unsigned char with);  // scratch and outputs

  const Chapter& chapter_;
  Shape shape_;
  Backend& backend_;
  std::map<std::string, std::vector<std::byte>> host_;
  NamedArrays host_arrays_;
  std::map<std::string, Reference> references_;
  std::vector<NamedArrays> sets_;  // of device arrays; the first is the one that is verified
};

/// The mix of a streaming kernel with a stage's ratio of bytes read to bytes written, in small numbers.
struct Mix {
  int reads;
  int writes;
};
Mix mix_of(const Traffic& traffic);

}  // namespace workbook

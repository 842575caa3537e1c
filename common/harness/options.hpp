/// \file
/// The options that the executables of all chapters share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chapter.hpp"
#include "harness/backends/device_kind.hpp"

namespace workbook {

/// The parsed command line of a chapter.
struct Options {
  std::optional<DeviceKind> device;  ///< nothing, "auto" on the command line: a GPU if there is one
  std::string visible_devices;       ///< what kVisibleDevices is to be; empty: as it is
  std::optional<Shape> size;         ///< nothing: the chapter's shape for the device
  std::vector<std::string> stages;   ///< names; empty: all
  bool sweep = false;                ///< run the chapter's list of shapes
  std::string json;                  ///< the path of a file for the results; empty: none
  std::string model;                 ///< the name of a card to predict times for; empty: none
  bool sustained = false;            ///< on a GPU, time each stage for seconds as well
  bool take_turns = false;           ///< let another program decide when a stage runs (take_turns.hpp)
  bool resources = false;            ///< show registers and occupancy
  bool lines = false;                ///< show what each source line costs
  bool once = false;                 ///< run each stage once, without output
  std::vector<std::string> notes;    ///< kinds of findings that are to be notes: words of note_words()
  DropoutOptions dropout;            ///< of chapters that have dropout
  std::string trace;                 ///< the path of a file for the requests of one warp; empty: none
};

/// Parses the command line of a chapter. Returns nothing when it was --help, which is then printed.
/// \throws UsageError
std::optional<Options> parse_options(int argc, const char* const* argv, const Chapter& chapter);

/// Refuses --lines on a GPU. \throws UsageError
void require_countable(const std::optional<DeviceKind>& device);

/// The names of the options that a value follows: "--device", "--size" and so on.
std::vector<std::string> options_with_value();

/// The text of `--help` on the options of any chapter.
std::string options_help(const std::string& name, const std::string& description);

/// The stage of that name, or all stages of that number: 1 is 01_wmma, 01_tanh and so on. \throws UsageError
std::vector<std::string> stages_named(const std::string& name, const Chapter& chapter);

/// Parses `--size`: one whole number from 1 to 2^31 - 2^16 for each dimension that `dims` names ("N", "RxC",
/// "MxKxN" and so on), joined by x. No two of them may give more elements than that, since kernels index with
/// int.
/// \throws UsageError
Shape parse_shape(const std::string& text, const std::string& dims);

/// The number of dimensions that names such as "RxC" have.
int rank(const std::string& dims);

/// The shape as `--size` takes it: "1048576" or "4096x1024".
std::string shape_text(const Shape& shape, const std::string& dims);

}  // namespace workbook

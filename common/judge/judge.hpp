/// \file
/// All of the programs that judge and time an exercise. They write their results to a file, as JSON; they
/// print only errors of the machine.
#pragma once

#include <optional>
#include <string>

#include "exercise.hpp"

namespace workbook {

/// Whether an exercise is solved.
enum class VerdictStatus {
  kRunning,  ///< still being judged, or the program ended without a verdict
  kSolved,
  kNotYet
};

/// "running", "solved" or "not yet", as in JSON.
const char* text_of(VerdictStatus status);

/// The status that `text` names; nothing for any other text.
std::optional<VerdictStatus> verdict_status_named(const std::string& text);

/// A file that is judged.
struct Version {
  const char* name;  ///< "reader", "solution", "slip_tail"
  Answer (*answer)();
  const char* path = nullptr;  ///< of the file, whose text is looked at as well; null: it is not
};

/// `PROGRAM VERSION FILE` judges that version on the CPU device and writes the verdict to the file:
///
///     status        "running", with `at`, until the end; then "solved" or "not yet"
///     refused       what no file may have (source_check.hpp); then nothing was run
///     dims          "N"
///     outputs       the arrays that the code computes, with spaces between; empty for predictions
///     cases[]       shape ("5"), how (alignment or block, in words), right, wrong_outputs (the arrays of
///                   `outputs` that are wrong; none where a finding stopped the code), message
///     budget[]      what, counted, allowed, per_element (or per block), approximate, over, excess; only when
///                   all cases are right
///     predictions[] name, unit (may be empty), predicted ("16.0", "nan", a word), counted ("right"; of a
///                   number also "more", "fewer" and "no number", of a word "other" and "no answer"), near
///                   (the right number where the predicted one is only near enough; else empty), slip (what
///                   is known of the mistake that led to the number; may be empty)
///     notes[]       what works but is fragile, of all cases; only at the end
///     learnt, lesson
///
/// A little more than a limit is let pass: for each array and row a sector, and what a head or tail of single
/// elements takes. A count that is an estimate cannot be over its limit. At large shapes no block may do
/// more than a quarter of the work.
///
/// Returns kDone when there is a verdict, kBadUsage for other arguments, kMachineLacks when the file cannot
/// be written.
///
/// `PROGRAM VERSION FILE view [SIZE]` runs the version once, at one size, and writes the data of a page to
/// the file (view_json in line_page.hpp). What cannot be viewed - predictions in place of code, a size that
/// does not fit, a file that is refused - is said in the field `refused` of the file, and the status is
/// kBadUsage. So is what the machine lacks, with kMachineLacks. Where the code ends the program, the file has
/// what judging would have written by then.
int judge_exercise(int argc, const char* const* argv, const Exercise& exercise, const Version* versions,
                   int count);

/// `PROGRAM FILE` times the versions on the GPU, in the same run, and writes `device`, `at`, and for each
/// version, under its name, `message` (what is wrong with it on the GPU, if anything) and `time_us`, the
/// median, 0 for `PROGRAM FILE untimed`; or, where the machine has fewer GPUs than the exercise needs,
/// `skipped`: why. Returns kDone when there is something to read, kMachineLacks without a GPU, kNothingToTime
/// for an exercise that has predictions in place of code.
int time_exercise(int argc, const char* const* argv, const Exercise& exercise, const Version* versions,
                  int count);

}  // namespace workbook

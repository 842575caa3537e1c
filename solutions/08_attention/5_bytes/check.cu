/// \file
/// Exercise 08.5, bytes: what it asks for, and how the file that is judged is called.
#include "exercise.hpp"

#ifdef SPECIFICATION  // with the formulas of the chapter
#include "../../../chapters/08_attention/06_online.cuh"
#include "../../../chapters/08_attention/09_causal.cuh"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr int kQueries = 2048, kKeys = 2048, kElements = 128;
constexpr Shape kShape = {{1, 1, kQueries, kKeys, kElements}};

/// The bytes per score that a stage's formula gives. The chapter's tests hold that formulas are equal to what
/// the CPU device counts.
template <class Host>
double bytes_per_score() {
  const Traffic traffic = Host::traffic(kShape);
  return static_cast<double>(traffic.read_bytes + traffic.write_bytes) /
         static_cast<double>(attention::all_scores(kShape));
}

// --- Mistakes that are known, in bytes per score ---

/// A matrix that a block reads again for each of its tiles; one that is read or written once; a score.
constexpr double kTiled = 4.0 * kElements / attention::BM, kOnce = 4.0 * kElements / kKeys, kScore = 4;
static_assert(attention::BM == attention::BN && kQueries == kKeys);

/// The bytes that the variants move: the right answers.
constexpr double kFirst = 2 * kTiled + kScore, kSecond = kScore + kTiled + kOnce;
constexpr double kOnline = kFirst + kSecond, kTwo = kOnline + kScore, kThree = kOnline + 4 * kScore;
constexpr double kFlash = 2 * kTiled + 2 * kOnce;
constexpr double kTiles = kKeys / attention::BN, kLeft = (kTiles + 1) / (2 * kTiles);
constexpr double kCausal = 2 * kTiled * kLeft + 2 * kOnce;

constexpr const char *kNoResult = "this leaves out the result, d floats per query",
                     *kInputsOnce =
                         "this reads q, k and v once; a block loads 64 rows for each tile that it computes",
                     *kHalfElements = "this is the traffic with d = 64; here d is 128";

const Slip kThreeSlips[] = {
    {kThree - kOnce, kNoResult},
    {kThree - 3 * (kTiled - kOnce), kInputsOnce},
    {kThree - 2 * kScore,
     "this reads a row once for the softmax; the maximum, the sum and the division each need a pass"},
    {kThree - kScore, "this reads a row twice for the softmax; the maximum and the sum are two passes"},
    {kTwo, "this has no softmax kernel; it reads three floats and writes one"},
    {kThree - (3 * kTiled + kOnce) / 2, kHalfElements}};

const Slip kTwoSlips[] = {
    {kTwo - kOnce, kNoResult},
    {kTwo - 3 * (kTiled - kOnce), kInputsOnce},
    {kOnline, "this reads the scores once; the maximum must be known before the first weight"},
    {kTwo + kScore, "this writes the weights too; they stay in shared memory"},
    {kTwo - (3 * kTiled + kOnce) / 2, kHalfElements}};

const Slip kOnlineSlips[] = {
    {kOnline - kOnce, kNoResult},
    {kOnline - 3 * (kTiled - kOnce), kInputsOnce},
    {kTwo, "this reads the scores twice; an online softmax rescales instead"},
    {kOnline - kScore, "this counts the scores once; one kernel writes them, the other reads them"},
    {kOnline - (3 * kTiled + kOnce) / 2, kHalfElements}};

const Slip kFlashSlips[] = {
    {kFlash - kOnce, "this leaves out q or the result; a block loads its queries and stores their results"},
    {kFlash - 2 * kOnce, "this leaves out q and the result"},
    {4 * kOnce, "this reads k and v once; each block of 64 queries reads them again"},
    {3 * kTiled + kOnce, "this loads the queries for each tile; they stay in shared memory"},
    {kFlash + 2 * kScore, "this writes and reads the scores; they stay on the chip"},
    {kFlash / 2, "this is the traffic with d = 64; here d is 128"}};

const Slip kCausalSlips[] = {
    {kFlash, "this loads every tile; those above the diagonal are skipped"},
    {kTiled + 2 * kOnce, "this loads half of the tiles; those on the diagonal are loaded whole"},
    {kFlash / 2,
     "this halves q and the result too, or skips the diagonal; the mask changes neither q nor the result, "
     "and "
     "tiles on the diagonal are loaded whole"}};

// --- The predictions ---

Prediction bytes(const char* name, double value, List<Slip> slips) {
  return {.name = name, .value = value, .unit = "bytes a score", .slips = slips};
}

const Prediction kPredictions[] = {
    bytes("three kernels", bytes_per_score<attention::ThreeKernels>(), kThreeSlips),
    bytes("two kernels", bytes_per_score<attention::TwoKernels>(), kTwoSlips),
    bytes("online", bytes_per_score<attention::Online>(), kOnlineSlips),
    bytes("flash", bytes_per_score<attention::Flash>(), kFlashSlips),
    bytes("causal", bytes_per_score<attention::SkippedTiles>(), kCausalSlips)};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Scores in memory cost 8 bytes each, and a softmax kernel 16 more. Without them, what is left "
              "are k and v, once per tile of queries, and a causal mask halves those.",
          .lesson = "docs/08_attention.md, stage 9",
          .predictions = kPredictions};
}

}  // namespace DEVICE
#endif

// --- How the file that is judged is called ---

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {static_cast<double>(attention_bytes::kThreeKernelsBytes),
                           static_cast<double>(attention_bytes::kTwoKernelsBytes),
                           static_cast<double>(attention_bytes::kOnlineBytes),
                           static_cast<double>(attention_bytes::kFlashBytes),
                           static_cast<double>(attention_bytes::kCausalBytes)};

}  // namespace

workbook::Answer answer() { return {.predictions = kNumbers}; }

}  // namespace DEVICE

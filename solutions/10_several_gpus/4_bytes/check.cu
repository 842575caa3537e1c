/// \file
/// Exercise 10.4, bytes: what it asks for, and how the file that is judged is called.
#include "exercise.hpp"

#ifdef SPECIFICATION  // with the formulas of the chapter
#include "../../../chapters/10_several_gpus/01_unfused.cuh"
#include "../../../chapters/10_several_gpus/04_two_shot.cuh"

namespace DEVICE {
namespace {

using namespace workbook;

using OneShot = several_gpus::OneShot<__nv_bfloat16, several_gpus::ByRelease>;
using TwoShot = several_gpus::TwoShot<__nv_bfloat16>;
using Unfused = several_gpus::Unfused;

constexpr Shape on_gpus(int gpus) { return {{gpus, 8192, 8192}}; }
double elements(int gpus) { return static_cast<double>(gpus * several_gpus::elements(on_gpus(gpus))); }

// The formulas of the stages, per element of one GPU. The chapter's tests hold that formulas are equal to
// what the CPU device counts. Flags are too few to show in a tenth.

/// What one GPU loads comes to it, and so does what another one stores in its memory.
template <class Host>
double link_bytes(int gpus) {
  const Traffic traffic = Host::traffic(on_gpus(gpus));
  return static_cast<double>(traffic.peer_read_bytes + traffic.peer_write_bytes) / elements(gpus);
}
/// Weights are left out, but for the first load.
template <class Host>
double memory_bytes(int gpus) {
  return static_cast<double>(Host::traffic(on_gpus(gpus)).memory_bytes()) / elements(gpus);
}

// --- Mistakes that are known ---

constexpr const char *kAll = "this counts the GPU's own x, which does not go over NVLink",
                     *kBothWays =
                         "this adds what comes in and what goes out; the number is for one direction",
                     *kFloats = "this is in float32; bfloat16 has 2 bytes",
                     *kLoadsAlone = "this is x alone; y comes from the other GPUs as well",
                     *kOneShotLink = "this is one-shot's; in two-shot a GPU loads x of its own rows alone",
                     *kOwnX = "this loads x of one GPU; the kernel loads x of all 8";

const Slip kOneShot2[] = {{4, kAll}};
const Slip kOneShot4[] = {{8, kAll}, {12, kBothWays}};
const Slip kOneShot8[] = {{16, kAll}, {28, kBothWays}};
const Slip kTwoShot2[] = {{1, kLoadsAlone}, {4, kBothWays}};
const Slip kTwoShot4[] = {{1.5, kLoadsAlone}, {6, kOneShotLink}, {4, "this counts the GPU's own part too"}};
const Slip kTwoShot8[] = {{1.75, kLoadsAlone}, {14, kOneShotLink}, {7, kBothWays}};
const Slip kUnfusedMemory[] = {{12, kOwnX},
                               {22, "this leaves out the sum, which one kernel stores and the other loads"},
                               {24, "this moves the sum once; one kernel stores it, the other one loads it"},
                               {52, kFloats}};
const Slip kOneShotMemory[] = {{8, kOwnX},
                               {20, "this leaves out the residual, or h or y"},
                               {26, "this stores and loads the sum; in one kernel it stays in registers"},
                               {44, kFloats}};
const Slip kTwoShotMemory[] = {{36, "this is per element of the rows that a GPU has, an eighth of all"},
                               {2.75, "this stores y on one GPU; it goes to all 8"},
                               {6.25, "this stores h on all GPUs; it stays where its row is"},
                               {9, kFloats}};
const Slip kNorms[] = {{1, "this is two-shot's; in one-shot each GPU has all rows"}};

constexpr const char* kWords[] = {"no answer", "one-shot", "all-reduce and norm"};

// --- The predictions ---

Prediction number(const char* name, double value, List<Slip> slips, const char* unit) {
  return {.name = name, .value = value, .unit = unit, .slips = slips};
}

constexpr const char* kBytes = "bytes an element";

const Prediction kPredictions[] = {
    number("NVLink, one-shot of 2", link_bytes<OneShot>(2), kOneShot2, kBytes),
    number("NVLink, one-shot of 4", link_bytes<OneShot>(4), kOneShot4, kBytes),
    number("NVLink, one-shot of 8", link_bytes<OneShot>(8), kOneShot8, kBytes),
    number("NVLink, two-shot of 2", link_bytes<TwoShot>(2), kTwoShot2, kBytes),
    number("NVLink, two-shot of 4", link_bytes<TwoShot>(4), kTwoShot4, kBytes),
    number("NVLink, two-shot of 8", link_bytes<TwoShot>(8), kTwoShot8, kBytes),
    number("memory, unfused", memory_bytes<Unfused>(8), kUnfusedMemory, kBytes),
    number("memory, one-shot", memory_bytes<OneShot>(8), kOneShotMemory, kBytes),
    number("memory, two-shot", memory_bytes<TwoShot>(8), kTwoShotMemory, kBytes),
    number("norms of a row, one-shot", 8, kNorms, "times"),
    {.name = "faster with 8 GPUs", .value = 2, .words = kWords}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "One-shot moves N - 1 times the array over NVLink, two-shot less than twice the array, however "
              "many GPUs there are. Fusing pays only as long as it does not make every GPU repeat the work.",
          .lesson = "docs/10_several_gpus.md, Predict",
          .predictions = kPredictions};
}

}  // namespace DEVICE
#endif

// --- How the file that is judged is called ---

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {
    static_cast<double>(bytes_of_gpus::kOneShotOf2),    static_cast<double>(bytes_of_gpus::kOneShotOf4),
    static_cast<double>(bytes_of_gpus::kOneShotOf8),    static_cast<double>(bytes_of_gpus::kTwoShotOf2),
    static_cast<double>(bytes_of_gpus::kTwoShotOf4),    static_cast<double>(bytes_of_gpus::kTwoShotOf8),
    static_cast<double>(bytes_of_gpus::kUnfusedMemory), static_cast<double>(bytes_of_gpus::kOneShotMemory),
    static_cast<double>(bytes_of_gpus::kTwoShotMemory), static_cast<double>(bytes_of_gpus::kNormsOfOneShot),
    static_cast<double>(bytes_of_gpus::kFaster)};

}  // namespace

workbook::Answer answer() { return {.predictions = kNumbers}; }

}  // namespace DEVICE

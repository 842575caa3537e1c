/// \file
/// Exercise 07.5, budget: what it asks for, and how the file that is judged is called.
#include "exercise.hpp"

#ifdef SPECIFICATION  // after the solution; other files need not have its numbers
namespace DEVICE {
namespace {

using namespace workbook;
using namespace gelu_dropout_budget;

/// A kernel of the chapter that makes one Philox call per thread, and the instructions that a thread of it
/// executes in machine code.
struct Kernel {
  const char* name;
  int elements, instructions;  // of a thread

  constexpr double per_element() const { return static_cast<double>(instructions) / elements; }
};

// Rows of plots/data/sm_90a/07_gelu_dropout_instructions.txt: a test holds that they are.
constexpr Kernel kFused = {"fused", 1, 110}, kShareCalls = {"share_calls", 4, 209},
                 kForward8 = {"sixteen_bits<Erf>", 8, 351}, kForward16 = {"eight_bits", 16, 643},
                 kForwardBfloat16 = {"sixteen_bit_type<__nv_bfloat16, Erf>", 8, 348};
static_assert(kFused.instructions == kInstructionsWith1 && kShareCalls.instructions == kInstructionsWith4);

/// Instructions that are issued while memory moves so many bytes, each counted once per lane.
constexpr double budget(double bytes) {
  return kUsed * kClock * kMultiprocessors * kSchedulers * kLanes * bytes / kBandwidth;
}
constexpr double kFloat32 = budget(4 + 4), kBfloat16 = budget(2 + 2);

// What follows from the two kernels that the reader knows: the work of three elements, of one, and of a call.
constexpr double kDifference = kShareCalls.instructions - kFused.instructions;
constexpr double kOfElement = kDifference / (kShareCalls.elements - kFused.elements);
constexpr double kOfCall = kFused.instructions - kOfElement;

/// Instructions of Philox's ten rounds, as the lesson counts them in stage 1.
constexpr int kRounds = 10 * 6;

/// How far a prediction may be off. The budgets and the instructions per call and per element are calculated:
/// 2 % lets whole numbers pass. The needs of the other kernels are estimated, since the compiler makes each
/// kernel a little different: 7 % lets the estimate pass, but no number that leaves out a part of the work.
constexpr double kCalculated = 0.02, kEstimated = 0.07;

// --- Mistakes that are known ---

constexpr const char *kOnePerWarp = "this counts an instruction once per warp; count it for each of 32 lanes",
                     *kOneMultiprocessor = "this is one multiprocessor's share; all of them work at once",
                     *kAllSlots = "this is all issue slots, an upper bound; a kernel uses a share of them",
                     *kOneArray = "this is the time of one array; x is read and y is written",
                     *kWholeThread = "this is what a thread needs; divide it among its elements",
                     *kNoCall = "this leaves the call out; each element has its share of it",
                     *kCallEach = "this has a whole call for each element, as `fused` does",
                     *kAllShared = "this shares all instructions; only those per call serve several elements";

const Slip kBudgetFloat32Slips[] = {
    {budget(4), kOneArray},
    {kFloat32 / kUsed, kAllSlots},
    {kFloat32 / kSchedulers, "this is one scheduler's share; a multiprocessor has four"},
    {budget(1), "this is the budget of one byte; an element has 4 in x and 4 in y"},
    {kFloat32 / kLanes, kOnePerWarp},
    {kFloat32 / kMultiprocessors, kOneMultiprocessor}};

const Slip kBudgetBfloat16Slips[] = {
    {kFloat32, "this is the budget of float32; an element of bfloat16 has 2 bytes in x and 2 in y"},
    {kBfloat16 / kUsed, kAllSlots},
    {budget(2), kOneArray},
    {budget(1), "this is a quarter: the budget of one byte of four, or one scheduler's share of four"},
    {kBfloat16 / kLanes, kOnePerWarp},
    {kBfloat16 / kMultiprocessors, kOneMultiprocessor}};

const Slip kPerCallSlips[] = {
    {kFused.instructions, "this is all that a thread of `fused` executes; its element's work is in it"},
    {kDifference, "this is the work of three more elements; the threads of both kernels make one call each"},
    {kFused.per_element() - kShareCalls.per_element(),
     "this is what sharing saves per element: three quarters of a call, since a quarter is left"},
    {kRounds, "these are the ten rounds; what else a thread executes once counts too, such as its address"}};

const Slip kPerElementSlips[] = {
    {kShareCalls.per_element(), "this has a quarter of a call in it"},
    {kDifference, "this is the work of three elements"},
    {kDifference / kShareCalls.elements, "the threads have four elements and one: they differ by three"},
    {kFused.instructions - kRounds,
     "this is `fused` without the ten rounds; a thread executes more than them once, such as its address"}};

template <int Elements>
const Slip kFloat32NeedsSlips[] = {{Elements * kOfElement + kOfCall, kWholeThread},
                                   {kOfElement, kNoCall},
                                   {kOfElement + kOfCall, kCallEach},
                                   {kFused.per_element() / Elements, kAllShared},
                                   {kShareCalls.instructions / static_cast<double>(Elements), kAllShared}};

const Slip kBfloat16NeedsSlips[] = {
    {kForward8.per_element() / 2, "half the bytes are not half the work; GELU is computed in float32 again"},
    {8 * kOfElement + kOfCall, kWholeThread},
    {kOfElement, kNoCall},
    {kOfElement + kOfCall, kCallEach}};

const Slip kNotMemory[] = {{kMemory, "an element needs more instructions than its budget"}};
const Slip kNotIssue[] = {{kIssue, "an element needs fewer instructions than its budget"}};

// --- The predictions ---

constexpr Prediction number(const char* name, double value, double tolerance, List<Slip> slips) {
  return {.name = name, .value = value, .unit = "instructions", .tolerance = tolerance, .slips = slips};
}

const char* const kWords[] = {"?", "memory", "issue"};

/// What limits a kernel that needs so many instructions per element.
constexpr Prediction limit(const char* name, double needs, double available) {
  const bool is_issue = needs > available;
  return {.name = name,
          .value = static_cast<double>(is_issue ? kIssue : kMemory),
          .words = kWords,
          .slips = {is_issue ? kNotMemory : kNotIssue, 1}};
}

// In bfloat16 the chapter has a kernel for eight elements per call alone. It needs almost what float32's
// does, so those for one, four and sixteen are taken to need that as well.
const Prediction kPredictions[] = {
    number("budget of float32", kFloat32, kCalculated, kBudgetFloat32Slips),
    number("budget of bfloat16", kBfloat16, kCalculated, kBudgetBfloat16Slips),
    number("per element", kOfElement, kCalculated, kPerElementSlips),
    number("per call", kOfCall, kCalculated, kPerCallSlips),
    number("float32 needs, 8 per call", kForward8.per_element(), kEstimated, kFloat32NeedsSlips<8>),
    number("float32 needs, 16 per call", kForward16.per_element(), kEstimated, kFloat32NeedsSlips<16>),
    number("bfloat16 needs, 8 per call", kForwardBfloat16.per_element(), kEstimated, kBfloat16NeedsSlips),
    limit("limit of float32, 1 per call", kFused.per_element(), kFloat32),
    limit("limit of float32, 4 per call", kShareCalls.per_element(), kFloat32),
    limit("limit of float32, 8 per call", kForward8.per_element(), kFloat32),
    limit("limit of float32, 16 per call", kForward16.per_element(), kFloat32),
    limit("limit of bfloat16, 1 per call", kFused.per_element(), kBfloat16),
    limit("limit of bfloat16, 4 per call", kShareCalls.per_element(), kBfloat16),
    limit("limit of bfloat16, 8 per call", kForwardBfloat16.per_element(), kBfloat16),
    limit("limit of bfloat16, 16 per call", kForward16.per_element(), kBfloat16)};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "How many instructions an element has time for follows from its bytes, and what it needs from "
              "how many elements share a call. In bfloat16 no sharing is enough: GELU itself must become "
              "cheaper.",
          .lesson = "docs/07_gelu_dropout.md, Measure",
          .predictions = kPredictions};
}

}  // namespace DEVICE
#endif

// --- How the file that is judged is called ---

namespace DEVICE {
namespace {

// The numbers may be of any type, and their neighbours may have any name.
const double kNumbers[] = {static_cast<double>(gelu_dropout_budget::kBudgetFloat32),
                           static_cast<double>(gelu_dropout_budget::kBudgetBfloat16),
                           static_cast<double>(gelu_dropout_budget::kPerElement),
                           static_cast<double>(gelu_dropout_budget::kPerCall),
                           static_cast<double>(gelu_dropout_budget::kFloat32Needs8),
                           static_cast<double>(gelu_dropout_budget::kFloat32Needs16),
                           static_cast<double>(gelu_dropout_budget::kBfloat16Needs8),
                           static_cast<double>(gelu_dropout_budget::kFloat32With1),
                           static_cast<double>(gelu_dropout_budget::kFloat32With4),
                           static_cast<double>(gelu_dropout_budget::kFloat32With8),
                           static_cast<double>(gelu_dropout_budget::kFloat32With16),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With1),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With4),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With8),
                           static_cast<double>(gelu_dropout_budget::kBfloat16With16)};

}  // namespace

workbook::Answer answer() { return {.predictions = kNumbers}; }

}  // namespace DEVICE

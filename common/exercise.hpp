/// \file
/// An exercise's description: its arrays, the results that the reader's code must compute, and what it may
/// cost. Plain data and declarations only, as in chapter.hpp. docs/adding_an_exercise.md shows how one is
/// written.
#pragma once

#include "chapter.hpp"

namespace workbook {

/// Lengths at which tails, partial warps and partial blocks show, even and odd ones; the last is a prime.
constexpr Shape kHostileLengths[] = {
    {{1, 1, 1}},    {{2, 1, 1}},    {{3, 1, 1}},    {{4, 1, 1}},    {{5, 1, 1}},     {{31, 1, 1}},
    {{32, 1, 1}},   {{33, 1, 1}},   {{127, 1, 1}},  {{255, 1, 1}},  {{256, 1, 1}},   {{257, 1, 1}},
    {{1023, 1, 1}}, {{1024, 1, 1}}, {{4098, 1, 1}}, {{5000, 1, 1}}, {{999983, 1, 1}}};

/// The same for exercises whose elements take long to judge. The last prime is less than a third as long; its
/// remainders by 1024, 5 and 3 are the same, and an H100 has fewer threads at once.
constexpr Shape kShorterLengths[] = {
    {{1, 1, 1}},    {{2, 1, 1}},    {{3, 1, 1}},    {{4, 1, 1}},    {{5, 1, 1}},     {{31, 1, 1}},
    {{32, 1, 1}},   {{33, 1, 1}},   {{127, 1, 1}},  {{255, 1, 1}},  {{256, 1, 1}},   {{257, 1, 1}},
    {{1023, 1, 1}}, {{1024, 1, 1}}, {{4098, 1, 1}}, {{5000, 1, 1}}, {{278063, 1, 1}}};

/// The quantity that is limited. Bytes are those of the sectors that requests touch; compulsory bytes are
/// those that a cold cache must fetch and write.
enum class Cost {
  kLaunches,
  kThreads,  ///< that are launched, those without work included
  kReadBytes,
  kWrittenBytes,
  kCompulsoryReadBytes,
  kCompulsoryWrittenBytes,
  kPeerReadBytes,  ///< of kReadBytes, those of other GPUs' memory, which pass over NVLink
  kPeerWrittenBytes,
  kLoadRequests,
  kStoreRequests,
  kSharedRequests,
  kSharedWavefronts,
  kBarriers,  ///< __syncthreads(), one for each block that completes it
  kAtomics    ///< requests of those on shared memory, sectors of the others; contended ones count as one more
};

/// The most that the reader's code may cost at a shape, on all GPUs together.
struct Limit {
  Cost cost;
  long long (*allowed)(const Shape&);
  const char*
      excess;  ///< what more than that means, for the reader: "is the product still going through memory?"
  long long (*blocks)(const Shape&) = nullptr;  ///< if given, the reader sees the cost and the limit per
                                                ///< block, of this many blocks in all launches
  /// Of a limit on bytes, if given: the question in place of `excess` where the lanes use few enough bytes,
  /// but of too many sectors. `excess` then asks what is accessed more than once.
  const char* scattered = nullptr;
};

/// Limit::scattered where lanes should access neighbouring elements.
constexpr const char* kScatteredLoads = "do neighbouring lanes load neighbouring elements?";
constexpr const char* kScatteredStores = "do neighbouring lanes store neighbouring elements?";

/// A mistake that readers make, known by the number that it leads to.
struct Slip {
  double number;
  const char* says;  ///< what the number is instead, without a full stop: "this is x alone; y is written too"
};

/// A number to predict: what a pipeline moves, or one that the specification computes.
struct Prediction {
  const char* name;

  /// The pipeline: bytes read and written an element are to be predicted. Null: there is none, but a `value`.
  void (*run)(const Data&) = nullptr;
  bool launches = false;  ///< the number of launches instead
  double flops = 0;       ///< if given, operations an element: FLOP a byte instead

  double value = 0;       ///< the number, where there is no pipeline
  const char* unit = "";  ///< its unit, as the reader sees it

  /// If given, `value` is the index of the word that is right; word 0 says that there is no answer yet.
  List<const char*> words = {};

  /// A prediction may be off by this share of the number. It may be rounded to a tenth in any case.
  double tolerance = 0;
  List<Slip> slips = {};  ///< the first that is as near to a wrong prediction is shown
};

/// The contents of the file that is judged: the reader's, the solution, or a test's. `answer()` of
/// `check.cu`, which is compiled after each of them, returns this.
struct Answer {
  void (*run)(const Data&) = nullptr;  ///< calls its code; or
  List<double> predictions = {};       ///< its numbers, in the order of Exercise::predictions
};

/// The specification of an exercise.
struct Exercise {
  const char* learnt;  ///< what the reader has learnt who has solved it, a sentence or two
  const char* lesson;  ///< where it stands in the lesson: "docs/01_multiply_add.md, stage 2"

  List<const Array*> arrays = {};  ///< an "element" of a limit on bytes is one of the first array, which each
                                   ///< GPU has; none where no pipeline is run
  void (*fill)(const Data& host) = nullptr;  ///< fills the inputs: random, asymmetric, never constant

  // Either code that computes an output ...
  ArrayList output = {};                     ///< what it computes
  int (*roundings)(const Shape&) = nullptr;  ///< on the longest path to an element of the output
  List<Limit> limits = {};                   ///< held in the last case, once the results are right in all;
                                             ///< judge.hpp says how much more is let pass
  // ... or numbers to predict.
  List<Prediction> predictions = {};

  /// The number of GPUs that a shape is spread over; null: one. If given, that is the first dimension, and
  /// rows, if any, are the second.
  int (*gpus)(const Shape&) = nullptr;

  const char* dims = "N";  ///< how a shape is written: "N", "RxC", "MxKxN" or "GxRxC"
  List<Shape> shapes = kHostileLengths;
  bool any_alignment = false;  ///< arrays that start at any multiple of 4 bytes are tried too; the last case
                               ///< then has each of them 4 bytes past a multiple of 256
  List<int> blocks = {};       ///< values of Data::block: each shape is tried with each of them, the last
                               ///< case is the last shape with the last one; none: 256 alone
  int (*grid_blocks)(const Shape&) = nullptr;  ///< the blocks that the answer launches at a shape, which the
                                               ///< verdict then names; not together with `blocks`
  Shape timed_shape = {{1 << 24, 1, 1}};       ///< what is timed where there is a GPU
};

}  // namespace workbook

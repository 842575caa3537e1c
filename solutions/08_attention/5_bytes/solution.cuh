/// \file
/// Exercise 08.5, bytes: the traffic of five variants of attention.
///
/// Numbers, not code: for each of five stages of this chapter, the bytes that its kernels read and write
/// together per score, to a tenth of a byte. One head, 2048 queries, 2048 keys, d = 128, in float32. There is
/// one score for each pair of a query and a key, also where a mask hides it. Every load counts, even if a
/// cache holds what it loads. Write down your reasons before you check.
///
/// - Three kernels, stage 4: a product, whose blocks compute tiles of 64 x 64 scores and load 64 rows of q
///   and 64 of k for each; a softmax in place, which reads every row three times; and a second product, whose
///   blocks have 64 queries each, load their weights and v once, and write all d elements of the result.
/// - Two kernels, stage 5: the second product reads the scores for the maximum, then again for the weights,
///   and no softmax kernel is left.
/// - Online, stage 6: the second product reads the scores once.
/// - Flash, stage 7: one kernel. A block loads its 64 queries once and goes over all keys and values. Scores
///   are never in memory.
/// - Causal, the last kernel of stage 9: as flash, but tiles of 64 x 64 scores above the diagonal are
///   skipped.
///
/// Goal: all five as the chapter counts them at this size.
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

// BEGIN SOLUTION
constexpr double kRow = 4 * 128, kTile = 64, kKeys = 2048;         // kRow: the bytes of a row of q, k, v or o
constexpr double kFirstProduct = kRow / kTile + kRow / kTile + 4;  // q, k; a score is written
constexpr double kSoftmax = 3 * 4 + 4;                             // three passes, and a weight is written
constexpr double kSecondProduct = 4 + kRow / kTile + kRow / kKeys;  // a weight, v; o
constexpr double kLeft = 33.0 / 64;  // of 32 x 32 tiles, 32 * 33 / 2 are on the diagonal or below

constexpr double kThreeKernelsBytes = kFirstProduct + kSoftmax + kSecondProduct;  // one kernel each
constexpr double kTwoKernelsBytes = kFirstProduct + 4 + kSecondProduct;           // the scores once more
constexpr double kOnlineBytes = kFirstProduct + kSecondProduct;                   // no pass for the maximum
constexpr double kFlashBytes = kRow / kKeys + 2 * kRow / kTile + kRow / kKeys;    // q; k and v; o
constexpr double kCausalBytes = kRow / kKeys + kLeft * 2 * kRow / kTile + kRow / kKeys;  // part of k and v
// SKELETON
// constexpr double kThreeKernelsBytes = 0.0;
// constexpr double kTwoKernelsBytes = 0.0;
// constexpr double kOnlineBytes = 0.0;
// constexpr double kFlashBytes = 0.0;
// constexpr double kCausalBytes = 0.0;
// END SOLUTION

}  // namespace DEVICE::attention_bytes

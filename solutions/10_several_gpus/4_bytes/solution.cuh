/// \file
/// Exercise 10.4, bytes: what goes over NVLink, and what one GPU's memory moves.
///
/// Numbers, not code, to a tenth. There are N GPUs, 8192 rows of 8192 columns, and all arrays are in
/// bfloat16, 2 bytes per element. "Per element" means: of one GPU, divided by 8192 * 8192. Flags and
/// weights are too few bytes to count, because a cache holds them. Write down your reasons before you
/// check.
///
/// - Over NVLink, the bytes per element that come to one GPU, as loads of its own and as stores of the
///   others; the same number leaves it. One-shot (stage 2) with 2, 4 and 8 GPUs, and two-shot (stage 4)
///   with 2, 4 and 8.
/// - The bytes per element that the kernels load and store in memory, a GPU's own and that of others,
///   with 8 GPUs. Unfused (stage 1) is a one-shot sum in a kernel of its own, which stores the sum; a
///   second kernel loads it and the residual, and stores h and y. One-shot, stage 2, loads x of all GPUs
///   and the residual, and stores h and y. In two-shot, stage 4, h stays on the GPU that has the row.
/// - How many times the norm of one row is computed on all 8 GPUs together, by one-shot.
/// - Which is faster with 8 GPUs at this size: the one-shot kernel, or a two-shot all-reduce (NCCL's)
///   with the kernel for residual and norm after it? NVLink moves 450 GB/s in each direction, memory
///   of an H200 4800 GB/s.
///
/// Goal: all of them as the chapter counts them, weights apart.
#pragma once
#include "device.hpp"

namespace DEVICE::bytes_of_gpus {

/// The faster one of two.
enum Faster { kNoAnswer, kOneShot, kAllReduceAndNorm };

// BEGIN SOLUTION
constexpr int kElement = 2;  // bytes

constexpr double one_shot_link(double n) { return (n - 1) * kElement; }          // all x of all others
constexpr double two_shot_link(double n) { return 2 * (n - 1) / n * kElement; }  // 1 / n of x, the rest of y

constexpr double kOneShotOf2 = one_shot_link(2), kOneShotOf4 = one_shot_link(4),
                 kOneShotOf8 = one_shot_link(8);  // by the number of GPUs
constexpr double kTwoShotOf2 = two_shot_link(2), kTwoShotOf4 = two_shot_link(4),
                 kTwoShotOf8 = two_shot_link(8);  // by the number of GPUs

constexpr double kUnfusedMemory = (8 + 1 + 2 + 2) * kElement;        // x, sum; sum, residual; h, y
constexpr double kOneShotMemory = (8 + 1 + 2) * kElement;            // x, residual; h, y
constexpr double kTwoShotMemory = (8 + 1 + 1 + 8) * kElement / 8.0;  // 1 / 8 of the rows; y on all
constexpr double kNormsOfOneShot = 8 * 1;                            // once on each GPU, which has all rows
constexpr Faster kFaster = kAllReduceAndNorm;  // 14 bytes / 450 GB/s: 31 ps; 3.5 / 450 + 8 / 4800: 9 ps
// SKELETON
// constexpr double kOneShotOf2 = 0.0, kOneShotOf4 = 0.0, kOneShotOf8 = 0.0;
// constexpr double kTwoShotOf2 = 0.0, kTwoShotOf4 = 0.0, kTwoShotOf8 = 0.0;
//
// constexpr double kUnfusedMemory = 0.0;
// constexpr double kOneShotMemory = 0.0;
// constexpr double kTwoShotMemory = 0.0;
// constexpr double kNormsOfOneShot = 0.0;
// constexpr Faster kFaster = kNoAnswer;
// END SOLUTION

}  // namespace DEVICE::bytes_of_gpus

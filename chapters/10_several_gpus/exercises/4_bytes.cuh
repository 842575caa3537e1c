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

constexpr double kOneShotOf2 = 0.0, kOneShotOf4 = 0.0, kOneShotOf8 = 0.0;
constexpr double kTwoShotOf2 = 0.0, kTwoShotOf4 = 0.0, kTwoShotOf8 = 0.0;

constexpr double kUnfusedMemory = 0.0;
constexpr double kOneShotMemory = 0.0;
constexpr double kTwoShotMemory = 0.0;
constexpr double kNormsOfOneShot = 0.0;
constexpr Faster kFaster = kNoAnswer;

}  // namespace DEVICE::bytes_of_gpus

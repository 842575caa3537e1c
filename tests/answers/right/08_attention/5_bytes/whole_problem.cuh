// counted for the whole matrices, then divided by the number of scores
#pragma once
#include "device.hpp"

namespace DEVICE::attention_bytes {

constexpr double queries = 2048, keys = 2048, d = 128, scores = queries * keys;
constexpr double tiles_down = queries / 64, tiles_across = keys / 64;
constexpr double matrix = 4 * queries * d;  // bytes of q, k, v or o
constexpr double product = matrix * tiles_across + matrix * tiles_down + 4 * scores;
constexpr double softmax = 16 * scores;
constexpr double values = 4 * scores + matrix * tiles_down + matrix;

constexpr double kThreeKernelsBytes = (product + softmax + values) / scores;
constexpr double kTwoKernelsBytes = (product + values + 4 * scores) / scores;
constexpr double kOnlineBytes = (product + values) / scores;
constexpr double kFlashBytes = (2 * matrix + 2 * matrix * tiles_down) / scores;
constexpr double kCausalBytes = (2 * matrix + 2 * matrix * (tiles_down + 1) / 2) / scores;

}  // namespace DEVICE::attention_bytes

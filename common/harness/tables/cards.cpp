#include "harness/tables/cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "system/errors.hpp"

namespace workbook {
namespace {

// Bandwidths are those of NVIDIA's product pages and data sheets, which give the sum of both directions for
// NVLink. So are multiprocessors, clocks, sizes of L2 and widths of buses.
constexpr Card kCards[] = {
    {"t4", "Tesla T4", 320, 0, {75, 40, 1590, 4, 256}},
    {"v100", "Tesla V100-SXM2", 900, 150, {70, 80, 1530, 6, 4096}},
    {"a100-40", "NVIDIA A100-SXM4-40GB", 1555, 300, {80, 108, 1410, 40, 5120}},
    {"a100-80", "NVIDIA A100-SXM4-80GB", 2039, 300, {80, 108, 1410, 40, 5120}},
    {"a10", "NVIDIA A10", 600, 0, {86, 72, 1695, 6, 384}},
    {"l4", "NVIDIA L4", 300, 0, {89, 58, 2040, 48, 192}},
    {"l40s", "NVIDIA L40S", 864, 0, {89, 142, 2520, 96, 384}},
    {"h100", "NVIDIA H100 80GB HBM3", 3350, 450, {90, 132, 1980, 50, 5120}},
    {"h200", "NVIDIA H200", 4800, 450, {90, 132, 1980, 60, 6144}},
    {"b200", "NVIDIA B200", 8000, 900, {100, 148, 1965, 126, 8192}},
    {"rtx3050", "NVIDIA GeForce RTX 3050", 224, 0, {86, 20, 1777, 2, 128}},
    {"rtx3060", "NVIDIA GeForce RTX 3060", 360, 0, {86, 28, 1777, 3, 192}},
    {"rtx3070", "NVIDIA GeForce RTX 3070", 448, 0, {86, 46, 1725, 4, 256}},
    {"rtx3080", "NVIDIA GeForce RTX 3080", 760, 0, {86, 68, 1710, 5, 320}},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 936, 56, {86, 82, 1695, 6, 384}},
    {"rtx4060", "NVIDIA GeForce RTX 4060", 272, 0, {89, 24, 2460, 24, 128}},
    {"rtx4070", "NVIDIA GeForce RTX 4070", 504, 0, {89, 46, 2475, 36, 192}},
    {"rtx4080", "NVIDIA GeForce RTX 4080", 717, 0, {89, 76, 2505, 64, 256}},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 1008, 0, {89, 128, 2520, 72, 384}},
    {"rtx5090", "NVIDIA GeForce RTX 5090", 1792, 0, {120, 170, 2407, 96, 512}},
};

struct Multiprocessor {
  int capability;
  std::size_t threads, blocks, shared_kib, block_shared_kib;
};

// The table of technical specifications in the CUDA C++ Programming Guide.
constexpr Multiprocessor kMultiprocessors[] = {
    {70, 2048, 32, 96, 96},  {75, 1024, 16, 64, 64},   {80, 2048, 32, 164, 163},  {86, 1536, 16, 100, 99},
    {89, 1536, 24, 100, 99}, {90, 2048, 32, 228, 227}, {100, 2048, 32, 228, 227}, {120, 1536, 24, 100, 99},
};

}  // namespace

std::optional<Card> card_named(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Card& card : kCards)
    if (lower == card.name) return card;
  return std::nullopt;
}

Card card_for(const std::string& model) {
  if (const std::optional<Card> card = card_named(model)) return *card;
  throw UsageError(fmt::format("--model {}: no such card is known; accepted are {}", model, card_names()));
}

cpu::CardLimits limits_of(const Card& card) {
  const Multiprocessor& one =
      *std::find_if(std::begin(kMultiprocessors), std::end(kMultiprocessors),
                    [&](const Multiprocessor& each) { return each.capability == card.chip.capability; });
  return {.name = card.full_name,
          .multiprocessors = card.chip.multiprocessors,
          .threads = one.threads,
          .blocks = one.blocks,
          .shared_bytes = one.shared_kib * 1024,
          .most_shared_bytes = one.block_shared_kib * 1024};
}

std::optional<Card> card_of_driver_name(const std::string& full_name) {
  for (const Card& card : kCards)
    if (full_name == card.full_name) return card;
  return std::nullopt;
}

std::string card_names(std::size_t width) {
  std::string names;
  std::size_t column = 0;
  for (const Card& card : kCards) {
    const std::string name = card.name;
    if (column > 0 && column + 2 + name.size() > width) {
      names += ",\n";
      column = 0;
    } else if (column > 0) {
      names += ", ";
      column += 2;
    }
    names += name;
    column += name.size();
  }
  return names;
}

}  // namespace workbook

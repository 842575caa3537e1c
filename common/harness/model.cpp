#include "harness/model.hpp"

#include <algorithm>
#include <cctype>

namespace workbook {
namespace {

// Bandwidths are those of NVIDIA's product pages and data sheets, which give the sum of both directions for
// NVLink.
constexpr Card kCards[] = {
    {"t4", "Tesla T4", 320},
    {"v100", "Tesla V100-SXM2", 900, 150},
    {"a100-40", "NVIDIA A100-SXM4-40GB", 1555, 300},
    {"a100-80", "NVIDIA A100-SXM4-80GB", 2039, 300},
    {"a10", "NVIDIA A10", 600},
    {"l4", "NVIDIA L4", 300},
    {"l40s", "NVIDIA L40S", 864},
    {"h100", "NVIDIA H100 80GB HBM3", 3350, 450},
    {"h200", "NVIDIA H200", 4800, 450},
    {"b200", "NVIDIA B200", 8000, 900},
    {"rtx3050", "NVIDIA GeForce RTX 3050", 224},
    {"rtx3060", "NVIDIA GeForce RTX 3060", 360},
    {"rtx3070", "NVIDIA GeForce RTX 3070", 448},
    {"rtx3080", "NVIDIA GeForce RTX 3080", 760},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 936, 56},
    {"rtx4060", "NVIDIA GeForce RTX 4060", 272},
    {"rtx4070", "NVIDIA GeForce RTX 4070", 504},
    {"rtx4080", "NVIDIA GeForce RTX 4080", 717},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 1008},
    {"rtx5090", "NVIDIA GeForce RTX 5090", 1792},
};

}  // namespace

std::optional<Card> card_named(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Card& card : kCards)
    if (lower == card.name) return card;
  return std::nullopt;
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

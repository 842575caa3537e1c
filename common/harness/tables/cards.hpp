/// \file
/// What is published of cards: bandwidths, to predict times without having the card, and sizes.
#pragma once

#include <optional>
#include <string>

#include "cpu_device/findings/launch_limits.hpp"

namespace workbook {

/// Properties that a program can ask the runtime for.
struct Chip {
  int capability;  ///< 86 for 8.6
  int multiprocessors;
  int clock_mhz;  ///< boost
  int l2_mib;
  int bus_bits;  ///< of the memory
};

/// A graphics card.
struct Card {
  const char* name;              ///< as `--model` takes it
  const char* full_name;         ///< as the driver reports it
  double gbytes_per_s;           ///< published memory bandwidth, in 10^9 bytes/s
  double link_gbytes_per_s = 0;  ///< of all NVLinks together, in each direction; 0: it has none
  Chip chip = {};
};

/// The card that `--model` names, in upper or lower case; nothing when it is not in the list.
std::optional<Card> card_named(const std::string& name);

/// The same. \throws UsageError for a card that is not in the list
Card card_for(const std::string& model);

/// The limits of launches on a card.
cpu::CardLimits limits_of(const Card& card);

/// The card that the driver reports under this name; nothing when it is not in the list.
std::optional<Card> card_of_driver_name(const std::string& full_name);

/// The names of all cards, separated by commas, in lines of at most `width` characters.
std::string card_names(std::size_t width = std::string::npos);

}  // namespace workbook

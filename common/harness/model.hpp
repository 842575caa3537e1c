/// \file
/// The published bandwidth of cards, to predict times without having the card.
#pragma once

#include <optional>
#include <string>

namespace workbook {

/// A graphics card.
struct Card {
  const char* name;              ///< as `--model` takes it
  const char* full_name;         ///< as the driver reports it
  double gbytes_per_s;           ///< published memory bandwidth, in 10^9 bytes/s
  double link_gbytes_per_s = 0;  ///< of all NVLinks together, in each direction; 0: it has none
};

/// The card that `--model` names, in upper or lower case; nothing when it is not in the list.
std::optional<Card> card_named(const std::string& name);

/// The card that the driver reports under this name; nothing when it is not in the list.
std::optional<Card> card_of_driver_name(const std::string& full_name);

/// The names of all cards, separated by commas, in lines of at most `width` characters.
std::string card_names(std::size_t width = std::string::npos);

}  // namespace workbook

/// \file
/// Cards by name, for predictions without the card at hand.
#pragma once

#include <optional>
#include <string>

namespace workbook {

struct Card {
  const char* name;       ///< as `--model` takes it
  const char* full_name;  ///< as the driver reports it
  double gbytes_per_s;    ///< memory bandwidth that its maker publishes
};

/// The card that `--model` names, upper or lower case; nothing when it is not in the list.
std::optional<Card> card_named(const std::string& name);

/// The card whose driver name this is.
std::optional<Card> card_of_driver_name(const std::string& full_name);

/// All names, separated by commas, in lines of at most `width` characters.
std::string card_names(std::size_t width = std::string::npos);

}  // namespace workbook

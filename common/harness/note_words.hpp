/// \file
/// The words of the option --note, which makes findings of a kind notes.
#pragma once

#include <string>
#include <vector>

namespace workbook {

/// The words that the option takes: "race", "uninitialised", ...
std::vector<std::string> note_words();

/// Checks the words that the user gave. \throws UsageError for one that the option does not take
void require_note_words(const std::vector<std::string>& words);

}  // namespace workbook

/// \file
/// The words of the option --note, which makes findings of a kind notes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/backends/device_kind.hpp"

namespace workbook {

/// The words that the option takes: "race", "uninitialised", ...
std::vector<std::string> note_words();

/// The same, separated by commas.
std::string note_words_text();

/// Checks the words that the user gave, if any, for a run on `device`; nothing: it is not known yet.
/// \throws UsageError for a word that the option does not take, and on a GPU
void require_note_words(const std::vector<std::string>& words, std::optional<DeviceKind> device);

/// A line that shows the option to a user whose launches were stopped by findings that it calls `words`; an
/// empty word is a finding after which no launch can go on, or none. Nothing when all are empty.
std::string how_to_go_on(std::vector<std::string> words);

}  // namespace workbook

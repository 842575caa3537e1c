#include "harness/note_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cpu/finding_kind.hpp"
#include "harness/errors.hpp"

namespace workbook {

std::vector<std::string> note_words() {
  std::vector<std::string> words;
  for (const cpu::FindingKindRow& row : cpu::kFindingKinds)
    if (row.can_go_on && !row.word.empty() && std::find(words.begin(), words.end(), row.word) == words.end())
      words.emplace_back(row.word);
  return words;
}

void require_note_words(const std::vector<std::string>& words) {
  const std::vector<std::string> accepted = note_words();
  for (const std::string& word : words) {
    if (std::find(accepted.begin(), accepted.end(), word) != accepted.end()) continue;
    const bool known =
        !word.empty() && std::any_of(std::begin(cpu::kFindingKinds), std::end(cpu::kFindingKinds),
                                     [&](const cpu::FindingKindRow& row) { return row.word == word; });
    throw UsageError(
        fmt::format("--note {}: {}; accepted are {}", word,
                    known ? "no launch can go on after such a finding" : "there is no such kind of finding",
                    fmt::join(accepted, ", ")));
  }
}

}  // namespace workbook

#include "harness/tables/note_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cpu_device/findings/finding_kind.hpp"
#include "system/errors.hpp"

namespace workbook {

std::vector<std::string> note_words() {
  std::vector<std::string> words;
  for (const cpu::FindingKindRow& row : cpu::kFindingKinds)
    if (row.can_go_on && !row.word.empty() && std::find(words.begin(), words.end(), row.word) == words.end())
      words.emplace_back(row.word);
  return words;
}

std::string note_words_text() { return fmt::format("{}", fmt::join(note_words(), ", ")); }

void require_note_words(const std::vector<std::string>& words, std::optional<DeviceKind> device) {
  const std::vector<std::string> accepted = note_words();
  for (const std::string& word : words) {
    if (std::find(accepted.begin(), accepted.end(), word) != accepted.end()) continue;
    const bool known =
        !word.empty() && std::any_of(std::begin(cpu::kFindingKinds), std::end(cpu::kFindingKinds),
                                     [&](const cpu::FindingKindRow& row) { return row.word == word; });
    throw UsageError(
        fmt::format("--note {}: {}; accepted are {}", word,
                    known ? "no launch can go on after such a finding" : "there is no such kind of finding",
                    note_words_text()));
  }
  if (!words.empty() && device == DeviceKind::kGpu)
    throw UsageError("--note: only the CPU device has findings; add --device cpu");
}

std::string how_to_go_on(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string options;
  for (const std::string& word : words)
    if (!word.empty()) options += " --note " + word;
  return options.empty() ? ""
                         : fmt::format("\nTo go on after such a finding, and get it as a note:{}\n", options);
}

}  // namespace workbook

/// \file
/// The reader's predictions: kept in a file beside the state, and compared with what was counted.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace workbook {

/// The reader's answers to the predictions of one chapter, as they were given, by Question::key().
using Answers = std::map<std::string, std::string>;
/// Those of all chapters.
using AllAnswers = std::map<std::string, Answers>;

/// The answers of all chapters, from `folder`/predictions.json. A damaged file is renamed, and a line on
/// standard error says so.
AllAnswers load_answers(const std::filesystem::path& folder);

/// Keeps the answer to one question of a chapter. \throws MachineError when the folder cannot be written
void keep_answer(const std::filesystem::path& folder, const std::string& chapter, const std::string& key,
                 const std::string& answer);

/// Forgets the answers of a chapter. \throws MachineError when the folder cannot be written
void forget_answers(const std::filesystem::path& folder, const std::string& chapter);

/// The number that an answer stands for: "1.5", "1,5", "3/2", "1.5x", "24 bytes". Nothing when it is none.
/// docs/book.js does the same.
std::optional<double> predicted_number(const std::string& answer);

/// Whether a prediction is near enough to what was counted: within 2 %, or 0.05. docs/book.js does the same.
bool is_right_prediction(double predicted, double counted);

}  // namespace workbook

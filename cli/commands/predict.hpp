/// \file
/// The command `predict`: asks what a lesson asks, and answers with what the CPU device counts.
#pragma once

#include <istream>

#include "predictions.hpp"
#include "workbook.hpp"

namespace workbook {

/// How many predictions a chapter's lesson has, and how many of them the reader has made.
struct Predicted {
  int asked = 0, answered = 0;
};
Predicted predicted_of(const Workbook& workbook, const std::string& chapter, const AllAnswers& answers);

/// The chapter that `predict` needs built. \throws UsageError
std::vector<std::string> chapters_of_predict(const Workbook& workbook, const std::string& name);

/// `predict [chapter]`: asks the chapter's questions one by one, reads the answers from `in`, compares them
/// with what the CPU device counts, explains, and keeps them. Those that were given before are shown instead;
/// when that is all of them, it offers to begin again. Without a name: the first chapter with predictions to
/// make, or the last that has any. `as_json`: asks nothing, and prints the questions with what was counted.
/// `counts`: a file that the chapter's program has stored with --json, in place of a run; empty: none.
/// Returns kDone, also when the reader leaves; kWrong when a stage is wrong. \throws UsageError, MachineError
int predict_command(const Workbook& workbook, const std::string& name, bool as_json, std::istream& in,
                    const std::string& counts = "");

}  // namespace workbook

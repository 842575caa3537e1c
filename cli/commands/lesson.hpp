/// \file
/// The program's knowledge of a chapter's lesson, from chapters/CHAPTER/lesson.json: the predictions that the
/// reader makes, and what the chapter teaches. docs/adding_a_chapter.md describes the file; docs/update.py
/// reads it too.
#pragma once

#include <string>
#include <vector>

#include "workbook.hpp"

namespace workbook {

/// Something that a reader predicts of a stage.
enum class Asked { kRead, kWrite, kSpeedUp };

/// The name of what is asked, in the file and in the lesson's table: "read", "write", "speed-up".
std::string text_of(Asked asked);

/// One prediction.
struct Question {
  std::string stage;    ///< "02_fused"
  std::string does;     ///< what the stage does, in Markdown
  Asked asked;          ///< of that stage
  std::string because;  ///< one sentence that explains the number, with {} in its place

  /// In the state: "02_fused read".
  std::string key() const { return stage + " " + text_of(asked); }
};

/// The lesson of one chapter.
struct Lesson {
  std::string learnt;               ///< in the chapter, a sentence or two
  std::string given;                ///< what one must know to predict
  std::vector<Question> questions;  ///< in the order of the lesson
};

/// The lesson of a chapter; an empty one where the chapter has no such file. \throws MachineError when the
/// file is damaged
Lesson lesson_of(const Workbook& workbook, const std::string& chapter);

}  // namespace workbook

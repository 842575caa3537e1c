#include "commands/overview.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/lesson.hpp"
#include "commands/predict.hpp"
#include "system/terminal.hpp"

namespace workbook {
namespace {

std::vector<const ExerciseFiles*> exercises_of(const Workbook& workbook, const std::string& chapter) {
  std::vector<const ExerciseFiles*> found;
  for (const ExerciseFiles& exercise : workbook.exercises)
    if (exercise.chapter == chapter) found.push_back(&exercise);
  return found;
}

/// "predictions made", "3 of 14 predictions made"; empty where there are none.
std::string predicted_text(const Predicted& predicted) {
  if (predicted.asked == 0) return "";
  if (predicted.answered == predicted.asked) return "predictions made";
  return fmt::format("{} of {} predictions made", predicted.answered, predicted.asked);
}

void print_next_step(const Workbook& workbook, bool begun) {
  const ExerciseFiles* next = workbook.next_open();
  if (!next) {
    fmt::print("Next: all exercises are solved. ./workbook play FILE.cu runs what you write.\n");
    return;
  }
  if (!begun) {
    const std::string number = next->chapter.substr(0, next->chapter.find('_'));
    fmt::print("Next: read docs/{0}.md beside\n\n", next->chapter);
    if (!lesson_of(workbook, next->chapter).questions.empty())
      fmt::print("  ./workbook predict {}\n", number);
    fmt::print("  ./workbook run {}\n\n", number);
    fmt::print("Then the first exercise, {}:\n", next->id());
  } else {
    fmt::print("Next: {}\n", next->id());
  }
  fmt::print("{}  edit   {}\n  check  ./workbook watch    (checks again at each save)\n",
             wrapped(next->goal() + ".", 2), workbook.shown(next->file));
}

}  // namespace

ExitStatus overview_command(const Workbook& workbook) {
  fmt::print("{}\n\n", bold("Kernel Fusion Workbook"));
  State state = load_state(workbook.state_folder);
  const AllAnswers answers = load_answers(workbook.state_folder);
  bool begun = false;
  for (const std::string& chapter : workbook.chapters) {
    int solved = 0;
    const auto exercises = exercises_of(workbook, chapter);
    for (const ExerciseFiles* exercise : exercises) solved += state[exercise->key()].solved;
    begun |= solved > 0;
    const std::string predicted = predicted_text(predicted_of(workbook, chapter, answers));
    fmt::print("  {:18} {} of {} exercises solved{}{}\n", chapter, solved, exercises.size(),
               predicted.empty() ? "" : ", ", predicted);
  }
  fmt::print("\n");
  print_next_step(workbook, begun);
  fmt::print("\n./workbook --help shows all commands, ./workbook list all exercises.\n");
  return kDone;
}

ExitStatus list_command(const Workbook& workbook, bool json) {
  State state = load_state(workbook.state_folder);
  const AllAnswers answers = load_answers(workbook.state_folder);
  auto chapters = nlohmann::ordered_json::array();
  for (const std::string& chapter : workbook.chapters) {
    auto exercises = nlohmann::ordered_json::array();
    const Predicted predicted = predicted_of(workbook, chapter, answers);
    if (!json) fmt::print("{}\n", bold(chapter));
    if (!json && predicted.asked > 0)
      fmt::print("  [{}] {}\n", predicted.answered == predicted.asked ? "x" : " ", predicted_text(predicted));
    for (const ExerciseFiles* exercise : exercises_of(workbook, chapter)) {
      const Standing standing = state[exercise->key()];
      if (!json)
        fmt::print("  {} {:18} {}\n", standing.solved ? "[x]" : "[ ]", exercise->id(), exercise->goal());
      exercises.push_back({{"id", exercise->id()},
                           {"file", workbook.shown(exercise->file)},
                           {"goal", exercise->goal()},
                           {"solved", standing.solved},
                           {"hints", standing.hints}});
    }
    chapters.push_back({{"chapter", chapter},
                        {"predictions", {{"asked", predicted.asked}, {"answered", predicted.answered}}},
                        {"exercises", exercises}});
  }
  if (json) fmt::print("{}\n", chapters.dump(2));
  return kDone;
}

}  // namespace workbook

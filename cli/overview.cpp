#include "overview.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/terminal.hpp"
#include "renamed.hpp"

namespace workbook {
namespace {

std::vector<const ExerciseFiles*> exercises_of(const Workbook& workbook, const std::string& chapter) {
  std::vector<const ExerciseFiles*> found;
  for (const ExerciseFiles& exercise : workbook.exercises)
    if (exercise.chapter == chapter) found.push_back(&exercise);
  return found;
}

/// Says what updates have changed in the exercises that the reader has worked on; nothing where nothing has.
void print_changes(const Workbook& workbook, const State& state) {
  const std::vector<std::string> changes = changes_for(state, workbook.root, workbook.exercises);
  if (changes.empty()) return;
  fmt::print("\nChanged by an update:\n");
  for (const std::string& change : changes) fmt::print("{}", wrapped(change, 2));
}

void print_next_step(const Workbook& workbook, bool begun) {
  const ExerciseFiles* next = workbook.next_open();
  if (!next) {
    fmt::print("Next: all exercises are solved. ./workbook play FILE.cu runs what you write.\n");
    return;
  }
  if (!begun) {
    fmt::print("Next: read docs/{0}.md beside\n\n  ./workbook run {1}\n\n", next->chapter,
               next->chapter.substr(0, next->chapter.find('_')));
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
  bool begun = false;
  for (const std::string& chapter : workbook.chapters) {
    int solved = 0;
    const auto exercises = exercises_of(workbook, chapter);
    for (const ExerciseFiles* exercise : exercises) solved += state[exercise->key()].solved;
    begun |= solved > 0;
    fmt::print("  {:28} {} of {} exercises solved\n", chapter, solved, exercises.size());
  }
  print_changes(workbook, state);
  fmt::print("\n");
  print_next_step(workbook, begun);
  fmt::print("\n./workbook --help shows all commands, ./workbook list all exercises.\n");
  return kDone;
}

ExitStatus list_command(const Workbook& workbook, bool json) {
  State state = load_state(workbook.state_folder);
  auto chapters = nlohmann::ordered_json::array();
  for (const std::string& chapter : workbook.chapters) {
    auto exercises = nlohmann::ordered_json::array();
    if (!json) fmt::print("{}\n", bold(chapter));
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
    chapters.push_back({{"chapter", chapter}, {"exercises", exercises}});
  }
  if (json)
    fmt::print("{}\n", chapters.dump(2));
  else
    print_changes(workbook, state);
  return kDone;
}

}  // namespace workbook

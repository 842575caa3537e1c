// Notes beside results: in a chapter's program, in play, and in the verdict on an exercise.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "catch.hpp"
#include "exercise.hpp"
#include "harness/run_chapter.hpp"
#include "harness/tables/note_words.hpp"
#include "judge/judge.hpp"
#include "kernels/counted_bytes.hpp"
#include "kernels/notes.hpp"
#include "play/run_play.hpp"
#include "play_memory.hpp"
#include "printed.hpp"
#include "system/files.hpp"
#include "verdict.hpp"

namespace test_notes_shown {
using namespace workbook;
namespace test_kernels = cpu::test_kernels;

namespace {

struct Run {
  int status;
  std::string output;
};

/// The exit status of `program(arguments)`, and what it printed on standard output.
template <class Program>
Run run(Program program, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  int status = 0;
  const std::string output =
      printed([&] { status = program(static_cast<int>(arguments.size()), arguments.data()); });
  return {status, output};
}

// A chapter of kernels that reverse 64 numbers or 32.

template <int Count>
void reversed(const Data&, double* expected, double*) {
  for (int i = 0; i < Count; ++i) expected[i] = Count - 1 - i;
}

constexpr auto kAll = output<unsigned>("all", [](const Shape&) { return 64LL; }, reversed<64>, {});
constexpr auto kHalf = output<unsigned>("half", [](const Shape&) { return 32LL; }, reversed<32>, {});
constexpr const Array* kArrays[] = {&kAll, &kHalf};

int* ints(const Data& data, const ArrayOf<unsigned>& array) { return reinterpret_cast<int*>(data[array]); }

constexpr auto kNoRounding = [](const Shape&) { return 0; };

constexpr Stage kStages[] = {
    {.name = "1_correct",
     .idea = "",
     .output = {&kHalf},
     .run = [](const Data& data) { test_kernels::barrier_in_if(ints(data, kHalf), true); },
     .roundings = kNoRounding},
    {.name = "2_fragile",
     .idea = "",
     .output = {&kHalf},
     .run = [](const Data& data) { test_kernels::barrier_in_if(ints(data, kHalf), false); },
     .roundings = kNoRounding},
    {.name = "3_mistake",
     .idea = "",
     .output = {&kAll},
     .run = [](const Data& data) { test_kernels::barrier_by_half_warp(ints(data, kAll), false); },
     .roundings = kNoRounding}};

Run chapter(std::vector<const char*> arguments) {
  Chapter chapter = {};
  chapter.name = "notes";
  chapter.formula = "reversed";
  chapter.dims = "N";
  chapter.arrays = kArrays;
  chapter.stages = kStages;
  chapter.cpu_shape = {{1, 1, 1}};
  chapter.fill = [](const Data&) {};
  arguments.insert(arguments.begin(), {"--device", "cpu"});
  return run([&](int argc, const char* const* argv) { return run_chapter(argc, argv, chapter, nullptr); },
             arguments);
}

/// An exercise whose answer is a stage.
Exercise exercise(const Stage& stage) {
  static constexpr Shape shapes[] = {{{1, 1, 1}}, {{2, 1, 1}}};
  return {.learnt = "Something.",
          .lesson = "docs/x.md",
          .arrays = kArrays,
          .fill = [](const Data&) {},
          .output = stage.output,
          .roundings = kNoRounding,
          .shapes = shapes};
}

constexpr const char* kNote = "note: barrier without the threads that have ended: kernel barrier_in_if";

/// With one space in place of all spaces and line breaks between two words: as if it had not been wrapped.
std::string unwrapped(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

/// How often `part` is in a text, however that is wrapped.
std::size_t times(const std::string& text, const std::string& part) {
  const std::string all = unwrapped(text), one = unwrapped(part);
  std::size_t count = 0;
  for (auto at = all.find(one); at != std::string::npos; at = all.find(one, at + 1)) ++count;
  return count;
}

struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("workbook-notes-" + std::to_string(getpid()))).string();
  ~File() { std::filesystem::remove(path); }
};

/// The JSON that the program writes to the file whose name follows `arguments`.
template <class Program>
nlohmann::json json_of(Program program, std::vector<const char*> arguments) {
  const File file;
  arguments.push_back(file.path.c_str());
  program(arguments);
  return nlohmann::json::parse(file_text(file.path));
}

}  // namespace

TEST_CASE("a chapter's program shows a stage's notes below the table, and a correct stage has none") {
  const Run correct = chapter({"--stage", "1_correct"});
  CHECK(correct.status == 0);
  CHECK(correct.output.find("note") == correct.output.find("notes: reversed"));  // the chapter's name
  CHECK(times(correct.output, "note:") == 0);

  const Run fragile = chapter({"--stage", "2_fragile"});
  INFO(fragile.output);
  CHECK(fragile.status == 0);
  CHECK(times(fragile.output, std::string("\n2_fragile: ") + kNote) == 1);  // the stage runs twice
  CHECK(unwrapped(fragile.output).find("predicted") < unwrapped(fragile.output).find(kNote));
  CHECK(times(fragile.output, "WRONG") == 0);
  CHECK(times(fragile.output, "--note") == 0);
}

TEST_CASE("a finding after which a launch can go on says once which option does it") {
  const Run stopped = chapter({});
  INFO(stopped.output);
  CHECK(stopped.status == 1);
  CHECK(times(stopped.output, "WRONG 3_mistake: barrier that not all threads reach") == 1);
  CHECK(times(stopped.output, kNote) == 1);
  CHECK(times(stopped.output, "To go on after such a finding, and get it as a note: --note barrier\n") == 1);

  const Run noted = chapter({"--note", "barrier", "--note", "race"});
  INFO(noted.output);
  CHECK(noted.status == 0);
  CHECK(times(noted.output, "WRONG") == 0);
  CHECK(times(noted.output, "\n3_mistake: note: barrier that not all threads reach") == 1);
  CHECK(times(noted.output, "To go on") == 0);
  CHECK(chapter({"--note", "race"}).status == 1);
}

TEST_CASE("a chapter's JSON has the notes of each stage") {
  const auto report = json_of([](std::vector<const char*> arguments) { chapter(arguments); }, {"--json"});
  const auto& stages = report[0]["stages"];
  CHECK(stages[0]["notes"] == nlohmann::json::array());
  REQUIRE(stages[1]["notes"].size() == 1);
  CHECK(stages[1]["notes"][0].get<std::string>().starts_with(kNote));
  CHECK(stages[1]["status"] == "ok");
}

TEST_CASE("play shows notes after the counts, the option, and both in its JSON") {
  constexpr auto fragile = [] {
    auto* out = static_cast<int*>(play::allocate("out", 64, sizeof(int)));
    test_kernels::barrier_in_if(out, false);
    play::release(out);
  };
  constexpr auto mistake = [] {
    auto* out = static_cast<int*>(play::allocate("out", 64, sizeof(int)));
    test_kernels::barrier_by_half_warp(out, false);
    play::release(out);
  };
  const auto play_file = [](void (*code)(), std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "mine.cu");
    return run([&](int argc, const char* const* argv) { return run_play(argc, argv, code, nullptr); },
               arguments);
  };
  const Run noted = play_file(fragile, {});
  CHECK(noted.status == 0);
  CHECK(times(noted.output, kNote) == 1);
  CHECK(noted.output.find("sectors") < noted.output.find(kNote));
  CHECK(times(noted.output, "--note") == 0);
  const auto report = nlohmann::json::parse(play_file(fragile, {"--json"}).output);
  CHECK(report["notes"].size() == 1);
  CHECK(report["finding"] == "");

  const Run stopped = play_file(mistake, {});
  CHECK(stopped.status == 1);
  CHECK(times(stopped.output, "note: --note barrier\n") == 1);
  const Run gone_on = play_file(mistake, {"--note", "barrier"});
  CHECK(gone_on.status == 0);
  CHECK(times(gone_on.output, "note: barrier that not all threads reach") == 1);
  CHECK(play_file(mistake, {"--note", "rice"}).status == 2);
}

TEST_CASE("play shows template instances apart, atomics, and loads that may be merged, in 80 columns") {
  constexpr auto code = [] {
    auto* in = static_cast<float*>(play::allocate("in", 64, sizeof(float)));
    auto* out = static_cast<float*>(play::allocate("out", 64, sizeof(float)));
    auto* sum = static_cast<unsigned*>(play::allocate("sum", 64, sizeof(unsigned)));
    const std::vector<float> zeros(64);
    play::upload(in, zeros.data(), 64 * sizeof(float));
    play::upload(sum, zeros.data(), 64 * sizeof(float));
    test_kernels::scaled_by_templates(in, out);
    test_kernels::sum_shared(0, out);
    test_kernels::add_atomically(true, sum);
    test_kernels::count_in_shared(sum);
    for (void* array : {static_cast<void*>(in), static_cast<void*>(out), static_cast<void*>(sum)})
      play::release(array);
  };
  const auto play_file = [&](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "mine.cu");
    return run([&](int argc, const char* const* argv) { return run_play(argc, argv, code, nullptr); },
               arguments);
  };
  const Run shown = play_file({});
  CHECK(shown.status == 0);
  for (const char* name : {"scaled<2, float>", "scaled<3, float>", "scaled<3, short>"})
    CHECK(times(shown.output, name) == 1);
  CHECK(times(shown.output, "*") == 2);  // the count, and what it means
  CHECK(times(shown.output, "One load in the source, another in the machine") == 1);
  CHECK(std::regex_search(shown.output, std::regex("\n5 +2 +0  contended\n")));
  CHECK(std::regex_search(shown.output, std::regex("\n6 +0 +2\n")));
  CHECK(times(shown.output, "5: add_atomically") == 1);  // numbers, because the names are too long
  std::istringstream lines(shown.output);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);

  const auto launches = nlohmann::json::parse(play_file({"--json"}).output)["launches"];
  REQUIRE(launches.size() == 6);
  CHECK(launches[0]["kernel"] == "scaled<2, float>");
  CHECK(launches[0]["shared_loads_may_merge"] == false);
  CHECK(launches[3]["shared_loads_may_merge"] == true);
}

TEST_CASE("an exercise with a note is solved, and the note is shown once for all cases") {
  const auto judged = [](const Stage& stage, Answer (*answer)()) {
    const Version version = {"reader", answer};
    const auto verdict = json_of(
        [&](std::vector<const char*> arguments) {
          run(
              [&](int argc, const char* const* argv) {
                return judge_exercise(argc, argv, exercise(stage), &version, 1);
              },
              arguments);
        },
        {"reader"});
    unsetenv("WORKBOOK_STEPS");  // which judge_exercise sets
    return verdict;
  };
  const auto fragile = judged(kStages[1], [] { return Answer{kStages[1].run}; });
  CHECK(fragile["status"] == "solved");
  CHECK(fragile["notes"].size() == 1);
  const Verdict verdict = verdict_of(fragile.dump(), {});
  CHECK(verdict.solved);
  CHECK(times(verdict.text, std::string("\n  ") + kNote) == 1);
  CHECK(times(verdict.text, "Solved.") == 1);

  const auto correct = judged(kStages[0], [] { return Answer{kStages[0].run}; });
  CHECK(correct["notes"].empty());
  CHECK(times(verdict_of(correct.dump(), {}).text, "note") == 0);

  const auto mistake = judged(kStages[2], [] { return Answer{kStages[2].run}; });
  CHECK(mistake["status"] == "not yet");
  CHECK(times(verdict_of(mistake.dump(), {}).text, "--note") == 0);  // not for exercises
}

TEST_CASE("the words of --note are those of findings after which a launch can go on") {
  CHECK(note_words() == std::vector<std::string>{"race", "uninitialised", "barrier", "copy", "misaligned"});
  CHECK(how_to_go_on({"", ""}).empty());
  CHECK(how_to_go_on({"race", "", "copy", "race"}) ==
        "\nTo go on after such a finding, and get it as a note: --note copy --note race\n");
}

}  // namespace test_notes_shown

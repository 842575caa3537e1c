// The parts of the workbook's program: names, skeletons, state, limits, verdicts.
#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "advice.hpp"
#include "catch.hpp"
#include "commands/check.hpp"
#include "commands/lesson.hpp"
#include "exercises.hpp"
#include "fold_code.hpp"
#include "judge/judge.hpp"
#include "paths.hpp"
#include "result_file.hpp"
#include "skeleton.hpp"
#include "state.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/terminal.hpp"
#include "verdict.hpp"
#include "workbook.hpp"

namespace test_workbook {
using namespace workbook;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("workbook-state-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

std::vector<ExerciseFiles> exercises() {
  const auto one = [](const std::string& chapter, const std::string& name) {
    return ExerciseFiles{chapter, name, "/root/chapters/" + chapter + "/exercises/" + name + ".cuh",
                         "/root/solutions/" + chapter + "/" + name + "/solution.cuh", ""};
  };
  return {one("00_first", "1_guard"), one("01_multiply_add", "1_fuse"), one("01_multiply_add", "12_sum")};
}

std::string meaning(const std::string& name, const fs::path& folder = "/elsewhere") {
  return exercise_named(name, folder, exercises()).id();
}

Outcome shell(const std::string& command, const Limits& limits) {
  return run_limited({"sh", "-c", command}, limits);
}

/// The report of a judging program, with one right case.
nlohmann::json report(VerdictStatus status) {
  return {{"status", text_of(status)},
          {"refused", ""},
          {"dims", "N"},
          {"cases", {{{"shape", "5"}, {"how", ""}, {"right", true}, {"message", ""}}}},
          {"budget", nlohmann::json::array()},
          {"predictions", nlohmann::json::array()},
          {"notes", nlohmann::json::array()},
          {"learnt", "Something."},
          {"lesson", "docs/x.md"}};
}

}  // namespace

TEST_CASE("exercises are known by number, by name and by file, and in their chapter's folder by less") {
  CHECK(meaning("01.1") == "01.1_fuse");
  CHECK(meaning("1.1") == "01.1_fuse");
  CHECK(meaning("1.12_sum") == "01.12_sum");
  CHECK(meaning("01.12_sum") == "01.12_sum");
  CHECK(meaning("01_multiply_add/1_fuse") == "01.1_fuse");
  CHECK(meaning("chapters/00_first/exercises/1_guard.cuh", "/root") == "00.1_guard");
  CHECK(meaning("../exercises/1_fuse.cuh", "/root/chapters/01_multiply_add/exercises") == "01.1_fuse");
  for (const char* folder : {"/root/chapters/01_multiply_add", "/root/chapters/01_multiply_add/exercises",
                             "/root/solutions/01_multiply_add"}) {
    CHECK(meaning("12_sum", folder) == "01.12_sum");
    CHECK(meaning("12", folder) == "01.12_sum");
  }
  for (const char* wrong : {"", "1", "1_fuse", "01", "01.2", "../1_fuse", "01.1_fuse.cuh"})
    CHECK_THROWS_AS(meaning(wrong), UsageError);
  CHECK_THROWS_AS(meaning("1_fuse", "/root/chapters/01_multiply_add_too"), UsageError);
}

TEST_CASE("the nearest names come first") {
  CHECK(nearest("chek", {"list", "check", "hint"}, 1) == std::vector<std::string>{"check"});
  CHECK(nearest("01.1_fues", {"00.1_guard", "01.3_vectorise", "01.1_fuse"}, 2)[0] == "01.1_fuse");
  CHECK(nearest("x", {}, 3).empty());
}

TEST_CASE("exercises in Python are those with a specification in Python") {
  const std::vector<ExerciseFiles> found = all_exercises(source_dir(), {"08_attention", "09_pytorch"});
  REQUIRE(found.size() >= 8);
  CHECK_FALSE(found.front().is_python());
  const ExerciseFiles& last = found.back();
  CHECK(last.is_python());
  CHECK(last.id() == "09.4_break");
  CHECK(last.file == fs::path(source_dir()) / "chapters/09_pytorch/exercises/4_break.py");
  CHECK(last.goal().starts_with("find and remove"));
}

TEST_CASE("exercises come in the order of their page, and what the page does not name comes last") {
  const Folder folder;
  for (const char* name : {"1_tree", "2_shuffle", "3_read", "10_conflicts"}) {
    const fs::path exercise = folder.path / "solutions/04_rows" / name;
    fs::create_directories(exercise);
    std::ofstream(exercise / "check.cu");
  }
  const auto names = [&] {
    std::string all;
    for (const ExerciseFiles& exercise : all_exercises(folder.path, {"04_rows"})) all += exercise.name + " ";
    return all;
  };
  CHECK(names() == "1_tree 2_shuffle 3_read 10_conflicts ");
  fs::create_directories(folder.path / "docs");
  std::ofstream(folder.path / "docs/04_rows.md")
      << "# Rows\n### Exercise 04.1: tree\n\nExercise 04.2 is\n"
         "### Exercise 04.10: conflicts\n### Exercise 04.3: read\n";
  CHECK(names() == "1_tree 10_conflicts 3_read 2_shuffle ");

  const std::vector<ExerciseFiles> found = all_exercises(folder.path, {"04_rows"});
  const Workbook place = {folder.path, "", folder.path / ".workbook", {"04_rows"}, found};
  change_standing(place.state_folder, found[0].key(), [](Standing& standing) { standing.solved = true; });
  REQUIRE(place.next_open());
  CHECK(place.next_open()->id() == "04.10_conflicts");
}

TEST_CASE("a solution in Python makes its skeleton and itself without markers") {
  const std::string solution =
      "a\n  # BEGIN SOLUTION\n  # why\n  right()\n  # SKELETON\n  # # TODO\n  #\n  #   wrong()\n"
      "  # END SOLUTION\nb\n";
  CHECK(skeleton_of(solution) == "a\n  # TODO\n\n    wrong()\nb\n");
  CHECK(plain_solution_of(solution) == "a\n  # why\n  right()\nb\n");
  CHECK_THROWS_WITH(skeleton_of("# BEGIN SOLUTION\n# SKELETON\ncode()\n# END SOLUTION\n"),
                    ContainsSubstring("# END SOLUTION"));
}

TEST_CASE("a solution makes its skeleton and itself without markers") {
  const std::string solution =
      "a\n  // BEGIN SOLUTION\n  right();\n  // SKELETON\n  // // TODO\n  //\n  //   wrong();\n"
      "  // END SOLUTION\nb\n";
  CHECK(skeleton_of(solution) == "a\n  // TODO\n\n    wrong();\nb\n");
  CHECK(plain_solution_of(solution) == "a\n  right();\nb\n");
  for (const char* wrong : {"a\n", "// BEGIN SOLUTION\n", "// BEGIN SOLUTION\n// END SOLUTION\n",
                            "// SKELETON\n", "// BEGIN SOLUTION\n// BEGIN SOLUTION\n",
                            "// BEGIN SOLUTION\n// SKELETON\ncode();\n// END SOLUTION\n"})
    CHECK_THROWS_AS(skeleton_of(wrong), MachineError);
}

TEST_CASE("the state survives, and each exercise has its own") {
  const Folder folder;
  CHECK(load_state(folder.path).empty());
  change_standing(folder.path, "a/1", [](Standing& standing) { standing.solved = true; });
  change_standing(folder.path, "a/2", [](Standing& standing) { standing.hints = 2; });
  State state = load_state(folder.path);
  CHECK(state["a/1"].solved);
  CHECK_FALSE(state["a/2"].solved);
  CHECK(state["a/2"].hints == 2);
}

TEST_CASE("a damaged state is set aside, not lost and not in the way") {
  const Folder folder;
  const fs::path file = folder.path / "state.json";
  int damaged = 0;
  std::vector<std::string> texts = {"", "{", "[]", "{\"schema\": 0, \"exercises\": {}}",
                                    "{\"schema\": 1, \"exercises\": {\"a/1\": {\"solved\": 7}}}"};
  for (const std::string hints : {"-1", "4294967295", "99999999999999999999", "1e300", "1.5", "\"1\""})
    texts.push_back(R"({"schema": 1, "exercises": {"a/1": {"solved": true, "hints": )" + hints + "}}}");
  for (const std::string& text : texts) {
    std::ofstream(file) << text;
    CHECK(load_state(folder.path).empty());
    CHECK_FALSE(fs::exists(file));
    CHECK(file_text(fs::path(file.string() + ".damaged-" + std::to_string(++damaged))) == text);
  }
  std::ofstream(file) << "{";
  change_standing(folder.path, "a/1", [](Standing& standing) { standing.solved = true; });
  CHECK(load_state(folder.path)["a/1"].solved);
}

TEST_CASE("a state that a newer version has written, or that is no file, is left as it is") {
  const Folder folder;
  const fs::path file = folder.path / "state.json";
  const std::string newer = R"({"schema": 2, "exercises": {}})";
  std::ofstream(file) << newer;
  CHECK_THROWS_WITH(load_state(folder.path), ContainsSubstring("newer version"));
  CHECK(file_text(file) == newer);
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(load_state(folder.path), ContainsSubstring("it is a pipe"));
}

TEST_CASE("two programs that change the state at once lose nothing, and a third sees no half of it") {
  const Folder folder;
  constexpr int kChanges = 100;
  const auto count_up = [&](const std::string& key) {
    for (int i = 0; i < kChanges; ++i)
      change_standing(folder.path, key, [](Standing& standing) { ++standing.hints; });
  };
  const pid_t child = fork();
  if (child == 0) {
    count_up("a/1");
    _exit(0);
  }
  count_up("a/2");
  while (waitpid(child, nullptr, WNOHANG) == 0) (void)load_state(folder.path);
  State state = load_state(folder.path);
  CHECK(state["a/1"].hints == kChanges);
  CHECK(state["a/2"].hints == kChanges);
  CHECK_FALSE(fs::exists(folder.path / "state.json.damaged-1"));
}

TEST_CASE("a program's end is known: its status, its signal, too long, too much output") {
  using End = Outcome::End;
  Outcome outcome = shell("echo out; echo error >&2; exit 7", {});
  CHECK(outcome.end == End::kExited);
  CHECK(outcome.code == 7);
  CHECK(outcome.output == "out\nerror\n");
  outcome = shell("kill -SEGV $$", {});
  CHECK(outcome.end == End::kSignal);
  CHECK(outcome.code == SIGSEGV);
  CHECK(shell("while :; do :; done", {.time = std::chrono::seconds(1)}).end == End::kTooLong);
  CHECK(shell("sleep 60", {.time = std::chrono::seconds(1)}).end == End::kTooLong);
  CHECK(shell("echo x; sleep 60", {.silence = std::chrono::seconds(1)}).end == End::kTooLong);
  CHECK(shell("for i in 1 2 3 4; do sleep 0.5; echo x; done", {.silence = std::chrono::seconds(1)}).end ==
        End::kExited);
  outcome = shell("yes", {.output_bytes = 1 << 20});
  CHECK(outcome.end == End::kTooMuchOutput);
  CHECK(outcome.output.size() < 2 << 20);
  CHECK(run_limited({"/none/such"}, {}).code == 127);
  CHECK(shell("cat", {}).code == 0);  // nothing to read
}

TEST_CASE("what a program leaves running ends with it") {
  const Folder folder;
  const std::string mark = (folder.path / "mark").string();
  shell("(sleep 1; touch '" + mark + "') & exit 0", {});
  sleep(2);
  CHECK_FALSE(fs::exists(mark));
}

TEST_CASE(
    "what a program has started in a session of its own ends with it, too, as it is and after its time") {
  for (const char* then : {"exit 0", "sleep 1000"}) {
    const Outcome outcome =
        shell(std::string("setsid sh -c 'sleep 1000 & echo $!; wait' & sleep 0.5; ") + then,
              {.time = std::chrono::seconds(2)});
    const pid_t grandchild = std::atoi(outcome.output.c_str());
    INFO(then);
    REQUIRE(grandchild > 0);
    CHECK(kill(grandchild, 0) != 0);
  }
}

TEST_CASE("a child that this program had before goes on") {
  const pid_t before = start_program({"sleep", "1000"});
  shell("exit 0", {});
  CHECK(waitpid(before, nullptr, WNOHANG) == 0);
  kill(before, SIGKILL);
  waitpid(before, nullptr, 0);
}

TEST_CASE("a signal that ends this program ends what it runs, and this program by that signal") {
  const Folder folder;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const fs::path mark = folder.path / fmt::format("pid-{}", number);
    const pid_t program = fork();
    if (program == 0) {
      try {
        shell("setsid sleep 1000 & echo $! > '" + mark.string() + "'; sleep 1000", {});
      } catch (const Interrupted& interrupted) {
        end_by(interrupted);
      }
      _exit(0);
    }
    while (!fs::exists(mark) || fs::file_size(mark) == 0) usleep(10000);
    kill(program, number);
    int status = 0;
    waitpid(program, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
    CHECK(kill(std::stoi(file_text(mark)), 0) != 0);
  }
}

TEST_CASE("a program that another program runs on its terminal ends when that one is killed") {
  const Folder folder;
  const fs::path mark = folder.path / "pid";
  const pid_t program = fork();
  if (program == 0) {
    run_program({"sh", "-c", "echo $$ > '" + mark.string() + "'; exec sleep 1000"});
    _exit(0);
  }
  while (!fs::exists(mark) || fs::file_size(mark) == 0) usleep(10000);
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  const pid_t child = std::stoi(file_text(mark));
  for (int i = 0; i < 200 && kill(child, 0) == 0; ++i) usleep(10000);  // it may have to be reaped by another
  CHECK(kill(child, 0) != 0);
}

TEST_CASE("a program on its terminal has a limit in minutes, which the environment sets") {
  const auto limit = [](const char* text) {
    setenv("WORKBOOK_MINUTES", text, 1);
    return time_limit(std::chrono::seconds(10));
  };
  const char* const before = std::getenv("WORKBOOK_MINUTES");
  const std::string kept = before ? before : "";
  CHECK(limit("0.5") == std::chrono::seconds(30));
  CHECK(limit("0.01") == std::chrono::seconds(1));
  for (const char* wrong : {"", "x", "3x", "0", "-1", "nan", "1e99"})
    CHECK_THROWS_WITH(limit(wrong), ContainsSubstring("WORKBOOK_MINUTES is '" + std::string(wrong) + "'"));
  limit("0.01");
  CHECK(run_program({"sleep", "60"}) == kWrong);
  unsetenv("WORKBOOK_MINUTES");
  CHECK(time_limit(std::chrono::seconds(10)) == std::chrono::seconds(10));
  if (before) setenv("WORKBOOK_MINUTES", kept.c_str(), 1);
}

TEST_CASE("a result that a program has left that was killed is removed, that of another program is not") {
  const Folder folder;
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  waitpid(ended, nullptr, 0);
  const fs::path left = folder.path / fmt::format("result-{}", ended), others = folder.path / "result-1";
  fs::create_directory(left);
  fs::create_directory(others);
  const ResultFile result(folder.path);
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(others));
}

TEST_CASE("a compiler that lacked something does not judge a file") {
  for (const char* lacking : {"f.cuh:9: fatal error: error writing to /tmp/x.s: No space left on device",
                              "c++: fatal error: Killed signal terminated program cc1plus",
                              "f.cuh:1:1: error: Too many open files"})
    CHECK_FALSE(lack_in(lacking).empty());
  CHECK(lack_in("f.cuh:3:9: error: expected ‘;’ before ‘}’ token").empty());
  for (const char* judged : {"f.cuh:3:9: error: expected ‘;’", "f.cuh:3: fatal error: x.h: No such file",
                             "f.cuh:(.text+0x9): undefined reference to `f()'"})
    CHECK(names_place(judged));
  for (const char* not_run :
       {"", "/bin/sh: 1: ccache: not found", "c++: fatal error: cannot execute ‘cc1plus’",
        "ninja: error: opening build log"})
    CHECK_FALSE(names_place(not_run));
}

TEST_CASE("a verdict is solved only when the program has said so and has ended well") {
  const Outcome well = {};
  CHECK(verdict_of(report(VerdictStatus::kSolved).dump(), well).solved);
  CHECK_FALSE(verdict_of(report(VerdictStatus::kNotYet).dump(), well).solved);
  CHECK_FALSE(verdict_of("", well).solved);
  CHECK_FALSE(verdict_of("{", well).solved);
  for (const Outcome& badly :
       {Outcome{Outcome::End::kSignal, SIGSEGV, ""}, Outcome{Outcome::End::kExited, 1, ""},
        Outcome{Outcome::End::kTooLong, 0, ""}, Outcome{Outcome::End::kTooMuchOutput, 0, ""}})
    CHECK_FALSE(verdict_of(report(VerdictStatus::kSolved).dump(), badly).solved);
  nlohmann::json unknown = report(VerdictStatus::kSolved);
  unknown["status"] = "SOLVED";
  CHECK_FALSE(verdict_of(unknown.dump(), well).solved);
  nlohmann::json running = report(VerdictStatus::kRunning);
  running["at"] = "N = 31";
  const Verdict ended = verdict_of(running.dump(), well);
  CHECK_FALSE(ended.solved);
  CHECK_THAT(ended.text, ContainsSubstring("at N = 31, with exit status 0"));
}

TEST_CASE(
    "a note stands before the mistakes where the result is wrong, and after the costs where it is right") {
  nlohmann::json verdict = report(VerdictStatus::kNotYet);
  verdict["notes"] = {"note: barrier in several lines: kernel f (f.cuh:1)\n  line 2\n  look at: it"};
  verdict["cases"] = nlohmann::json::array(
      {{{"shape", "3"}, {"how", ""}, {"right", false}, {"message", "out[0] is 1, expected 2"}}});
  const std::string wrong = verdict_of(verdict.dump(), {}).text;
  CHECK(wrong.find("note: barrier in several lines") < wrong.find("out[0] is 1"));
  CHECK(wrong.find("out[0] is 1") < wrong.size());
  CHECK(wrong.find("note: ") == wrong.rfind("note: "));
  verdict["cases"][0]["right"] = true;
  verdict["budget"] = nlohmann::json::array({{{"what", "launches"},
                                              {"counted", 2.0},
                                              {"allowed", 1.0},
                                              {"per_element", false},
                                              {"approximate", false},
                                              {"over", true},
                                              {"excess", "why two?"}}});
  const std::string right = verdict_of(verdict.dump(), {}).text;
  CHECK(right.find("why two?") < right.find("note: barrier in several lines"));
  CHECK(right.find("note: ") < right.size());
}

TEST_CASE("frequent compiler errors are followed by advice") {
  const auto has = [](const std::string& errors, const std::string& advice) {
    CHECK_THAT(advice_on("f.cuh:3:9: error: " + errors), ContainsSubstring(advice));
  };
  has("expected primary-expression before ‘<’ token\n   3 |   twice<<<grid, 32>>>(x, n);\n",
      "launch(kernel, grid");
  has("expected expression\n  twice<float><<<grid, 32>>>(x, n);\n", "launch(kernel, grid");
  has("conflicting specifiers in declaration of ‘s’\n  3 |   extern __shared__ float s[];\n",
      "dynamic_shared<float>()");
  has("‘cudaMallocManaged’ was not declared in this scope", "the workbook allocates");
  has("use of undeclared identifier 'cudaMallocManaged'", "the workbook allocates");
  has("‘max’ is not a member of ‘std’", "without std::");
  has("no member named 'max' in namespace 'std'", "without std::");
  has("call of overloaded ‘max(float&, int)’ is ambiguous", "of one type");
  has("call to 'max' is ambiguous", "of one type");
  has("expected ‘}’ at end of input", "not closed");
  has("fatal error: thrust/sort.h: No such file or directory", "Libraries of kernels");
  has("fatal error: 'cuda/std/array' file not found", "Libraries of kernels");
  CHECK_THAT(advice_on("too few arguments\n  3 |   twice<<<1, 32>>>(x);\n", true),
             ContainsSubstring("the launch KERNEL<<<...>>>(...)"));
  CHECK(advice_on("f.cuh:3:9: error: expected ‘;’ before ‘}’ token\n  3 |   x = 1 << 2 }\n").empty());
}

TEST_CASE("what the reader's code prints is shown, its beginning, without what would change the terminal") {
  const std::string text =
      verdict_of("", {Outcome::End::kExited, 0, "\033[2Jhello\n" + std::string(9000, 'x')}).text;
  CHECK_THAT(text, ContainsSubstring("?[2Jhello"));
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.size() < 4000);
}

TEST_CASE("text is broken into lines between words") {
  CHECK(wrapped("one two three", 2, 9) == "  one two\n  three\n");
  CHECK(wrapped("", 2).empty());
  CHECK(indented("a\n\nb", 2) == "  a\n\n  b\n");
  CHECK(indented("a\n  one two three", 2, 11) == "  a\n    one two\n    three\n");
  CHECK(wrapped("≈≈≈ ≈≈≈", 0, 7) == "≈≈≈ ≈≈≈\n");  // characters, not bytes
}

TEST_CASE("lines are as wide as the terminal, and 79 characters where there is none") {
  const int before = dup(STDOUT_FILENO);
  const auto width_on = [&](int output) {
    fflush(stdout);
    dup2(output, STDOUT_FILENO);
    const std::size_t width = line_width();
    dup2(before, STDOUT_FILENO);
    return width;
  };
  int terminal = 0, program = 0;
  REQUIRE(openpty(&terminal, &program, nullptr, nullptr, nullptr) == 0);
  for (const unsigned short columns : {40, 80, 120}) {
    const winsize size = {24, columns, 0, 0};
    REQUIRE(ioctl(program, TIOCSWINSZ, &size) == 0);
    CHECK(width_on(program) == columns - 1u);
  }
  const int file = open("/dev/null", O_WRONLY);
  CHECK(width_on(file) == 79);
  for (const int one : {terminal, program, file, before}) close(one);
}

TEST_CASE(
    "a solved exercise leads to the solution, and the last of a chapter to what was learnt and the next "
    "page") {
  const Folder folder;
  Workbook place = {source_dir(), "", folder.path, {"00_first", "01_multiply_add"}, exercises()};
  const auto solve = [&](const ExerciseFiles& exercise) {
    change_standing(folder.path, exercise.key(), [](Standing& standing) { standing.solved = true; });
    std::istringstream words(solved_text(place, exercise));
    std::string text;
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
    return text;
  };
  const std::string last = solve(place.exercises[0]);
  CHECK_THAT(last, ContainsSubstring("./workbook diff 00.1"));
  CHECK_THAT(last, ContainsSubstring("./workbook solution 00.1"));
  CHECK_THAT(last, ContainsSubstring("The exercise of chapter 00 is solved."));
  CHECK_THAT(last, ContainsSubstring("The next page: docs/01_multiply_add.md."));
  CHECK(solve(place.exercises[1]).find("all solved") == std::string::npos);
  const std::string end = solve(place.exercises[2]);
  CHECK_THAT(end, ContainsSubstring("All 2 exercises of chapter 01 are solved. " +
                                    lesson_of(place, "01_multiply_add").learnt));
  CHECK_THAT(end, ContainsSubstring("That was the last chapter. docs/choosing.md"));
  CHECK(fs::exists(source_dir() + "/docs/choosing.md"));
}

TEST_CASE("every chapter says what is learnt in it, in a sentence or two") {
  const Folder folder;
  const Workbook place = {source_dir(), "", folder.path, {}, {}};
  int chapters = 0;
  for (const auto& entry : fs::directory_iterator(source_dir() + "/chapters")) {
    if (!fs::is_directory(entry)) continue;
    const std::string learnt = lesson_of(place, entry.path().filename().string()).learnt;
    INFO(entry.path());
    CHECK(learnt.size() > 80);
    CHECK(learnt.size() < 330);
    ++chapters;
  }
  CHECK(chapters >= 7);
}

TEST_CASE("code is folded between words: comments stay comments, and a diff keeps its marks") {
  CHECK(folded("int x;\n\n  f(a, b);\n", 20) == "int x;\n\n  f(a, b);\n");
  CHECK(folded("  launch(kernel, 4, 256, x, out, n);\n", 24) ==
        "  launch(kernel, 4, 256,\n      x, out, n);\n");
  CHECK(folded("  // one two three four five\n", 16) == "  // one two\n  // three four\n  // five\n");
  CHECK(folded("/// one two three\n", 12) == "/// one two\n/// three\n");
  CHECK(folded("  int total = 0;  // of all rows\n", 20) == "  // of all rows\n  int total = 0;\n");
  CHECK(folded("+  f(one, two, three);\n-\n three\n", 16, 1) ==
        "+  f(one, two,\n+      three);\n-\n three\n");
  const std::string long_word(30, 'x');
  CHECK(folded(long_word + "\n", 10) == long_word + "\n");
}

TEST_CASE("every solution fits 80 columns when it is folded, and has the same words") {
  const auto words_of = [](const std::string& text) {  // without spaces and slashes; comments may move
    std::string letters;
    for (const char c : text)
      if (c != ' ' && c != '\n' && c != '/') letters += c;
    std::sort(letters.begin(), letters.end());
    return letters;
  };
  int solutions = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir() + "/solutions")) {
    if (entry.path().extension() != ".cuh") continue;
    const std::string plain = plain_solution_of(file_text(entry.path()));
    std::istringstream lines(folded(plain, 79));
    for (std::string line; std::getline(lines, line);) {
      INFO(entry.path() << ": " << line);
      CHECK(line.size() < 80);
    }
    CHECK(words_of(folded(plain, 79)) == words_of(plain));
    ++solutions;
  }
  CHECK(solutions > 25);
}

TEST_CASE("names are shown without what would change the terminal") {
  CHECK(printable("a\x1b[31m\nb\x7f é") == "a\\x1b[31m\\nb\\x7f é");
  CHECK(complaint("workbook", "there is no \x1b[31m\nmore") == "workbook: there is no \\x1b[31m\nmore\n");
}

TEST_CASE("a refusal is wrapped, and what follows its first line stays as it is") {
  const std::string words(100, 'x'), spaced = words + "  " + words + "\n";
  CHECK(complaint("workbook", "there is no command") == "workbook: there is no command\n");
  const std::string text = complaint(
      "workbook", "the nearest: 01.1_fuse, 02.1_fuse, 03.1_fuse (./workbook list shows all) or more");
  CHECK(text ==
        "workbook: the nearest: 01.1_fuse, 02.1_fuse, 03.1_fuse (./workbook list shows\nall) or more\n");
  CHECK(complaint("workbook", "it cannot be built:\n" + spaced.substr(0, spaced.size() - 1)) ==
        "workbook: it cannot be built:\n" + spaced);
}

TEST_CASE("of several outputs it says which are right and which are wrong") {
  nlohmann::json verdict = report(VerdictStatus::kNotYet);
  const auto wrong_case = [](const char* shape, const std::vector<std::string>& wrong) {
    return nlohmann::json{{"shape", shape},
                          {"how", ""},
                          {"right", false},
                          {"wrong_outputs", wrong},
                          {"message", "b[0] is 1, expected 2"}};
  };
  verdict["cases"] = nlohmann::json::array({wrong_case("3", {"b", "d"})});
  verdict["outputs"] = "a b c d";
  CHECK_THAT(verdict_of(verdict.dump(), {}).text,
             ContainsSubstring("Outputs at N = 3:\n    right: a c\n    wrong: b d\n"));
  verdict["cases"].push_back(wrong_case("7", {"b"}));
  verdict["cases"].push_back(wrong_case("8", {}));  // a finding stopped it
  CHECK_THAT(verdict_of(verdict.dump(), {}).text,
             ContainsSubstring(
                 "Outputs in the cases that were compared and are wrong:\n    right: a c\n    wrong: b\n"
                 "    wrong in some of them: d\n"));
  verdict["outputs"] = "b";
  CHECK(verdict_of(verdict.dump(), {}).text.find("Outputs") == std::string::npos);
}

TEST_CASE("a program that is not all there is noticed, and deleted") {
  const Folder folder;
  const std::string whole = file_text(bin_dir() + "/workbook");
  const fs::path program = folder.path / "program";
  const auto write = [&](const std::string& content) {
    std::ofstream(program, std::ios::binary) << content;
    fs::permissions(program, fs::perms::owner_all);
  };
  write(whole);
  CHECK(is_whole_program(program));
  write("#!/bin/sh\nexit 7\n");
  CHECK(run_limited({program.string()}, {}).code == 7);
  for (const std::string& damaged :
       {std::string(), std::string(100000, '\0'), whole.substr(0, whole.size() / 2)}) {
    write(damaged);
    CHECK_FALSE(is_whole_program(program));
    CHECK_THROWS_WITH(run_limited({program.string()}, {}), ContainsSubstring("was damaged"));
    CHECK_FALSE(fs::exists(program));
  }
}

}  // namespace test_workbook

// Predictions: which answers are understood, and what a session with ./workbook predict says and keeps.
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.hpp"
#include "commands/lesson.hpp"
#include "commands/overview.hpp"
#include "commands/predict.hpp"
#include "commands/run.hpp"
#include "paths.hpp"
#include "predictions.hpp"
#include "printed.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"

namespace test_predict {
using namespace workbook;
namespace fs = std::filesystem;

namespace {

constexpr const char* kChapter = "00_first_kernel";

/// The chapters of this tree, with a state of their own.
struct Place {
  fs::path state = fs::temp_directory_path() / ("workbook-predict-" + std::to_string(getpid()));
  Workbook workbook = {source_dir(), fs::path(bin_dir()).parent_path(), state, {kChapter, "01_multiply_add"},
                       {},           {kChapter, "01_multiply_add"}};
  Place() { fs::create_directories(state); }
  ~Place() { fs::remove_all(state); }

  /// A session in which the reader types `lines`.
  std::string session(const std::string& lines, const std::string& chapter = "00") const {
    std::istringstream in(lines);
    return printed([&] { CHECK(predict_command(workbook, chapter, /*as_json=*/false, in) == kDone); });
  }
  Predicted predicted() const { return predicted_of(workbook, kChapter, load_answers(state)); }
};

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The text in one line, with single spaces.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

TEST_CASE("predict: answers are understood, or are none, as in the book") {
  const auto cases = nlohmann::json::parse(file_text(source_dir() + "/tests/docs/predicted_numbers.json"));
  REQUIRE(cases.size() > 40);
  for (const auto& one : cases) {
    const auto predicted = predicted_number(one[0]);
    INFO(one);
    REQUIRE(predicted.has_value() == !one[2].is_null());
    if (predicted) CHECK(is_right_prediction(*predicted, one[1]) == one[2].get<bool>());
  }
}

TEST_CASE("predict: a session marks each answer, explains it, and goes on where it was left") {
  const Place place;
  CHECK(place.predicted().asked == 6);
  const std::string first = place.session("32\n4 bytes\nmany\n\n?\nq\n");
  CHECK_THAT(first, ContainsSubstring("bytes read per element? 32\n    Right. "));
  CHECK_THAT(first, ContainsSubstring("bytes written per element? 4 bytes\n    Not quite: it is 32.0. "));
  CHECK(count_of(in_one_line(first),
                 "Answer with a number such as 16, 1.5 (or 1,5), 3/2, 1.5x or 24 bytes.") == 3);
  CHECK_THAT(first, ContainsSubstring("bytes read per element? ?\n    It is 4.0. "));
  CHECK_THAT(first, ContainsSubstring("Continue with ./workbook predict 00."));
  CHECK(place.predicted().answered == 3);

  const std::string rest = place.session("8/2\n4,0\n4");
  CHECK(count_of(rest, "Right. ") == 4);
  CHECK(count_of(rest, "Not quite") == 1);
  CHECK_THAT(rest, ContainsSubstring("4 of 6 right."));
  CHECK(place.predicted().answered == 6);
  CHECK(load_answers(place.state).at(kChapter).at("02_coalesced write") == "8/2");
}

TEST_CASE("predict: finished predictions are shown again, and asked again on request alone") {
  const Place place;
  place.session("32\n32\n4\n4\n4\n4\n");
  for (const char* answer : {"", "\n", "n\n", "what\n"}) {
    const std::string again = place.session(answer);
    CHECK(count_of(again, "Right. ") == 6);
    CHECK_THAT(again, ContainsSubstring("Start again? [y/N]"));
    CHECK(place.predicted().answered == 6);
  }
  const std::string anew = place.session("y\n1\nq\n");
  CHECK(count_of(anew, "Not quite") == 1);
  CHECK(place.predicted().answered == 1);
}

TEST_CASE("predict: the end of the input leaves, and keeps what was answered") {
  const Place place;
  place.session("32\n32\n");
  CHECK(place.predicted().answered == 2);
  CHECK(place.session("").find("Start again") == std::string::npos);
  CHECK(place.predicted().answered == 2);
}

TEST_CASE("predict: counts that were stored take the place of a run, if they are the chapter's") {
  const Place place;
  const std::string file = (place.state / "counts.json").string();
  std::istringstream nothing;
  const auto as_json = [&] {
    return nlohmann::json::parse(
        printed([&] { predict_command(place.workbook, kChapter, /*as_json=*/true, nothing, file); }));
  };
  const std::string program = bin_dir() + "/" + kChapter;
  REQUIRE(std::system((program + " --device cpu --json " + file + " >/dev/null").c_str()) == 0);
  const auto run = nlohmann::json::parse(
      printed([&] { predict_command(place.workbook, kChapter, /*as_json=*/true, nothing); }));
  CHECK(as_json() == run);

  auto stored = nlohmann::json::parse(file_text(file));
  auto& read = stored[0]["stages"][0]["shown"]["read"]["value"];
  read = 2 * read.get<double>();
  replace_file(file, stored.dump());
  CHECK(as_json()[0]["counted"].get<double>() == 2 * run[0]["counted"].get<double>());

  stored[0]["chapter"] = "01_multiply_add";
  for (const std::string& wrong :
       {stored.dump(), std::string("[]"), std::string("[1]"), std::string("no JSON")}) {
    replace_file(file, wrong);
    CHECK_THROWS_WITH(as_json(), ContainsSubstring("must hold what 00_first_kernel stores"));
  }
}

TEST_CASE("predict: lines fit 80 columns") {
  const Place place;
  for (const char* chapter : {"0", "1"}) {
    std::istringstream lines(place.session("x\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", chapter));
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= 85);  // × takes two bytes
    }
  }
}

TEST_CASE("predict: the overview and the list say which predictions are made") {
  const Place place;
  const auto overview = [&] { return printed([&] { overview_command(place.workbook); }); };
  const auto list = [&](bool json) { return printed([&] { list_command(place.workbook, json); }); };
  CHECK_THAT(overview(), ContainsSubstring("0 of 6 predictions made"));
  CHECK_THAT(list(false), ContainsSubstring("[ ] 0 of 6 predictions made"));
  place.session("32\n32\n");
  CHECK_THAT(overview(), ContainsSubstring("2 of 6 predictions made"));
  place.session("4\n4\n4\n4\n");
  CHECK_THAT(overview(), ContainsSubstring(", predictions made"));
  CHECK_THAT(list(false), ContainsSubstring("[x] predictions made"));
  const auto known = nlohmann::json::parse(list(true));
  CHECK(known[0]["predictions"] == nlohmann::json{{"asked", 6}, {"answered", 6}});
}

TEST_CASE("predict: a chapter in Python has no program to build, and no predictions") {
  const Place place;
  Workbook more = place.workbook;
  more.chapters.push_back("09_pytorch");
  CHECK(chapters_of_predict(more, "09").empty());
  std::istringstream in;
  CHECK_THROWS_WITH(predict_command(more, "09", /*as_json=*/false, in),
                    ContainsSubstring("./workbook run 09 measures, and docs/09_pytorch.md asks"));
  CHECK(chapters_of_run(more, {}) == more.programs);
  CHECK_THROWS_WITH(chapters_of_run(more, {"01", "9"}), ContainsSubstring("./workbook run 09"));
}

TEST_CASE("predict: without a name it takes the first chapter with predictions to make") {
  const Place place;
  CHECK(chapters_of_predict(place.workbook, "") == std::vector<std::string>{kChapter});
  for (const Question& question : lesson_of(place.workbook, kChapter).questions)
    keep_answer(place.state, kChapter, question.key(), "1");
  CHECK(chapters_of_predict(place.workbook, "") == std::vector<std::string>{"01_multiply_add"});
  for (const char* name : {"1", "01", "01_multiply_add"})
    CHECK(chapters_of_predict(place.workbook, name) == std::vector<std::string>{"01_multiply_add"});
  CHECK(chapters_of_predict(place.workbook, "0") == std::vector<std::string>{kChapter});

  // When all are made, it takes the last chapter that has any.
  Workbook more = place.workbook;
  more.chapters.push_back("99_without_a_lesson");
  REQUIRE(lesson_of(more, "99_without_a_lesson").questions.empty());
  for (const Question& question : lesson_of(more, "01_multiply_add").questions)
    keep_answer(place.state, "01_multiply_add", question.key(), "1");
  CHECK(chapters_of_predict(more, "") == std::vector<std::string>{"01_multiply_add"});
  for (const char* name : {"7", "first", "00_first_kernel_", "-"})
    CHECK_THROWS_AS(chapters_of_predict(place.workbook, name), UsageError);
}

TEST_CASE("predict: damaged answers are set aside, and answers that are no UTF-8 do no harm") {
  const Place place;
  const fs::path file = place.state / "predictions.json";
  int damaged = 0;
  for (const std::string text :
       {"", "{", "[]", R"({"schema": 0, "answers": {}})",
        R"({"schema": 1, "answers": {"00_first_kernel": 7}})",
        R"({"schema": 1, "answers": {"00_first_kernel": {"01_one_block read": 32}}})"}) {
    std::ofstream(file) << text;
    CHECK(load_answers(place.state).empty());
    CHECK_FALSE(fs::exists(file));
    CHECK(file_text(fs::path(file.string() + ".damaged-" + std::to_string(++damaged))) == text);
  }
  std::ofstream(file) << R"({"schema": 2, "answers": {}})";
  CHECK_THROWS_WITH(load_answers(place.state), ContainsSubstring("a newer version"));
  fs::remove(file);
  keep_answer(place.state, kChapter, "01_one_block read", "\xff");
  CHECK(load_answers(place.state).at(kChapter).size() == 1);
  CHECK_THAT(place.session("q\n"), ContainsSubstring("Not quite: it is 32.0."));
}

TEST_CASE("predict: a damaged lesson is named, and a chapter without one has no predictions") {
  const Place place;
  Workbook other = place.workbook;
  other.root = place.state;
  const fs::path folder = place.state / "chapters" / kChapter;
  fs::create_directories(folder);
  std::istringstream in;
  CHECK_THROWS_AS(predict_command(other, "00", false, in), UsageError);
  for (const char* text : {"", "{}", R"({"learnt": "", "given": "", "predict": [{"read": "x"}]})"}) {
    std::ofstream(folder / "lesson.json") << text;
    CHECK_THROWS_WITH(lesson_of(other, kChapter),
                      ContainsSubstring("chapters/00_first_kernel/lesson.json is damaged"));
  }
}

TEST_CASE("predict: a program that counts nothing is no answer") {
  const Place place;
  Workbook other = place.workbook;
  other.build = place.state;
  fs::create_directories(place.state / "bin");
  std::istringstream in("1\n");
  CHECK_THROWS_AS(predict_command(other, "00", false, in), MachineError);  // no such program
  const fs::path program = place.state / "bin" / kChapter;
  const auto write = [&](const char* text) {
    std::ofstream(program) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(program, fs::perms::owner_all);
  };
  for (const char* text : {"exit 0", "exit 3", "echo [] > \"$4\"", "echo x > \"$4\"; kill -9 $$"}) {
    write(text);
    INFO(text);
    CHECK_THROWS_AS(predict_command(other, "00", false, in), MachineError);
  }
  write("echo WRONG; exit 1");
  const std::string said = printed([&] { CHECK(predict_command(other, "00", false, in) == kWrong); });
  CHECK_THAT(said, ContainsSubstring("WRONG"));
  CHECK(fs::exists(place.state / "predictions.json") == false);
  fs::remove_all(place.state / "bin");
  CHECK(fs::is_empty(place.state));  // what the programs wrote is gone
}

}  // namespace test_predict

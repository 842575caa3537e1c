// The programs as a reader calls them: output, bad input, exit status.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "harness/options.hpp"
#include "paths.hpp"
#include "system/errors.hpp"
#include "system/terminal.hpp"
#include "workbook.hpp"

namespace test_command_line {
namespace fs = std::filesystem;

namespace {

struct Outcome {
  int status;
  std::string output;  // standard output and error
};

Outcome run(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string output;
  char buffer[4096];
  while (const std::size_t read = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, read);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

/// A path as one word of a shell, with a space after it: it may have quotes in it.
std::string word(const std::string& path) {
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "' ";
}
std::string program(const std::string& name) { return word(bin_dir() + "/" + name); }

Outcome chapter(const std::string& arguments) { return run(program("01_multiply_add") + arguments); }
Outcome workbook_program(const std::string& arguments) { return run(program("workbook") + arguments); }

/// One sentence, wrapped to the width of a terminal, that status, and every one of the texts.
void check_refused(const Outcome& outcome, int status, const std::vector<std::string>& texts) {
  INFO(outcome.output);
  CHECK(outcome.status == status);
  CHECK(outcome.output.ends_with('\n'));
  std::string sentence = outcome.output;
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  CHECK(outcome.output == workbook::wrapped(sentence, 0, 79));
  for (const std::string& text : texts) CHECK_THAT(sentence, ContainsSubstring(text));
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0, width = 0;
  for (const char c : text) {
    if (c == '\n') width = 0;
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80 && c != '\n') widest = std::max(widest, ++width);
  }
  return widest;
}

struct TemporaryFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("workbook-test-" + std::to_string(getpid()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("a chapter verifies, counts, and says what is next, in 80 columns") {
  const Outcome outcome = chapter("--device cpu --size 4096");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  for (const char* text :
       {"01_unfused", "05_reduced", "needs a GPU", "1.50x", "Next: docs/01_multiply_add.md"})
    CHECK_THAT(outcome.output, ContainsSubstring(text));
  CHECK(widest_line(outcome.output) <= 80);
  CHECK(widest_line(chapter("--device cpu --size 70000 --model h200 --resources").output) <= 80);
  CHECK(widest_line(chapter("--help").output) <= 80);
  CHECK_THAT(chapter("--help").output, !ContainsSubstring("\n\n\n"));
  CHECK(outcome.output.find('\033') == std::string::npos);  // not a terminal: no colours
}

TEST_CASE("every chapter prints at most 45 lines of 80 columns") {
  for (const std::string& chapter : workbook::find_workbook().programs) {
    // Each chapter takes one of these sizes; check_lesson_form.py looks at those that the lessons show.
    Outcome outcome{2, ""};
    for (const char* size : {"1000", "64x128", "64x64x64", "2x64x64", "1x1x64x64x64"})
      if (outcome.status == 2) outcome = workbook_program("run " + chapter + " --device cpu --size " + size);
    INFO(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(widest_line(outcome.output) <= 80);
    CHECK(std::count(outcome.output.begin(), outcome.output.end(), '\n') <= 45);
  }
}

TEST_CASE("a table whose rows would have 81 columns has narrower gaps") {
  const Outcome outcome = workbook_program("run 04 --device cpu --size 64x100");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(widest_line(outcome.output) <= 80);
}

TEST_CASE("chapter 00 verifies, counts, and says what is next, in 80 columns") {
  const Outcome outcome = workbook_program("run 00 --device cpu --size 4096 --model h200");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  for (const char* text : {"01_one_block", "03_grid", "8.00x", "Next: docs/00_first_kernel.md"})
    CHECK_THAT(outcome.output, ContainsSubstring(text));
  CHECK(widest_line(outcome.output) <= 80);
  CHECK(workbook_program("run 0 --device cpu --size 4096 --model h200").output == outcome.output);
}

TEST_CASE("bad sizes are refused") {
  for (const char* size : {"0", "-3", "1e30", "abc", "2147418113", "2147483648", "12x34", "1.5"})
    check_refused(chapter("--device cpu --size=" + std::string(size)), 2,
                  {"--size", "expected N, a whole number from 1"});
}

TEST_CASE("a stage is known by its number as well") {
  const Outcome outcome = chapter("--device cpu --size 1000 --stage 3,01_unfused");
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("03_float4") != std::string::npos);
  CHECK(outcome.output.find("01_unfused") != std::string::npos);
  CHECK(outcome.output.find("02_fused") == std::string::npos);
  check_refused(chapter("--stage 7"), 2, {"--stage 7", "01_unfused, 02_fused"});
}

TEST_CASE("all exercises or one are checked, not both") {
  check_refused(workbook_program("check --all 01.1"), 2, {"--all checks all exercises: leave out 01.1"});
}

TEST_CASE("unknown names are refused, and the right ones named") {
  check_refused(chapter("--stage 9_none"), 2, {"--stage 9_none", "01_unfused, 02_fused"});
  check_refused(chapter("--device tpu"), 2, {"--device tpu", "auto, cpu, gpu"});
  check_refused(chapter("--model abacus"), 2, {"--model abacus", "h200"});
  check_refused(chapter("--frobnicate"), 2, {"--frobnicate", "--help"});
  check_refused(chapter("--size 5 --sweep"), 2, {"exclude each other"});
  check_refused(chapter("--once --json x"), 2, {"exclude each other"});
  check_refused(chapter("--trace x --sweep"), 2, {"--trace and --sweep exclude each other"});
  check_refused(chapter("--trace x --lines"), 2, {"--trace and --lines exclude each other"});
  for (const std::string& call :
       {program("01_multiply_add"), program("workbook") + "play " + word(source_dir() + "/README.md")}) {
    const auto note = [&](const std::string& words) { return run(call + words); };
    check_refused(note("--note rice"), 2, {"--note rice: there is no such kind", "race, uninitialised"});
    check_refused(note("--note race --note ''"), 2, {"there is no such kind", "race, uninitialised"});
    check_refused(note("--note bounds"), 2, {"--note bounds: no launch can go on after", "race, uninit"});
    check_refused(note("--note race --device gpu"), 2, {"--note: only the CPU device", "--device cpu"});
  }
  check_refused(chapter("--trace x --device gpu"), 2, {"--trace: only the CPU device"});
  check_refused(chapter("--trace ''"), 2, {"--trace: expected the path of a file"});
  check_refused(chapter("--trace /dev/null"), 2, {"--trace /dev/null", "no ordinary file"});
  check_refused(chapter("--json ''"), 2, {"--json"});
  check_refused(chapter("--device cpu --json /dev/null"), 2, {"--json /dev/null", "no ordinary file"});
  check_refused(chapter("--sustained --device cpu"), 2, {"--sustained: only a GPU is timed"});
  check_refused(chapter("--take-turns --device cpu"), 2, {"--take-turns: only a GPU is timed"});
  check_refused(chapter("--take-turns --sweep"), 2, {"--take-turns and --sweep exclude each other"});
  check_refused(chapter("--take-turns --json x"), 2, {"--take-turns and --json exclude each other"});
  check_refused(chapter("--stage ''"), 2, {"--stage"});
  check_refused(chapter("--stage 02_fused,9_none"), 2, {"--stage 9_none", "01_unfused, 02_fused"});
}

TEST_CASE("a JSON file that cannot be written is refused, and nothing is left behind") {
  const TemporaryFolder folder;
  check_refused(chapter("--device cpu --size 5 --json " + (folder.path / "none" / "x.json").string()), 2,
                {"--json", "a folder that exists"});
  check_refused(chapter("--device cpu --size 5 --json " + folder.path.string()), 2,
                {"--json", "no ordinary file"});
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("a GPU that is not there is refused") {
  if (run("ls /dev/nvidia0").status == 0) return;
  check_refused(chapter("--device gpu"), 3, {"--device gpu", "accepted here: cpu"});
  check_refused(chapter("--take-turns"), 3, {"--device gpu", "accepted here: cpu"});
}

TEST_CASE("without a GPU there is nothing to bench") {
  const TemporaryFolder folder;
  check_refused(workbook_program("bench 01 --out " + (folder.path / "results").string()), 3, {"GPU", "cpu"});
  CHECK_FALSE(fs::exists(folder.path / "results"));
}

TEST_CASE("dropout's options change the results, bad ones are refused, and other chapters have none") {
  const auto dropout = [](const std::string& options) {
    return run(program("07_gelu_dropout") + "--device cpu --size 4x256 " + options);
  };
  CHECK_THAT(dropout("").output, ContainsSubstring("RxC = 4x256, p = 0.1"));
  for (const char* good : {"--p 0", "--p 1", "--p 1e-3", "--p=0.25 --seed 18446744073709551615 --offset 7"})
    CHECK(dropout(good).status == 0);
  for (const char* p : {"1.5", "-0.1", "nan", "inf", "x", "0.5x", "0,5"})
    check_refused(dropout("--p=" + std::string(p)), 2, {"--p", "from 0 to 1"});
  for (const char* option : {"--seed", "--offset"})
    for (const char* number : {"-1", "1.5", "18446744073709551616", "1e3", "seven"})
      check_refused(dropout(option + std::string("=") + number), 2,
                    {option, "expected a whole number from 0 to 2^64 - 1"});
  for (const char* option : {"--p 0.5", "--seed 1", "--offset 1"})
    check_refused(chapter(option), 2, {"01_multiply_add has no dropout"});
  CHECK_THAT(dropout("--help").output, ContainsSubstring("--seed"));
  CHECK_THAT(chapter("--help").output, !ContainsSubstring("--seed"));
}

TEST_CASE("the JSON of a chapter with dropout says which one") {
  const TemporaryFolder folder;
  const auto path = folder.path / "out.json";
  const std::string options = "--device cpu --size 4x256 --p 0.25 --seed 3 --offset 9 --json ";
  REQUIRE(run(program("07_gelu_dropout") + options + path.string()).status == 0);
  std::ifstream file(path);
  CHECK(nlohmann::json::parse(file)[0]["dropout"] ==
        nlohmann::json({{"p", 0.25}, {"seed", 3}, {"offset", 9}}));
  REQUIRE(chapter("--device cpu --size 64 --json " + path.string()).status == 0);
  std::ifstream other(path);
  CHECK_FALSE(nlohmann::json::parse(other)[0].contains("dropout"));
}

TEST_CASE("the JSON has every field") {
  const TemporaryFolder folder;
  const auto path = folder.path / "out.json";
  REQUIRE(chapter("--device cpu --size 4096 --json " + path.string()).status == 0);
  std::ifstream file(path);
  const auto all = nlohmann::json::parse(file);
  REQUIRE(all.size() == 1);
  const auto& one = all[0];
  for (const char* field : {"schema", "chapter", "device", "shape", "dtype", "commit", "date", "stages"})
    CHECK(one.contains(field));
  for (const char* field : {"kind", "name", "uuid", "compute_capability", "sm_clock_mhz", "memory_clock_mhz",
                            "driver", "pin_gbytes_per_s", "l2_bytes"})
    CHECK(one["device"].contains(field));
  CHECK(one["shape"] == nlohmann::json({4096}));
  CHECK(one["stages"].size() == 6);
  for (const auto& stage : one["stages"]) {
    for (const char* field : {"name",
                              "idea",
                              "output",
                              "status",
                              "error",
                              "error_last_places",
                              "kernels",
                              "time_sustained_us",
                              "speed_up",
                              "speed_up_sustained",
                              "burst",
                              "sustained",
                              "ceiling_us",
                              "ceiling_kernel",
                              "above_ceiling",
                              "traffic",
                              "time_us",
                              "time_warm_us",
                              "time_launched_us",
                              "dtype",
                              "registers",
                              "spill_bytes",
                              "occupancy",
                              "gbytes_per_s",
                              "tflops",
                              "fraction_of_ceiling"})
      CHECK(stage.contains(field));
    for (const char* field :
         {"load_requests", "load_sectors", "store_requests", "store_sectors", "shared_load_wavefronts",
          "shared_store_wavefronts", "shared_requests", "atomic_sectors", "compulsory_read_bytes",
          "compulsory_write_bytes", "contended", "shared_loads_may_merge", "expected_read_bytes",
          "expected_write_bytes", "expected_repeated_bytes", "expected_dram_bytes", "approximate"})
      CHECK(stage["traffic"].contains(field));
    // The CPU device tells no times.
    for (const char* field : {"time_us", "time_sustained_us", "speed_up", "ceiling_us"})
      CHECK(stage[field].is_null());
  }
  CHECK(one["stages"][1]["traffic"]["load_sectors"] == 3 * 4096 / 8);
  CHECK(one["stages"][5]["status"] == "skipped");
}

TEST_CASE("a sweep stores one object a size") {
  const TemporaryFolder folder;
  const auto path = folder.path / "out.json";
  REQUIRE(chapter("--device cpu --sweep --stage 01_unfused,02_fused --json " + path.string()).status == 0);
  std::ifstream file(path);
  const auto all = nlohmann::json::parse(file);
  CHECK(all.size() == 8);
  CHECK(all[0]["shape"][0] == 1024);
  CHECK(all[0]["stages"].size() == 2);
}

TEST_CASE("a sweep that does not come to its end has stored the sizes until then") {
  const TemporaryFolder folder;
  const fs::path json = folder.path / "partial.json";
  run(program("01_multiply_add") + "--device cpu --sweep --json " + word(json.string()) + "| head -n 3");
  REQUIRE(fs::exists(json));
  CHECK(!nlohmann::json::parse(std::ifstream(json)).empty());
}

TEST_CASE("option --trace stores what one warp accesses") {
  const TemporaryFolder folder;
  const auto path = folder.path / "trace.json";
  REQUIRE(run(program("00_first_kernel") + "--device cpu --size 4096 --trace " + path.string()).status == 0);
  std::ifstream file(path);
  const auto trace = nlohmann::json::parse(file);
  CHECK(trace["chapter"] == "00_first_kernel");
  CHECK(trace["shape"] == nlohmann::json({4096}));
  REQUIRE(trace["stages"].size() == 3);

  // One block of 256 threads with 16 elements each: a request for each of them, of 32 lanes 64 bytes apart.
  const auto& apart = trace["stages"][0]["launches"][0];
  CHECK(apart["kernel"] == "twice_in_parts");
  REQUIRE(apart["requests"].size() == 32);
  const auto& load = apart["requests"][1];
  CHECK(load["place"] == "chapters/00_first_kernel/01_one_block.cuh:15");
  CHECK(load["operation"] == "load");
  CHECK(load["space"] == "global");
  CHECK(load["array"] == "x");
  CHECK(load["bytes"] == 4);
  CHECK(load["sectors"] == 32);
  REQUIRE(load["offsets"].size() == 32);
  for (int lane = 0; lane < 32; ++lane)
    CHECK(load["offsets"][static_cast<std::size_t>(lane)] == 64 * lane + 4);

  const auto& together = trace["stages"][2]["launches"][0]["requests"];
  REQUIRE(together.size() == 2);
  CHECK(together[1]["operation"] == "store");
  CHECK(together[1]["array"] == "out");
  CHECK(together[1]["sectors"] == 4);
}

TEST_CASE("option --model predicts from published bandwidth, --resources says where they can be had") {
  const Outcome outcome = chapter("--device cpu --size 1048576 --model H200 --resources");
  CHECK_THAT(outcome.output, ContainsSubstring("4800 GB/s"));
  CHECK_THAT(outcome.output, ContainsSubstring("3.5\n"));  // 16 MiB over 4.8 TB/s
  CHECK_THAT(outcome.output, ContainsSubstring("--resources: "));
}

TEST_CASE("option --once prints nothing") { CHECK(chapter("--device cpu --size 100 --once").output.empty()); }

TEST_CASE("shapes are parsed by the chapter's dimensions") {
  const auto shape = workbook::parse_shape("4096x1024", "RxC");
  CHECK(shape.dims[0] == 4096);
  CHECK(shape.dims[1] == 1024);
  CHECK(shape.dims[2] == 1);
  CHECK(workbook::shape_text(workbook::parse_shape("2x3x4", "MxKxN"), "MxKxN") == "2x3x4");
  for (const char* wrong : {"4096", "x", "1x", "x1", "1x2x3", "1x0", "1 x2"})
    CHECK_THROWS_AS(workbook::parse_shape(wrong, "RxC"), workbook::UsageError);
}

TEST_CASE("no array is so large that an int could not index it") {
  for (const char* right : {"32767x65536", "65536x32767", "2147418112x1", "1x2147418112"})
    CHECK_NOTHROW(workbook::parse_shape(right, "RxC"));
  CHECK_NOTHROW(workbook::parse_shape("32767x65536x32767", "MxKxN"));
  CHECK_NOTHROW(workbook::parse_shape("2147418112", "N"));
  for (const char* wrong : {"32768x65536", "46341x46341", "2147483647x2147483647"})
    CHECK_THROWS_AS(workbook::parse_shape(wrong, "RxC"), workbook::UsageError);
  for (const char* wrong : {"65536x32768x1", "65536x1x32768", "1x65536x32768"})  // x, y, w
    CHECK_THROWS_AS(workbook::parse_shape(wrong, "MxKxN"), workbook::UsageError);

  check_refused(run(program("03_quantize_int8") + "--device cpu --size 65536x65536"), 2,
                {"--size 65536x65536: R x C is 4294967296 elements", "the most is 2147418112"});
  for (const std::string& name : workbook::find_workbook().programs)
    for (const char* size : {"2147483647", "65536x65536", "65536x1x65536"})
      check_refused(run(program(name) + "--device cpu --size " + size), 2, {"--size"});
}

TEST_CASE("the workbook greets, lists and runs") {
  for (const char* text : {"01_multiply_add", "exercises solved", "Next: "})
    CHECK_THAT(workbook_program("").output, ContainsSubstring(text));
  CHECK_THAT(workbook_program("list").output, ContainsSubstring("01.1_fuse"));
  for (const char* command : {"", "list", "--help", "check --help", "hint --help"})
    CHECK(widest_line(workbook_program(command).output) <= 80);
  const Outcome outcome = workbook_program("run 01 --device cpu --size 64");
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, ContainsSubstring("01_unfused"));
  CHECK(workbook_program("run --device cpu --size 0").status == 2);
}

TEST_CASE("several chapters do not write one file, of which only the last would remain") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "out.json").string();
  for (const std::string option : {"--json", "--trace"}) {
    for (const std::string chapters : {"00 01", "", "0 1"})
      for (const std::string between : {" ", "="})
        check_refused(workbook_program("run " + chapters + " --device cpu " + option + between + file), 2,
                      {option + ": the file holds one chapter, so name one: ./workbook run 00 " + option});
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(workbook_program("run 00 --device cpu --size 64 " + option + " " + file).status == 0);
    CHECK(std::filesystem::remove(file));
  }
}

TEST_CASE("a full disk: status 3 and one line") {
  for (const std::string& call :
       {program("01_multiply_add") + "--device cpu --size 64", program("01_multiply_add") + "--help",
        program("workbook") + "list", program("workbook") + "list --json", program("workbook") + "--help",
        program("workbook") + "run 01 --device cpu --size 64"})
    check_refused(run("{ " + call + " >/dev/full; }"), 3, {"No space left on device"});
}

TEST_CASE("a reader of the output who leaves is no mistake") {
  const Outcome outcome = run("{ " + program("workbook") + "run 01 --device cpu | true; }");
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "");
}

TEST_CASE("the workbook refuses what it does not know") {
  check_refused(workbook_program("frobnicate"), 2, {"there is no command \"frobnicate\"", "--help"});
  check_refused(workbook_program("chek"), 2, {"the nearest: check"});
  check_refused(workbook_program("run 99"), 2, {"there is no chapter \"99\"", "01_multiply_add"});
  check_refused(workbook_program("run ''"), 2, {"there is no chapter \"\""});
  check_refused(workbook_program("check 01.1_fues"), 2, {"01.1_fues", "the nearest: 01.1_fuse"});
  check_refused(workbook_program("check 00"), 2, {"its chapter has 00.1_guard, 00.2_grid, 00.3_coalesce"});
  check_refused(workbook_program("check 1_fuse"), 2,
                {"the nearest: 01.1_fuse"});  // not in the chapter's folder
  check_refused(workbook_program("check 01.1 01.1"), 2, {"check takes [EXERCISE]"});
  check_refused(workbook_program("check --frob"), 2, {"--frob", "check takes [EXERCISE]"});
  check_refused(workbook_program("list 01"), 2, {"01", "list takes [--json]"});
  check_refused(workbook_program("bench 99"), 2, {"there is no chapter \"99\""});
  check_refused(workbook_program("bench --out /dev/null"), 2, {"/dev/null cannot be made a folder"});
  const std::string longest(300, 'x');  // no file system takes such a name
  for (const std::string& command : {"play " + longest, "play --new " + longest, "view " + longest + ".cu",
                                     "view --out " + longest, "bench --out " + longest, "plots " + longest}) {
    INFO(command);
    const Outcome refused = workbook_program(command);
    CHECK(refused.status == 2);
    CHECK(refused.output.find("filesystem error") == std::string::npos);
  }
  check_refused(workbook_program("skeleton /none"), 3, {"/none cannot be read"});
}

TEST_CASE("WORKBOOK_STEPS is a number, also as 1e9, or is refused") {
  const auto with_steps = [](const std::string& steps) {
    return run("WORKBOOK_STEPS=" + steps + " " + program("01_multiply_add") + "--device cpu --size 100000");
  };
  CHECK(with_steps("1e9").status == 0);
  CHECK(with_steps("1000000000").status == 0);
  CHECK_THAT(with_steps("10").output, ContainsSubstring("10 steps"));
  for (const char* wrong : {"much", "-1", "0", "1e9x", "0.5", "1e300", "''"})
    check_refused(with_steps(wrong), 3, {"WORKBOOK_STEPS=", "a whole number from 1"});
}

TEST_CASE("run takes options before, after and between chapters, and values that look like chapters") {
  for (const char* words :
       {"--device cpu 00", "00 --device cpu", "--device=cpu 00 --size 01", "--size 00 00"}) {
    const Outcome outcome = workbook_program(std::string("chapters run ") + words);
    INFO(words);
    CHECK(outcome.output == "00_first_kernel\n");
  }
  CHECK(workbook_program("run --device cpu 00 --size 1000").output ==
        workbook_program("run 00 --size 1000 --device cpu").output);
  CHECK(workbook_program("chapters run --once 00 01").output == "00_first_kernel 01_multiply_add\n");
  CHECK(workbook_program("chapters run --help").output == "\n");
  CHECK(workbook_program("chapters list").output.empty());
}

TEST_CASE("help of run is its own, and that of run with a chapter is the chapter's") {
  const Outcome help = workbook_program("run --help");
  CHECK(help.status == 0);
  CHECK_THAT(help.output, ContainsSubstring("./workbook run [CHAPTER...]"));
  CHECK_THAT(help.output, ContainsSubstring("--sweep"));
  CHECK(help.output.find("Usage:") == help.output.rfind("Usage:"));  // once, not once per chapter
  CHECK_THAT(workbook_program("run 01 --help").output, ContainsSubstring("01_multiply_add"));
}

TEST_CASE("plots of a folder that is not there is refused at once") {
  for (const char* command : {"plots ", "chapters plots "})
    check_refused(workbook_program(command + std::string("/nonexistent")), 2,
                  {"/nonexistent is not a folder"});
}

TEST_CASE("plots needs what the lessons' pictures need, unless it draws a folder of the reader's") {
  const TemporaryFolder folder;
  CHECK_THAT(workbook_program("chapters plots").output, ContainsSubstring(" claims"));
  const Outcome own = workbook_program("chapters plots '" + folder.path.string() + "'");
  CHECK_THAT(own.output, ContainsSubstring("06_tensor_cores") && !ContainsSubstring("claims"));
}

TEST_CASE("a copy of the program does not work on the files of the original") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path / "build/bin");
  const fs::path copy = folder.path / "build/bin/workbook";
  fs::copy_file(bin_dir() + "/workbook", copy);
  check_refused(run("'" + copy.string() + "' list"), 3, {"has been copied or moved", "start the script"});
}

}  // namespace test_command_line

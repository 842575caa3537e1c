// The judge of exercises: answers that it accepts, and answers that it rejects.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "judge/judge.hpp"
#include "judge/source_check.hpp"
#include "kernels/judged.hpp"
#include "system/exit_status.hpp"
#include "system/files.hpp"
#include "verdict.hpp"

namespace test_run_exercise {
using namespace workbook;
namespace test_kernels = cpu::test_kernels;

namespace {

long long elements(const Shape& shape) { return shape.dims[0]; }
long long one(const Shape&) { return 1; }

constexpr auto kX = input<float>("x", elements);
constexpr auto kFlag = input<unsigned>("flag", one);

void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = 2.0 * host[kX][i];
    magnitude[i] = 1;
  }
}

constexpr auto kOut = output<float>("out", elements, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kFlag, &kOut};

constexpr Shape kSmall[] = {{{4096, 1, 1}}}, kLarge[] = {{{100000, 1, 1}}};

long long once(const Shape& shape) { return sector_bytes(elements(shape)); }
long long nothing(const Shape&) { return 0; }

Exercise exercise(const Shape* shapes, const Limit* limit = nullptr) {
  return {.learnt = "Something.",
          .lesson = "docs/x.md",
          .arrays = kArrays,
          .fill = [](const Data& host) { fill_uniform(host[kX], elements(host.shape), -1, 1, 5); },
          .output = {&kOut},
          .roundings = [](const Shape&) { return 0; },
          .limits = {limit, limit ? 1 : 0},
          .shapes = {shapes, 1}};
}

/// The file of a verdict, and what judge_exercise sets.
struct Judged {
  std::string path = std::filesystem::temp_directory_path() / ("verdict-" + std::to_string(getpid()));
  ~Judged() {
    std::filesystem::remove(path);
    unsetenv("WORKBOOK_STEPS");
  }

  nlohmann::json verdict(const Exercise& exercise, const Version& version) {
    const char* const argv[] = {"check", version.name, path.c_str()};
    REQUIRE(judge_exercise(3, argv, exercise, &version, 1) == 0);
    return nlohmann::json::parse(file_text(path));
  }
  /// The data of a page at a size, and the status.
  std::pair<nlohmann::json, int> view(const Exercise& exercise, const char* size);
  nlohmann::json verdict(const Exercise& exercise, Answer (*answer)()) {
    return verdict(exercise, Version{"reader", answer});
  }
};

const float* x(const Data& d) { return d[kX]; }
float* out(const Data& d) { return d[kOut]; }

template <int sectors>
Answer sectors_more() {
  return {[](const Data& d) { test_kernels::twice_and_sectors(x(d), out(d), d.shape.dims[0], sectors); }};
}

template <int blocks>
Answer with_blocks() {
  return {[](const Data& d) { test_kernels::twice(x(d), out(d), d.shape.dims[0], blocks, 256); }};
}

std::pair<nlohmann::json, int> Judged::view(const Exercise& exercise, const char* size) {
  const Version version = {"reader", with_blocks<4>};
  const char* const argv[] = {"check", version.name, path.c_str(), "view", size};
  const int status = judge_exercise(*size ? 5 : 4, argv, exercise, &version, 1);
  return {nlohmann::json::parse(file_text(path)), status};
}

Answer polling() {
  return {[](const Data& d) {
    test_kernels::twice_after_polling(x(d), out(d), d.shape.dims[0], reinterpret_cast<int*>(d[kFlag]));
  }};
}

template <bool any>
Answer with_its_block() {
  return {[](const Data& d) {
    if (any)
      test_kernels::twice(x(d), out(d), d.shape.dims[0], 4, d.block);
    else
      test_kernels::twice_by_256(x(d), out(d), d.shape.dims[0], d.block);
  }};
}

}  // namespace

TEST_CASE_METHOD(Judged, "exercise: a few sectors more than the limit pass, many do not") {
  const Limit limit = {Cost::kReadBytes, once, "is something read twice?"};
  CHECK(verdict(exercise(kSmall, &limit), sectors_more<0>)["status"] == "solved");
  CHECK(verdict(exercise(kSmall, &limit), sectors_more<40>)["status"] == "solved");
  const auto over = verdict(exercise(kSmall, &limit), sectors_more<60>);
  CHECK(over["status"] == "not yet");
  // The two numbers differ in print, however near the limit is.
  const std::string text = verdict_of(over.dump(), {}).text;
  CHECK_THAT(text, ContainsSubstring("bytes read an element 4.5, allowed 4.4: is something"));
}

TEST_CASE_METHOD(Judged, "exercise: an estimate cannot be over its limit") {
  const Limit limit = {Cost::kReadBytes, nothing, "is something read?"};
  CHECK(verdict(exercise(kSmall, &limit), with_blocks<4>)["status"] == "not yet");
  const auto estimate = verdict(exercise(kSmall, &limit), polling);
  CHECK(estimate["status"] == "solved");
  CHECK(estimate["budget"][0]["approximate"] == true);
  CHECK_THAT(verdict_of(estimate.dump(), {}).text, ContainsSubstring("≈4.0"));
}

TEST_CASE_METHOD(Judged, "exercise: a limit per block is shown per block") {
  const Limit limit = {Cost::kBarriers, [](const Shape&) { return 16LL; }, "which threads wait?",
                       [](const Shape&) { return 8LL; }};
  const auto solved = verdict(exercise(kSmall, &limit), polling);
  CHECK(solved["status"] == "solved");
  CHECK(solved["budget"][0]["what"] == "barriers per block");
  CHECK(solved["budget"][0]["counted"] == 1.0 / 8);
  CHECK(solved["budget"][0]["allowed"] == 2.0);
}

TEST_CASE_METHOD(Judged, "exercise: a verdict names the grid where the task is about it") {
  Exercise with_grid = exercise(kSmall);
  with_grid.grid_blocks = [](const Shape&) { return 4; };
  const auto found = verdict(with_grid, with_blocks<4>);
  CHECK(found["cases"].size() == 1);
  CHECK(found["cases"][0]["how"] == "a grid of 4 blocks");
}

TEST_CASE_METHOD(Judged, "exercise: a limit on barriers is exact") {
  const Limit enough = {Cost::kBarriers, one, "which threads wait?"},
              too_few = {Cost::kBarriers, nothing, "?"};
  CHECK(verdict(exercise(kSmall, &enough), polling)["status"] == "solved");
  const auto over = verdict(exercise(kSmall, &too_few), polling);
  CHECK(over["status"] == "not yet");
  CHECK_THAT(verdict_of(over.dump(), {}).text, ContainsSubstring("barriers of all blocks 1, allowed 0"));
}

TEST_CASE_METHOD(Judged, "exercise: at large n one block may not do all the work") {
  CHECK(verdict(exercise(kSmall), with_blocks<1>)["status"] == "solved");
  CHECK(verdict(exercise(kLarge), with_blocks<4>)["status"] == "solved");
  const auto alone = verdict(exercise(kLarge), with_blocks<1>);
  CHECK(alone["status"] == "not yet");
  CHECK_THAT(verdict_of(alone.dump(), {}).text,
             ContainsSubstring("loads and stores in one block 100, allowed 25"));
}

TEST_CASE_METHOD(Judged, "exercise: a kernel for any block is tried with each") {
  constexpr int kBlocks[] = {96, 1024, 256};
  Exercise any = exercise(kSmall);
  any.blocks = {kBlocks, 3};
  CHECK(verdict(any, with_its_block<true>)["status"] == "solved");
  const auto one = verdict(any, with_its_block<false>);
  CHECK(one["cases"][0]["right"] == false);
  CHECK(one["cases"][0]["how"] == "blocks of 96 threads");
  CHECK(one["cases"][2]["right"] == true);
}

TEST_CASE_METHOD(Judged, "exercise: a prediction that is no number is wrong, and ends nothing") {
  static double predicted;
  const Prediction prediction = {"twice", with_blocks<4>().run};
  Exercise numbers = exercise(kSmall);
  numbers.predictions = {&prediction, 1};
  const auto counted = [&](double number) {
    predicted = number;
    return verdict(numbers, [] { return Answer{.predictions = {&predicted, 1}}; });
  };
  CHECK(counted(8)["status"] == "solved");
  CHECK(counted(8.04)["status"] == "solved");
  CHECK(counted(8.1)["predictions"][0]["counted"] == "fewer");
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double none : {kNan, -kNan, std::numeric_limits<double>::infinity()}) {
    const auto judged = counted(none);
    CHECK(judged["predictions"][0]["counted"] == "no number");
    CHECK(judged["predictions"][0]["predicted"] != "-nan");
    const Verdict shown = verdict_of(judged.dump(), {});
    CHECK_FALSE(shown.solved);
    CHECK_THAT(shown.text, ContainsSubstring("not compared: predict a number"));
  }
  const auto said = [&](double number) { return verdict_of(counted(number).dump(), {}).text; };
  CHECK_THAT(said(8), ContainsSubstring("actual\n  twice, bytes an element        8.0  the same\n"));
  CHECK_THAT(said(7), ContainsSubstring("7.0  more than predicted\n"));
  CHECK_THAT(said(9), ContainsSubstring("9.0  less than predicted\n"));
}

TEST_CASE_METHOD(Judged, "exercise: a number that no kernel is run for has a tolerance and known mistakes") {
  static double predicted;
  const Slip slips[] = {{50, "this is one half; there are two"}, {49, "this comes second"}};
  Prediction prediction = {
      .name = "the whole", .value = 100, .unit = "parts", .tolerance = 0.02, .slips = {slips, 2}};
  Exercise numbers = {.learnt = "Something.", .lesson = "docs/x.md"};
  numbers.predictions = {&prediction, 1};
  const auto judged = [&](double number) {
    predicted = number;
    return verdict(numbers, [] { return Answer{.predictions = {&predicted, 1}}; });
  };
  for (const double near : {98.0, 100.0, 102.0}) CHECK(judged(near)["status"] == "solved");
  for (const double off : {97.9, 102.1, -100.0}) CHECK(judged(off)["status"] == "not yet");
  CHECK_THAT(verdict_of(judged(98).dump(), {}).text, ContainsSubstring("98.0  100.0, near enough\n"));
  CHECK_THAT(verdict_of(judged(100.04).dump(), {}).text, ContainsSubstring("100.0  the same\n"));
  CHECK(judged(60)["predictions"][0]["slip"] == "");
  CHECK(judged(50.9)["predictions"][0]["slip"] == slips[0].says);
  CHECK(judged(100)["predictions"][0]["slip"] == "");
  const std::string said = verdict_of(judged(49.5).dump(), {}).text;
  CHECK_THAT(said, ContainsSubstring("  the whole, parts       49.5  more than predicted\n"));
  CHECK_THAT(said, ContainsSubstring("\n  the whole: this is one half; there are two.\n"));

  const Slip right = {101, "this is right"};
  prediction.slips = {&right, 1};
  const Version version = {"reader", [] { return Answer{.predictions = {&predicted, 1}}; }};
  const char* const argv[] = {"check", version.name, path.c_str()};
  CHECK_THROWS_AS(judge_exercise(3, argv, numbers, &version, 1), std::logic_error);
}

TEST_CASE_METHOD(Judged, "exercise: a prediction may be one of several words") {
  static double predicted;
  const char* const words[] = {"?", "memory", "issue"};
  const Slip slip = {1, "there is more to issue"};
  const Prediction prediction = {.name = "limit", .value = 2, .words = {words, 3}, .slips = {&slip, 1}};
  Exercise numbers = {.learnt = "Something.", .lesson = "docs/x.md"};
  numbers.predictions = {&prediction, 1};
  const auto judged = [&](double number) {
    predicted = number;
    return verdict(numbers, [] { return Answer{.predictions = {&predicted, 1}}; });
  };
  CHECK(judged(2)["status"] == "solved");
  CHECK(judged(1)["predictions"][0]["counted"] == "other");
  const std::string said = verdict_of(judged(1).dump(), {}).text;
  CHECK_THAT(said, ContainsSubstring("  limit     memory  something else\n"));
  CHECK_THAT(said, ContainsSubstring("limit: there is more to issue.\n"));
  for (const double none : {0.0, 1.5, 1.99, 3.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(judged(none)["predictions"][0]["counted"] == "no answer");
    CHECK_THAT(verdict_of(judged(none).dump(), {}).text,
               ContainsSubstring("  limit          ?  no answer yet\n"));
  }
}

TEST_CASE_METHOD(Judged, "exercise: a page is about the largest shape that fits, or the smallest") {
  const auto viewed = [&](const std::vector<Shape>& shapes) {
    Exercise one = exercise(shapes.data());
    one.shapes = {shapes.data(), static_cast<int>(shapes.size())};
    return view(one, "").first["at"];
  };
  CHECK(viewed({{{5, 1, 1}}, {{8192, 1, 1}}, {{700, 1, 1}}, {{8193, 1, 1}}}) == "N = 8192");
  CHECK(viewed({{{20000, 1, 1}}, {{9000, 1, 1}}, {{10000, 1, 1}}}) == "N = 9000");
}

TEST_CASE_METHOD(Judged, "exercise: what cannot be viewed is said in the file") {
  const auto [data, status] = view(exercise(kSmall), "x");
  CHECK(status == kBadUsage);
  CHECK_THAT(data["refused"].get<std::string>(), ContainsSubstring("--size x: expected N"));
}

TEST_CASE_METHOD(Judged, "exercise: a file that goes around the judge is not run") {
  const std::string file = path + ".cuh";
  replace_file(file, "#include \"../../../solutions/01_multiply_add/1_fuse/solution.cuh\"\n");
  const auto refused = verdict(exercise(kSmall), Version{"reader", with_blocks<4>, file.c_str()});
  std::filesystem::remove(file);
  CHECK(refused["status"] == "not yet");
  CHECK(refused["cases"].empty());
  CHECK_THAT(verdict_of(refused.dump(), {}).text, ContainsSubstring("Not run: line 1: "));
}

TEST_CASE("exercise: what no file may have") {
  for (const char* wrong :
       {"#include \"4_sum.cuh\"", "#  include <cpu_device/running/device.hpp>", "#include \"/tmp/x.hpp\"",
        "__attribute__((no_sanitize(\"thread\"))) int f();", "[[gnu::no_sanitize_thread]] int f();",
        "#define DEVICE mine", "#undef __global__", "int x = cpu :: device().counts.load_sectors;",
        "namespace cpu { int x; }"}) {
    INFO(wrong);
    CHECK(refusal(std::string("\n") + wrong).starts_with("line 2: "));
  }
  for (const char* right :
       {"", "#include \"device.hpp\"\n#include <mma.h>\n#include \"vectors.hpp\"\n#include <cuda/pipeline>",
        "// #include \"4_sum.cuh\" and cpu::device()", "/* cpu::\n * no_sanitize */", "\"cpu::\" 'c' '\\''",
        "#define N 256", "const int cpu = 1'000'000; // \"", "a ? cpu : device;", "/*", "\"", "#include",
        "#include \"x"}) {
    INFO(right);
    CHECK(refusal(right) == "");
  }
  CHECK(refusal(std::string(10'000'000, '"')) == "");
  CHECK(refusal(std::string(10'000'000, '/')) == "");
  for (const char* begin : {"#define TABLE ", "struct S  // ", "void f  // ", "struct S /* */ ", "int f "}) {
    INFO(begin);
    CHECK(refusal(begin + std::string(1'000'000, begin[0] == '#' ? '1' : ' ') + "\n{ int x; };") == "");
  }
}

TEST_CASE("exercise: a function that nvcc would not compile for a GPU") {
  struct Row {
    const char *code, *lacks;
  };
  const Row wrong[] = {
      {"float f(float x) { return x; }\n__global__ void k(float* x) { *x = f(*x); }", "line 1: f is called"},
      {"template <class T>\ninline T f(T x) { return x; }\n__device__ int g() { return f<int>(1); }",
       "line 2: f is called"},
      {"static float // f(\n__host__ f(float x) { return x; }\n__global__ void k() { f(1); }",
       "line 2: f is called"},
      {"struct F {\n  float operator()(float x) const { return x; }\n};\n__global__ void k() {}",
       "line 2: operator() is called"},
      {"struct S {\n  float sum() const { return 0; }\n};\n__global__ void k(S s) { s.sum(); }",
       "line 2: sum is called"},
      {"namespace DEVICE {\n__device__ void k(int) {}\nvoid run() { launch(k, 1, 1, 2); }\n}",
       "line 2: k is launched and has no __global__"},
      {"template <int N>\nvoid k() {}\nvoid run() { launch_shared(k<4>, 1, 1, 2); }",
       "line 2: k is launched"},
  };
  for (const auto& [code, lacks] : wrong) {
    INFO(code);
    CHECK_THAT(refusal(code), ContainsSubstring(lacks));
  }
  for (const char* right :
       {"__device__ float f(float);\nfloat f(float x) { return x; }\n__global__ void k() { f(1); }",
        "constexpr int f() { return 1; }\n__global__ void k() { const int n = f(); }",
        "#define HD __host__ __device__\nHD float f() { return 1; }\n__global__ void k() { f(); }",
        "#define device __device__\ndevice float f() { return 1; }\n__global__ void k() { f(); }",
        "struct S {\n  S(int n) : n(n) {}\n  int n;\n};\n__global__ void k(S s) { S(1); }",
        "int blocks(int n) { return n; }\n__global__ void k() {}\nvoid run() { launch(k, blocks(1), 1); }",
        "float load() { return 1; }\n__global__ void k(V v) { v.load(); V::load(); v->load(); }",
        "__global__ void k() { auto f = [](float x) { return x; };\n f(1); }",
        "__global__ void __launch_bounds__(256) k() {}\nvoid run() { launch(k, 1, 1); }"}) {
    INFO(right);
    CHECK(refusal(right) == "");
  }
}

}  // namespace test_run_exercise

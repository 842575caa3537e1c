// Chapter 04 on the CPU device: every stage right at hostile shapes, alignments and values, and counting what
// its formula says.
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/layernorm_values.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "kernels/layernorm.hpp"

namespace cpu::relu_layernorm {
workbook::Chapter chapter();
}

namespace test_relu_layernorm {
namespace {

using namespace workbook;

const Chapter kChapter = cpu::relu_layernorm::chapter();

/// The result of every stage that computes `output`.
void check_values(void (*fill)(const Data&), const char* output, const std::vector<Shape>& shapes) {
  Chapter chapter = kChapter;
  chapter.fill = fill;
  chapter.has_exact_inputs = nullptr;
  const auto backend = make_cpu_backend();
  for (const Shape& shape : shapes) {
    Problem problem(chapter, shape, *backend);
    const auto computes_it = [&](const Stage& stage) { return names_of(stage.output) == output; };
    check_stages(chapter, problem, shape, computes_it, no_more);
  }
}

const std::vector<Shape> kRowShapes = {{{6, 16, 1}},   {{6, 33, 1}},    {{6, 512, 1}},
                                       {{6, 4096, 1}}, {{6, 20000, 1}}, {{6, 8195, 1}}};

using cpu::test_kernels::LayernormMistake;

/// The same stage, which is right on inputs that are not exact almost whatever it does.
Stage lenient(Stage stage) {
  stage.roundings = [](const Shape&) { return 1 << 20; };
  return stage;
}

template <LayernormMistake Mistake>
void run_layernorm(const Data& d) {
  cpu::test_kernels::layernorm(floats(d, "x"), floats(d, "weight"), floats(d, "bias"), floats(d, "y"),
                               d.shape.dims[0], d.shape.dims[1], Mistake);
}
template <LayernormMistake Mistake>
void run_layernorm_bfloat16(const Data& d) {
  const auto array = [&](const char* name) { return elements_named(d, name, Type::kBFloat16); };
  cpu::test_kernels::layernorm_bfloat16(array("x_bfloat16"), array("weight_bfloat16"), array("bias_bfloat16"),
                                        array("y_bfloat16"), d.shape.dims[0], d.shape.dims[1], Mistake);
}

/// The stage with another function, in one kernel.
Stage with_run(const std::string& name, void (*run)(const Data&)) {
  Stage stage = lenient(stage_named(kChapter, name));
  stage.run = run;
  stage.kernels = 1;
  return stage;
}

/// Whether the stage adds up columns, so that its sums are as long as there are rows.
bool reduces_columns(const Stage& stage) {
  return stage.against && std::string(stage.against) == "06_columns";
}
bool reduces_rows(const Stage& stage) { return !reduces_columns(stage); }

/// The lengths of the rows of the sweep.
std::set<int> sweep_columns() {
  std::set<int> all;
  for (const Shape& shape : kChapter.sweep) all.insert(shape.dims[1]);
  return all;
}

template <LayernormMistake... Mistakes>
void check_layernorms(int columns) {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{2, columns, 1}}, *backend);
  CHECK(problem.check(with_run("08_three_passes", run_layernorm<LayernormMistake::kNone>)).message == "");
  int number = 0;
  for (const auto wrong : {run_layernorm<Mistakes>...}) {
    INFO("columns = " << columns << ", mistake " << ++number);
    CHECK_THAT(problem.check(with_run("08_three_passes", wrong)).message,
               ContainsSubstring("on inputs whose sums are exact: y["));
  }
}

template <LayernormMistake... Mistakes>
void check_layernorms_bfloat16(int columns) {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{4, columns, 1}}, *backend);
  const auto with = [](void (*run)(const Data&)) { return with_run("14_bfloat16", run); };
  CHECK(problem.check(with(run_layernorm_bfloat16<LayernormMistake::kNone>)).message == "");
  int number = 0;
  for (const auto wrong : {run_layernorm_bfloat16<Mistakes>...}) {
    INFO("columns = " << columns << ", mistake " << ++number);
    CHECK_THAT(problem.check(with(wrong)).message,
               ContainsSubstring("on inputs whose sums are exact: y_bfloat16["));
  }
}

/// Leaves the last element of each row out.
template <const char* Name>
void run_without_last_column(const Data& d) {
  const int rows = d.shape.dims[0], columns = d.shape.dims[1];
  cpu::test_kernels::clear_elements(floats(d, "x"), columns - 1, columns, rows);
  stage_named(kChapter, Name).run(d);
}
/// Leaves the last element of each column out.
template <const char* Name>
void run_without_last_row(const Data& d) {
  const int rows = d.shape.dims[0], columns = d.shape.dims[1];
  cpu::test_kernels::clear_elements(floats(d, "x"), (rows - 1) * static_cast<long long>(columns), 1, columns);
  stage_named(kChapter, Name).run(d);
}

constexpr char kTree[] = "03_tree", kMeans[] = "05_means", kColumns[] = "06_columns",
               kSquares[] = "06_squares";

}  // namespace

TEST_CASE("04: a mistake of one element, of one division or of epsilon shows at every length of the sweep") {
  using enum LayernormMistake;
  REQUIRE(*sweep_columns().rbegin() == 1 << 20);
  for (const int columns : sweep_columns())
    check_layernorms<kDividesByOneLess, kLastNotInMean, kLastNotInSquares, kLastFourNotCounted, kNoEpsilon>(
        columns);
}

TEST_CASE("04: the mean of squares less the square of the mean shows, but for rows of 2^20") {
  for (const int columns : sweep_columns())
    if (columns < 1 << 20) check_layernorms<LayernormMistake::kMeanOfSquares>(columns);
}

TEST_CASE("04: ... and after the result is rounded to bfloat16, at the lengths that are run in it") {
  using enum LayernormMistake;
  for (const int columns : sweep_columns())
    if (columns <= 1 << 14)
      check_layernorms_bfloat16<kDividesByOneLess, kLastNotInMean, kLastNotInSquares>(columns);
}

TEST_CASE("04: a term that is left out of a sum shows at every shape of the sweep") {
  const auto backend = make_cpu_backend();
  const auto check = [&](const Shape& shape, const char* name, void (*wrong)(const Data&)) {
    Problem problem(kChapter, shape, *backend);
    Stage stage = lenient(stage_named(kChapter, name));
    stage.run = wrong;
    stage.kernels = kAnyNumber;
    INFO(name << ", " << shape.dims[0] << " x " << shape.dims[1]);
    CHECK_THAT(problem.check(stage).message, ContainsSubstring("on inputs whose sums are exact: "));
  };
  for (const Shape& shape : kChapter.sweep) {
    const int rows = shape.dims[0], columns = shape.dims[1];
    check({{2, columns, 1}}, kTree, run_without_last_column<kTree>);
    check({{2, columns, 1}}, kMeans, run_without_last_column<kMeans>);
    check({{rows, 4, 1}}, kColumns, run_without_last_row<kColumns>);
    check({{rows, 4, 1}}, kSquares, run_without_last_row<kSquares>);
  }
}

TEST_CASE("04: every stage is right at every length of the sweep") {
  const auto backend = make_cpu_backend();
  for (const int columns : sweep_columns()) {
    const Shape shape = {{columns <= 2048 ? 8 : 2, columns, 1}};
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, reduces_rows, no_more);
  }
  for (const Shape& of_sweep : kChapter.sweep) {
    const Shape shape = {{of_sweep.dims[0], 4, 1}};
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, reduces_columns, no_more);
  }
}

TEST_CASE("04: every stage is right, and moves what its formula says, at hostile shapes") {
  const auto backend = make_cpu_backend();
  const auto check = [&](bool (*wanted)(const Stage&), const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
      Problem problem(kChapter, shape, *backend);
      check_stages(kChapter, problem, shape, wanted, [&](const Stage& stage, const StageResult& result) {
        if (!result.counts.approximate) check_traffic(kChapter, stage, result, shape);
      });
    }
  };
  check(every_stage, {{{1, 1, 1}},
                      {{3, 5, 1}},
                      {{7, 31, 1}},
                      {{33, 127, 1}},
                      {{1, 256, 1}},
                      {{255, 32, 1}},
                      {{259, 3, 1}},
                      {{5, 1023, 1}},
                      {{2, 4097, 1}},
                      {{3, 8192, 1}},
                      {{9, 1000, 1}},
                      {{2, 20000, 1}}});
  // Long sums. More of them differ only in the number of blocks.
  check(reduces_rows, {{{1, 65536, 1}}, {{1, 65537, 1}}, {{2, 70000, 1}}, {{1, 262147, 1}}});
  check(reduces_columns, {{{1023, 3, 1}}, {{20000, 2, 1}}, {{65537, 1, 1}}});
  // More rows than there are persistent blocks on a GPU of 132 multiprocessors.
  check([](const Stage& stage) { return std::string(stage.name) == "13_persistent"; }, {{{1061, 33, 1}}});
}

TEST_CASE("04: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int columns : {1, 4, 31, 64, 515, 2048})
    for (std::size_t x = 0; x < 16; x += 4)
      for (std::size_t y = 0; y < 16; y += 4) {
        const Shape shape = {{2, columns, 1}};
        Problem problem(kChapter, shape, *backend,
                        {{"x", x},
                         {"weight", y},
                         {"bias", x},
                         {"y", y},
                         {"y_last", y},
                         {"y_plain", y},
                         {"squares", x},
                         {"means", x},
                         {"column_squares", y},
                         {"x_float16", x},
                         {"y_float16", y},
                         {"x_bfloat16", y / 2},
                         {"y_bfloat16", x / 2}});
        INFO("offsets " << x << " " << y);
        check_stages(kChapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("04: the variance of a row far from 0 is right") {
  check_values(fill_far, "y", kRowShapes);
  check_values(fill_far, "y_plain", kRowShapes);
  check_values(fill_far, "y_last", kRowShapes);
}

TEST_CASE("04: constant rows, rows without a positive number, infinities and NaN") {
  check_values(fill_odd, "y", kRowShapes);
  check_values(fill_odd, "y_plain", kRowShapes);
  check_values(fill_odd, "y_last", kRowShapes);
}

TEST_CASE("04: the tree of stage 2 has bank conflicts, the others have none") {
  const auto backend = make_cpu_backend();
  Problem problem(kChapter, {{16, 1024, 1}}, *backend);
  for (int i = 0; i < 4; ++i) {
    const Counts counts = problem.check(kChapter.stages[i]).counts;
    const long long waves = counts.shared_load_wavefronts + counts.shared_store_wavefronts;
    INFO(kChapter.stages[i].name);
    if (i == 1) {
      // For each of 16 rows: 8 warps store their sums and at last load one. In the steps between, which have
      // two loads and a store, 4 warps add, then 2, then 1; the lanes that meet in a bank are 8 at most.
      CHECK(counts.shared_requests == 16 * (8 + 8 + 3 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1)));
      CHECK(waves == 16 * (8 + 8 + 3 * (4 * 2 + 2 * 4 + 8 + 8 + 8 + 4 + 2 + 1)));
    } else {
      CHECK(waves == counts.shared_requests);
    }
  }
}

TEST_CASE("04: counts equal the H200's counters at 2048 x 512") {
  // Where one thread alone uses the sum of its block, nvcc lets one warp alone read it.
  check_counters(kChapter, {{2048, 512, 1}}, {}, {"02_conflicts", "03_tree", "07_unfused"});
}

}  // namespace test_relu_layernorm

// Chapter 02 on the CPU device: every stage right at hostile sizes, alignments and values, and counting what
// its formula says.
#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"

namespace cpu::add_mul_exp {
workbook::Chapter chapter();
}

namespace test_add_mul_exp {
namespace {

using namespace workbook;

const Chapter kChapter = cpu::add_mul_exp::chapter();

/// Fills all inputs with values at which exp overflows, vanishes, or has nothing to compute.
void fill_special(const Data& host) {
  const float values[] = {0.0f,    -0.0f,    44.0f,     45.0f, -60.0f, 300.0f,
                          -300.0f, INFINITY, -INFINITY, NAN,   5.0f,   6.0f};
  constexpr int kValues = sizeof values / sizeof values[0];
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    floats(host, "x")[i] = values[i % kValues];
    floats(host, "y")[i] = values[i / kValues % kValues];
  }
}

}  // namespace

TEST_CASE("02: every stage is right, and moves what its formula says, at hostile sizes") {
  const auto backend = make_cpu_backend();
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 255, 256, 257, 1023, 999983}) {
    const Shape shape = {{n, 1, 1}};
    Problem problem(kChapter, shape, *backend);
    check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
      check_traffic(kChapter, stage, result, shape);
    });
  }
}

TEST_CASE("02: a sum without its last term is noticed at every size of the sweep up to 2^24") {
  const auto backend = make_cpu_backend();
  static const Stage kSum = stage_named(kChapter, "09_sum");
  Stage shortened = kSum;
  shortened.run = [](const Data& d) {
    Data fewer = d;
    --fewer.shape.dims[0];
    kSum.run(fewer);
  };
  shortened.roundings = [](const Shape&) { return 1 << 20; };  // right on the other inputs
  for (const Shape& shape : kChapter.sweep) {
    if (shape.dims[0] > 1 << 24) continue;
    INFO("n = " << shape.dims[0]);
    Problem problem(kChapter, shape, *backend);
    CHECK(problem.check(kSum).message == "");
    CHECK_THAT(problem.check(shortened).message,
               ContainsSubstring("on inputs whose sums are exact: sum[0] is"));
  }
}

TEST_CASE("02: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int n : {1, 3, 7, 8, 9, 33, 1023, 4099})
    for (std::size_t x = 0; x < 16; x += 2)
      for (std::size_t y = 0; y < 16; y += 2)
        for (const std::size_t out : {x, y, std::size_t{6}}) {
          // Multiples of 2 for the halves; the floats are offset by twice as much.
          const Shape shape = {{n, 1, 1}};
          Problem problem(kChapter, shape, *backend,
                          {{"x_float16", x},
                           {"y_float16", y},
                           {"out_float16", out},
                           {"x_bfloat16", x},
                           {"y_bfloat16", y},
                           {"out_bfloat16", out},
                           {"x", 2 * x},
                           {"y", 2 * y},
                           {"out", 2 * out}});
          INFO("offsets " << x << " " << y << " " << out);
          check_stages(kChapter, problem, shape, every_stage, no_more);
        }
}

TEST_CASE("02: overflow, underflow, infinities and NaN are exp's") {
  Chapter special = kChapter;
  special.fill = fill_special;
  special.has_exact_inputs = nullptr;
  const auto backend = make_cpu_backend();
  const Shape shape = {{144, 1, 1}};
  Problem problem(special, shape, *backend);
  const auto computes_out = [](const Stage& stage) { return names_of(stage.output) == "out"; };
  check_stages(special, problem, shape, computes_out, no_more);
}

TEST_CASE("02: counts equal the H200's counters at n = 2^20") { check_counters(kChapter, {{1 << 20, 1, 1}}); }

TEST_CASE("02: wide stages make a quarter and an eighth of the requests") {
  const auto backend = make_cpu_backend();
  constexpr int n = 1 << 16;
  const Shape shape = {{n, 1, 1}};
  Problem problem(kChapter, shape, *backend);
  check_stages(kChapter, problem, shape, every_stage, [&](const Stage& stage, const StageResult& result) {
    const Counts& counts = result.counts;
    const std::string name = stage.name;
    if (name == "02_fused") CHECK(counts.load_requests == 2 * n / 32);
    if (name == "04_float4" || name == "05_chain" || name == "06_in_flight")
      CHECK(counts.load_requests == 2 * n / 128);
    if (name == "07_float16" || name == "07_bfloat16") CHECK(counts.load_requests == 2 * n / 256);
  });
}

}  // namespace test_add_mul_exp

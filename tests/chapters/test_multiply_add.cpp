// Chapter 01 on the CPU device: every stage right at hostile sizes and alignments, and counting what its
// formula says.
#include <string>

#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"

namespace cpu::multiply_add {
workbook::Chapter chapter();
}

namespace test_multiply_add {
namespace {

using namespace workbook;

const Chapter kMultiplyAdd = cpu::multiply_add::chapter();

}  // namespace

TEST_CASE("01: every stage is right, and moves what its formula says, at hostile sizes") {
  const auto backend = make_cpu_backend();
  // Sizes at which tails, partial warps and partial blocks show; the last is a prime.
  for (const int n : {1, 2, 3, 4, 5, 31, 32, 33, 127, 255, 256, 257, 1023, 999983}) {
    const Shape shape = {{n, 1, 1}};
    Problem problem(kMultiplyAdd, shape, *backend);
    check_stages(kMultiplyAdd, problem, shape, every_stage,
                 [&](const Stage& stage, const StageResult& result) {
                   check_traffic(kMultiplyAdd, stage, result, shape);
                 });
  }
}

TEST_CASE("01: a sum without its last term is noticed at every size of the sweep up to 2^24") {
  const auto backend = make_cpu_backend();
  Stage shortened = kMultiplyAdd.stages[4];
  REQUIRE(std::string(shortened.name) == "05_reduced");
  shortened.run = [](const Data& d) {
    Data fewer = d;
    --fewer.shape.dims[0];
    kMultiplyAdd.stages[4].run(fewer);
  };
  shortened.roundings = [](const Shape&) { return 1 << 20; };  // right on the other inputs
  for (const Shape& shape : kMultiplyAdd.sweep) {
    if (shape.dims[0] > 1 << 24) continue;
    INFO("n = " << shape.dims[0]);
    Problem problem(kMultiplyAdd, shape, *backend);
    CHECK(problem.check(kMultiplyAdd.stages[4]).message == "");
    CHECK_THAT(problem.check(shortened).message,
               ContainsSubstring("on inputs whose sums are exact: sum[0] is"));
  }
}

TEST_CASE("01: every stage is right at every alignment") {
  const auto backend = make_cpu_backend();
  for (const int n : {1, 3, 4, 7, 33, 1023, 4099})
    for (std::size_t q = 0; q < 16; q += 4)
      for (std::size_t k = 0; k < 16; k += 4)
        for (const auto& pair : {std::pair<std::size_t, std::size_t>{q, q}, {q, k}, {k, q}, {8, 4}}) {
          const std::size_t v = pair.first, out = pair.second;
          const Shape shape = {{n, 1, 1}};
          Problem problem(kMultiplyAdd, shape, *backend, {{"q", q}, {"k", k}, {"v", v}, {"out", out}});
          INFO("offsets " << q << " " << k << " " << v << " " << out);
          check_stages(kMultiplyAdd, problem, shape, every_stage, no_more);
        }
}

TEST_CASE("01: float4 stages make a quarter of the requests, whenever the arrays are aligned alike") {
  const auto backend = make_cpu_backend();
  constexpr int n = 1 << 16;
  for (const std::size_t offset : {0, 4, 8, 12}) {
    Problem problem(kMultiplyAdd, {{n, 1, 1}}, *backend,
                    {{"q", offset}, {"k", offset}, {"v", offset}, {"out", offset}});
    for (const int stage : {2, 3}) {
      const Counts counts = problem.check(kMultiplyAdd.stages[stage]).counts;
      const int singles = offset == 0 ? 0 : 3;  // one request per array for the elements outside the vectors
      CHECK(counts.load_requests <= 3 * (n / 128 + singles));
      CHECK(counts.store_requests <= n / 128 + singles);
    }
  }
}

TEST_CASE("01: counts equal the H200's counters at n = 2^20") {
  check_counters(kMultiplyAdd, {{1 << 20, 1, 1}});
}

}  // namespace test_multiply_add

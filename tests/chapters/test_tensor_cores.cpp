// Chapter 06 on the CPU device: every stage right at hostile shapes and alignments, and counting what its
// formula says where rows begin at sectors. The stages for a GPU alone are in test_gpu_tensor_cores.cpp.
#include <set>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/stage_counters.hpp"
#include "harness/problem.hpp"
#include "kernels/judged.hpp"

namespace cpu::tensor_cores {
workbook::Chapter chapter();
}

namespace test_tensor_cores {
namespace {

using namespace workbook;

const Chapter kChapter = cpu::tensor_cores::chapter();

const Stage kWmma = stage_named(kChapter, "01_wmma");

/// Computes the product without its last term.
void run_without_last_term(const Data& d) {
  cpu::test_kernels::clear_last_column(elements_named(d, "x_bfloat16", Type::kBFloat16), d.shape.dims[0],
                                       d.shape.dims[1]);
  kWmma.run(d);
}

}  // namespace

TEST_CASE("06: a rounding too many and a term too few show at every k of the sweep") {
  Stage rounded = stage_named(kChapter, "01_then_finish");  // rounds the product to bfloat16
  rounded.roundings = [](const Shape&) {
    return 1 << 20;
  };  // right on the other inputs, almost whatever it does
  rounded.exact_roundings = kWmma.exact_roundings;
  Stage shortened = rounded;
  shortened.run = run_without_last_term;
  const auto backend = make_cpu_backend();
  std::set<int> all_k;
  for (const Shape& shape : kChapter.sweep) all_k.insert(shape.dims[1]);
  REQUIRE(*all_k.rbegin() == 8192);
  for (const int k : all_k) {
    INFO("k = " << k);
    Problem problem(kChapter, {{16, k, 32}}, *backend);
    CHECK(problem.check(kWmma).message == "");
    for (const Stage& wrong : {rounded, shortened})
      CHECK_THAT(problem.check(wrong).message,
                 ContainsSubstring("on inputs whose sums are exact: y_bfloat16["));
  }
}

TEST_CASE("06: every stage is right at hostile shapes") {
  const Shape shapes[] = {{{1, 1, 1}},   {{1, 37, 5}},     {{5, 3, 1}},    {{33, 17, 31}},
                          {{31, 1, 65}}, {{130, 18, 129}}, {{129, 33, 2}}, {{2, 52, 260}}};
  for (const Shape& shape : shapes) check_at(kChapter, shape, {}, no_more);
}

TEST_CASE("06: every stage moves what its formula says, where rows begin at sectors") {
  const Shape shapes[] = {{{32, 32, 32}},  {{128, 16, 128}}, {{1, 8, 8}},     {{40, 24, 136}},
                          {{136, 40, 72}}, {{129, 8, 8}},    {{128, 48, 256}}};
  for (const Shape& shape : shapes)
    check_at(kChapter, shape, {}, [&](const Stage& stage, const StageResult& result) {
      const bool of_16_bits = names_of(stage.output).find("bfloat16") != std::string::npos;
      if (of_16_bits && (shape.dims[1] % 16 != 0 || shape.dims[2] % 16 != 0)) return;
      CHECK_FALSE(result.counts.approximate);
      check_traffic(kChapter, stage, result, shape);
    });
}

TEST_CASE("06: every stage is right at every alignment") {
  for (const int k : {4, 13, 16})
    for (const std::size_t x : {0, 4, 8})
      for (const std::size_t w : {0, 4, 12})
        for (const std::size_t y : {0, 4})
          check_at(kChapter, {{9, k, 12}}, {{"x", x}, {"w", w}, {"bias", y}, {"y_tf32", y}}, no_more);
}

TEST_CASE("06: counts equal the H200's counters at 256 x 64 x 256") {
  check_counters(kChapter, {{256, 64, 256}});
}

}  // namespace test_tensor_cores

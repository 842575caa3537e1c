// The stages of chapters 00 to 06 and 08 on a GPU. Without one every test here is reported as skipped, with
// the reason.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "catch.hpp"
#include "chapters/attention_values.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/layernorm_values.hpp"
#include "chapters/quantize_values.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/problem.hpp"
#include "kernels/occupant.hpp"

// chapters.inc has a line CHAPTER(name) for each of them.
#define CHAPTER(name)          \
  namespace gpu::name {        \
  workbook::Chapter chapter(); \
  }
#include "chapters.inc"
#undef CHAPTER

namespace {

using namespace workbook;

using Pair = std::pair<std::size_t, std::size_t>;

/// Checks the stages that are `wanted`; `offsets` are bytes by which arrays are off a multiple of 256.
void check_at(GpuBackend& gpu, const Chapter& chapter, const Shape& shape, const Offsets& offsets = {},
              bool (*wanted)(const Stage&) = every_stage) {
  std::string begins;
  for (const auto& [array, bytes] : offsets) begins += fmt::format("{} begins at {}\n", array, bytes);
  INFO(begins);
  Problem problem(chapter, shape, gpu, offsets);
  check_stages(chapter, problem, shape, wanted, no_more);
}

Chapter with_fill(Chapter chapter, void (*fill)(const Data&)) {
  chapter.fill = fill;
  chapter.has_exact_inputs = nullptr;
  return chapter;
}

bool normalises(const Stage& stage) { return stage.output.items[0]->name[0] == 'y'; }
bool in_bfloat16(const Stage& stage) { return names_of(stage.output).find("bfloat16") != std::string::npos; }
/// cuBLASLt wants aligned matrices.
bool is_ours(const Stage& stage) { return std::string(stage.idea).rfind("library", 0) != 0; }
/// The TMA wants multiples of 16 bytes.
bool without_tma(const Stage& stage) { return stage.capability < 90; }

const Shape kRows[] = {{{1, 1, 1}},    {{3, 5, 1}},     {{7, 31, 1}},    {{33, 127, 1}},  {{5, 1023, 1}},
                       {{2, 4097, 1}}, {{2, 20000, 1}}, {{1, 65536, 1}}, {{2, 70000, 1}}, {{1, 999983, 1}}};
const Shape kProducts[] = {{{1, 1, 1}},      {{1, 37, 5}},     {{33, 17, 31}},    {{130, 18, 129}},
                           {{129, 1000, 2}}, {{5, 512, 1027}}, {{300, 256, 260}}, {{256, 80, 384}}};

}  // namespace

TEST_CASE("gpu: 00 to 02: every stage is right at hostile sizes") {
  const auto gpu = gpu_or_skip();
  const Chapter chapters[] = {gpu::first_kernel::chapter(), gpu::multiply_add::chapter(),
                              gpu::add_mul_exp::chapter()};
  for (const Chapter& chapter : chapters)
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 255, 256, 257, 1023, 2049, 999983, 4000037})
      check_at(*gpu, chapter, {{n, 1, 1}});
}

TEST_CASE("gpu: 01: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  for (const int n : {1, 3, 4, 7, 33, 1023, 4099})
    for (std::size_t q = 0; q < 16; q += 4)
      for (std::size_t k = 0; k < 16; k += 4)
        for (const auto& [v, out] : {Pair{q, q}, {q, k}, {k, q}, {8, 4}})
          check_at(*gpu, gpu::multiply_add::chapter(), {{n, 1, 1}},
                   {{"q", q}, {"k", k}, {"v", v}, {"out", out}});
}

TEST_CASE("gpu: 02: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  for (const int n : {1, 7, 9, 1023, 4099})
    for (std::size_t x = 0; x < 16; x += 2)
      for (const std::size_t y : {x, std::size_t{0}, std::size_t{6}})
        check_at(*gpu, gpu::add_mul_exp::chapter(), {{n, 1, 1}},
                 {{"x_float16", x},
                  {"y_float16", y},
                  {"out_float16", x},
                  {"x_bfloat16", x},
                  {"y_bfloat16", y},
                  {"out_bfloat16", y},
                  {"x", 2 * x},
                  {"y", 2 * y},
                  {"out", 2 * x}});
}

TEST_CASE("gpu: 03: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  const Chapter chapter = gpu::quantize_int8::chapter();
  for (const auto& [x, q] : {Pair{0, 0}, {4, 1}, {12, 3}, {4, 0}, {8, 2}}) {
    const Offsets offsets = {{"x", x}, {"q", q}, {"q_rows", q}};
    for (const Shape& shape : kRows) check_at(*gpu, chapter, shape, offsets);
    for (const Shape& shape : {Shape{{3, 8192, 1}}, Shape{{9, 1000, 1}}})
      check_at(*gpu, chapter, shape, offsets);
  }
}

TEST_CASE("gpu: 03: every stage is right at ties, next to them, and at what is no number") {
  const auto gpu = gpu_or_skip();
  for (const auto fill : {fill_special, fill_near_ties})
    for (const Shape& shape : {Shape{{4096, 1024, 1}}, Shape{{999, 255, 1}}, Shape{{32, 40000, 1}}})
      check_at(*gpu, with_fill(gpu::quantize_int8::chapter(), fill), shape);
}

TEST_CASE("gpu: 04: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  const Chapter chapter = gpu::relu_layernorm::chapter();
  for (const auto& [x, y] : {Pair{0, 0}, {4, 12}, {12, 4}, {0, 8}}) {
    const Offsets offsets = {{"x", x}, {"y", y}, {"y_last", y}, {"y_plain", x}, {"weight", y}};
    for (const Shape& shape : kRows) check_at(*gpu, chapter, shape, offsets);
    check_at(*gpu, chapter, {{1023, 3, 1}}, offsets);
  }
}

TEST_CASE("gpu: 04: rows far from 0, constant ones, infinities and NaN") {
  const auto gpu = gpu_or_skip();
  for (const auto fill : {fill_far, fill_odd})
    for (const int columns : {33, 512, 4096, 20000})
      check_at(*gpu, with_fill(gpu::relu_layernorm::chapter(), fill), {{6, columns, 1}}, {}, normalises);
}

TEST_CASE("gpu: 05 and 06: every stage is right at hostile shapes and alignments") {
  const auto gpu = gpu_or_skip();
  for (const Shape& shape : kProducts)
    for (const std::size_t offset : {0, 4, 12}) {
      const auto wanted = offset == 0 ? every_stage : is_ours;
      check_at(*gpu, gpu::linear_gelu::chapter(), shape,
               {{"x", offset}, {"w", 12 - offset}, {"product", offset}, {"y", 4}}, wanted);
      check_at(*gpu, gpu::tensor_cores::chapter(), shape, {{"x", offset}, {"w", 12 - offset}, {"y_tf32", 4}},
               wanted);
    }
}

TEST_CASE("gpu: 06: the stages in bfloat16 are right where tiles are ragged, and blocks have several") {
  const auto gpu = gpu_or_skip();
  // The last two: on an H200, the last wave's 67 pairs, then 40, are divided among all clusters.
  for (const Shape& shape : {Shape{{1, 8, 8}}, Shape{{130, 72, 264}}, Shape{{300, 200, 520}},
                             Shape{{129, 4096, 16}}, Shape{{2100, 136, 2056}}, Shape{{4200, 64, 3000}},
                             Shape{{17000, 1544, 248}}, Shape{{13528, 3272, 504}}})
    check_at(*gpu, gpu::tensor_cores::chapter(), shape, {}, in_bfloat16);
}

TEST_CASE("gpu: 06: stream-K ends though another kernel keeps half of the GPU", "[alone]") {
  const auto gpu = gpu_or_skip();
  const Chapter chapter = gpu::tensor_cores::chapter();
  Problem problem(chapter, {{13528, 3272, 504}}, *gpu);
  const auto check_stream_k = [&](bool half_of_it) {
    const StageResult result = problem.check(stage_named(chapter, "10_stream_k"));
    INFO((half_of_it ? "beside another kernel" : "alone"));
    CHECK((result.message == "" || result.status == Status::kSkipped));
  };
  check_stream_k(false);
  gpu::test_kernels::Occupant occupant(66);  // half of an H200
  check_stream_k(true);
  CHECK(occupant.stop());
}

TEST_CASE("gpu: 08: every stage is right at hostile shapes") {
  const auto gpu = gpu_or_skip();
  for (const Shape& shape : kHostileShapes) check_at(*gpu, gpu::attention::chapter(), shape);
}

TEST_CASE("gpu: 08: every stage is right with many blocks, and with many keys") {
  const auto gpu = gpu_or_skip();
  for (const Shape& shape : {Shape{{64, 64, 300, 520, 64}}, Shape{{32, 8, 1, 20000, 128}}})
    check_at(*gpu, gpu::attention::chapter(), shape);
}

TEST_CASE("gpu: 08: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  for (const int d : {8, 12, 13})
    for (const std::size_t q : {0, 4, 8})
      for (const std::size_t k : {0, 4, 12})
        check_at(*gpu, gpu::attention::chapter(), {{2, 1, 9, 20, d}}, attention_offsets(q, k),
                 q + k == 0 ? every_stage : without_tma);
}

TEST_CASE("gpu: 08: equal weights, scores around 10000, a new maximum in each tile, and a NaN") {
  const auto gpu = gpu_or_skip();
  for (const auto fill : {fill_equal_keys<gpu::attention::chapter>, fill_large<gpu::attention::chapter>,
                          fill_growing<gpu::attention::chapter>, fill_steep<gpu::attention::chapter>,
                          fill_nan<gpu::attention::chapter>})
    for (const Shape& shape :
         {Shape{{2, 1, 70, 300, 64}}, Shape{{1, 1, 5, 1, 16}}, Shape{{2, 1, 200, 600, 128}}})
      check_at(*gpu, with_fill(gpu::attention::chapter(), fill), shape);
}

// The stages of chapter 08 that need a GPU, on the CPU device: their instructions are put together from
// shuffles. It sees whether lanes have the right elements and whether barriers and waits are enough.
#include "catch.hpp"
#include "chapters/attention_values.hpp"
#include "chapters/check_stages.hpp"
#include "harness/problem.hpp"

namespace cpu::emulated::attention {
workbook::Chapter chapter();
}

namespace test_emulated_attention {
namespace {

using namespace workbook;

const Chapter kEmulated = cpu::emulated::attention::chapter();

}  // namespace

TEST_CASE("08, emulated: the stages by mma.sync are right at hostile shapes") {
  for (const Shape& shape :
       {Shape{{1, 1, 1, 1, 1}}, Shape{{3, 1, 65, 130, 40}}, Shape{{1, 1, 7, 300, 128}},
        Shape{{2, 1, 130, 5, 33}}, Shape{{5, 3, 1, 257, 3}}, Shape{{1, 2, 66, 31, 17}},
        Shape{{1, 1, 1, 1030, 4}}, Shape{{1, 1, 100, 140, 66}}, Shape{{1, 1, 40, 600, 8}}})
    check_at(kEmulated, shape, {}, no_more);
}

TEST_CASE("08, emulated: the stages by mma.sync are right where sums are rescaled") {
  Chapter chapter = kEmulated;
  chapter.fill = fill_steep<cpu::emulated::attention::chapter>;
  chapter.has_exact_inputs = nullptr;
  check_at(chapter, {{1, 1, 70, 300, 64}}, {}, no_more);
}

TEST_CASE("08, emulated: the stages by mma.sync move what their formulas say") {
  for (const Shape& shape : {Shape{{2, 1, 200, 144, 64}}, Shape{{1, 1, 72, 200, 128}}})
    check_at(kEmulated, shape, {}, [&](const Stage& stage, const StageResult& result) {
      check_traffic(kEmulated, stage, result, shape);
    });
}

TEST_CASE("08, emulated: the stages by mma.sync are right at every alignment") {
  for (const int d : {8, 13})
    for (const std::size_t offset : {4, 8})
      check_at(kEmulated, {{2, 1, 9, 20, d}}, attention_offsets(offset, 0), no_more);
}

}  // namespace test_emulated_attention

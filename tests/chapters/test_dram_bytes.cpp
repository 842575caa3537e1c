// The bytes that rates in GB/s and ceilings count, of the stages of all chapters.
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "harness/problem.hpp"

// chapters.inc has a line CHAPTER(name) for each of them.
#define CHAPTER(name)          \
  namespace cpu::name {        \
  workbook::Chapter chapter(); \
  }
#include "chapters.inc"
#undef CHAPTER

namespace test_dram_bytes {
namespace {

/// The chapter's shape for the CPU device with less of what repeats, such as rows: that halves or quarters a
/// run, and each ratio of bytes stays as it is.
workbook::Shape smaller_shape(const workbook::Chapter& chapter) {
  workbook::Shape shape = chapter.cpu_shape;
  const std::string_view dims = chapter.dims;
  if (dims == "RxC") shape.dims[0] /= 8;
  if (dims == "MxKxN") shape.dims[0] /= 2, shape.dims[2] /= 2;
  return shape;
}

}  // namespace

TEST_CASE("dram: rates and ceilings count the bytes that a cold cache fetches, and that must reach DRAM") {
  const std::vector<workbook::Chapter> chapters = {
#define CHAPTER(name) cpu::name::chapter(),
#include "chapters.inc"
#undef CHAPTER
  };
  const auto backend = workbook::make_cpu_backend();
  for (const workbook::Chapter& chapter : chapters) {
    if (chapter.gpus) continue;  // NVLink limits those stages, and their rates are its bytes
    const workbook::Shape shape = smaller_shape(chapter);
    workbook::Problem problem(chapter, shape, *backend);
    for (const workbook::Stage& stage : chapter.stages) {
      const workbook::Counts counts = problem.run_once(stage);
      if (counts.kernels == 0) continue;  // it needs another device
      INFO(chapter.name << " " << stage.name);
      const auto dram = static_cast<double>(dram_traffic(chapter, stage, shape).memory_bytes());
      const auto counted = static_cast<double>(counts.compulsory_read_bytes + counts.compulsory_write_bytes);
      // More by up to 5 %: what the kernels of a stage leave for each other, one float per row or block,
      // takes a sector each. Less by up to 1 %: an atomic fetches what it adds to.
      CHECK(dram <= 1.05 * counted);
      CHECK(dram >= 0.99 * counted);
    }
  }
}

}  // namespace test_dram_bytes

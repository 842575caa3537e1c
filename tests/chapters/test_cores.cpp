// The stages of all chapters, with their blocks on several cores.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "catch.hpp"
#include "harness/problem.hpp"
#include "tests/cpu_device/on_cores.hpp"
#include "workbook.hpp"

// chapters.inc has a line CHAPTER(name) for each of them.
#define CHAPTER(name)          \
  namespace cpu::name {        \
  workbook::Chapter chapter(); \
  }
#include "chapters.inc"
#undef CHAPTER

namespace test_cores {
namespace {

std::vector<workbook::Chapter> chapters() {
  return {
#define CHAPTER(name) cpu::name::chapter(),
#include "chapters.inc"
#undef CHAPTER
  };
}

/// A small shape that no block size divides.
workbook::Shape ragged_shape(const workbook::Chapter& chapter) {
  const std::string_view dims = chapter.dims;
  if (dims == "N") return {{20003, 1, 1}};
  if (dims == "RxC") return {{33, 1001, 1}};
  if (dims == "MxKxN") return {{130, 32, 136}};
  if (dims == "GxRxC") return {{2, 5, 1000}};
  REQUIRE(dims == "HxGxQxKxD");
  return {{2, 1, 70, 90, 40}};
}

std::vector<Outcome> chapter_outcomes() {
  const auto backend = workbook::make_cpu_backend();
  std::vector<Outcome> outcomes;
  for (workbook::Chapter chapter : chapters()) {
    chapter.has_exact_inputs = nullptr;  // the errors of the others tell more, and one run is enough
    workbook::Problem problem(chapter, ragged_shape(chapter), *backend);
    for (const workbook::Stage& stage : chapter.stages) {
      const workbook::StageResult result = problem.check(stage);
      INFO(chapter.name << " " << stage.name << ": " << result.message);
      CHECK(result.status != workbook::Status::kWrong);
      outcomes.push_back({std::string(chapter.name) + "/" + stage.name, text(result.counts),
                          fmt::format("{}", result.error)});
    }
  }
  return outcomes;
}

}  // namespace

TEST_CASE("cores: counts and results of all chapters are those of one core") {
  check_all(chapter_outcomes, {3});
}

}  // namespace test_cores

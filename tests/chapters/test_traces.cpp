// What --trace stores, of the stages of all chapters at ragged shapes.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "chapters/ragged_shapes.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"

// chapters.inc has a line CHAPTER(name) for each of them.
#define CHAPTER(name)          \
  namespace cpu::name {        \
  workbook::Chapter chapter(); \
  }
#include "chapters.inc"
#undef CHAPTER

namespace test_traces {
namespace {

using namespace workbook;

/// Traces every stage that suits the shape, and checks that each request that it stores is one of an array.
void check_traces(const Chapter& chapter, const Shape& shape) {
  std::vector<LaunchCounts> launches;
  const auto backend = make_cpu_backend([&](const LaunchCounts& launch) { launches.push_back(launch); },
                                        Detail::kInstructions);
  Problem problem(chapter, shape, *backend);
  for (const Stage& stage : chapter.stages) {
    INFO(chapter.name << " " << stage.name << ", " << shape_text(shape, chapter.dims));
    launches.clear();
    problem.run_once(stage);
    if (launches.empty()) {
      CHECK(stage.needs != nullptr);  // another device or shape
      continue;
    }
    REQUIRE_FALSE(launches.front().requests.empty());
    for (const LaunchCounts& launch : launches)
      for (const TracedRequest& request : launch.requests) {
        CHECK(request.array != "");
        CHECK(std::ranges::max(request.offsets) >= 0);
      }
  }
}

}  // namespace

TEST_CASE("trace: every stage of every chapter, at ragged shapes") {
  const std::vector<Chapter> chapters = {
#define CHAPTER(name) cpu::name::chapter(),
#include "chapters.inc"
#undef CHAPTER
  };
  const int ragged[][3] = {{1, 64, 64}, {33, 7, 70}};
  for (const Chapter& chapter : chapters)
    for (const auto& sizes : ragged) check_traces(chapter, shape_of(chapter, sizes));
}

}  // namespace test_traces

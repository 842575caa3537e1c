// The lines of every stage of every chapter add up to the stage's table.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "chapters/ragged_shapes.hpp"
#include "harness/options.hpp"
#include "harness/problem.hpp"
#include "harness/tables/line_costs.hpp"
#include "tests/cpu_device/same_counts.hpp"

// chapters.inc has a line CHAPTER(name) for each of them.
#define CHAPTER(name)          \
  namespace cpu::name {        \
  workbook::Chapter chapter(); \
  }
#include "chapters.inc"
#undef CHAPTER

namespace test_lines {
namespace {

using namespace workbook;

/// Runs the stages that suit the shape with and without counts for each line.
void check_lines(const Chapter& chapter, const Shape& shape) {
  std::vector<LaunchCounts> launches;
  const auto plain = make_cpu_backend();
  const auto logging = make_cpu_backend([&](const LaunchCounts& launch) { launches.push_back(launch); },
                                        Detail::kInstructions);
  Problem problem(chapter, shape, *plain), logged(chapter, shape, *logging);
  for (const Stage& stage : chapter.stages) {
    INFO(chapter.name << " " << stage.name << ", " << shape_text(shape, chapter.dims));
    launches.clear();
    const Counts expected = problem.run_once(stage);
    logged.run_once(stage);
    Counts sum;
    for (const LineCounts& line : line_counts(launches)) {
      CHECK(line.line > 0);
      CHECK(line.file.find("cpu/") == std::string::npos);  // not the device's own
      sum += line.counts;
    }
    check_same_traffic(sum, expected);
    std::istringstream text(lines_text(launches));
    for (std::string line; std::getline(text, line);)
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }) < 80);
  }
}

}  // namespace

TEST_CASE("lines: every stage of every chapter, at ragged shapes") {
  const std::vector<Chapter> chapters = {
#define CHAPTER(name) cpu::name::chapter(),
#include "chapters.inc"
#undef CHAPTER
  };
  const int ragged[][3] = {{65, 64, 64}, {33, 7, 70}};
  for (const Chapter& chapter : chapters)
    for (const auto& sizes : ragged) check_lines(chapter, shape_of(chapter, sizes));
}

}  // namespace test_lines

// What --lines prints, and the data of a page.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "harness/tables/line_costs.hpp"
#include "harness/tables/line_page.hpp"

namespace test_lines {
namespace {

using namespace workbook;
using nlohmann::json;

SiteCounts site(int line, RequestKind kind, const Counts& counts) {
  SiteCounts one;
  one.file = "tests/common/harness/test_lines.cpp";
  one.line = line;
  one.kind = kind;
  one.array = "x";
  one.bytes = 4;
  one.counts = counts;
  return one;
}

/// A launch with a load in line 1, a load and a store in line 2, and a barrier in line 3.
LaunchCounts launch() {
  Counts load, store, barrier;
  load.load_requests = load.accesses = 1;
  load.load_sectors = 4;
  load.load_bytes = 128;
  store.store_requests = store.accesses = 2;
  store.store_sectors = 32;
  store.store_bytes = 128;
  store.approximate = true;
  barrier.barriers = 7;
  LaunchCounts all;
  all.kernel = "example";
  all.grid = all.block = {1, 1, 1};
  all.sites = {site(2, RequestKind::kStore, store), site(1, RequestKind::kLoad, load),
               site(2, RequestKind::kLoad, load), site(3, RequestKind::kBarrier, barrier)};
  return all;
}

json viewed(const View& view) { return json::parse(view_json(view)); }

/// The lines that the page marks for a finding with that text, as "file:line" with the file's number.
std::vector<std::string> marked(const std::string& finding) {
  const json data = viewed({"", "", "", "", {}, {finding}, {}});
  std::vector<std::string> places;
  for (const json& place : data["messages"][0]["places"])
    places.push_back(data["files"][place["file"].get<std::size_t>()]["name"].get<std::string>() + ":" +
                     std::to_string(place["line"].get<int>()));
  return places;
}

}  // namespace

TEST_CASE("lines: a line has the counts of its instructions, and its marks") {
  const std::vector<LineCounts> lines = line_counts({launch(), launch()});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].line == 1);
  CHECK(lines[0].counts.load_sectors == 8);
  CHECK_FALSE(lines[0].counts.approximate);
  CHECK(lines[1].counts.load_requests == 2);
  CHECK(lines[1].counts.store_sectors == 64);
  CHECK(lines[1].counts.approximate);
  CHECK(lines[2].counts.barriers == 14);
}

TEST_CASE("lines: the text has the lines of the source, counts, marks and sums") {
  const std::string text = lines_text({launch()});
  for (const char* part :
       {"example (tests/common/harness/test_lines.cpp)", "1            1        4  100%  // What --lines",
        "2           ≈3      ≈36   22%  #include <nlohmann/json.hpp>", "3     7 barriers: #include <string>",
        "sum         ≈4      ≈40   30%", "≈ an estimate"})
    CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("lines: a page's data names the lines of findings") {
  const std::string head = "race in shared memory: kernel k (a/b.cu:6)\n";
  CHECK(marked(head + "  thread (1,0,0) of block (0,0,0) writes s[1] at line 12\n"
                      "  thread (0,0,0) of block (0,0,0) reads s[1] at common/x.hpp:7\n"
                      "  look at: is a barrier missing at line 3?") ==
        std::vector<std::string>{"a/b.cu:12", "common/x.hpp:7"});
  CHECK(marked(head + "  x is read at or near line 9\n  look at: that") ==
        std::vector<std::string>{"a/b.cu:9"});
  CHECK(marked("launch refused: kernel k (a/b.cu:6)\n  too many threads\n  look at: the block") ==
        std::vector<std::string>{"a/b.cu:6"});
  CHECK(marked("there is not enough memory").empty());
  CHECK(marked("out of bounds: kernel k (/tmp/my kernel.cu:7)\n  x[9] is read") ==
        std::vector<std::string>{"/tmp/my kernel.cu:7"});
  CHECK(marked("race: kernel k<f()> (/my (new) files/a.cu:7)\n  x is read at /my (new) files/b.hpp:12\n"
               "  x is written at line 9, at or near c d.hpp:3, by (1,0,0)") ==
        std::vector<std::string>{"/my (new) files/b.hpp:12", "/my (new) files/a.cu:9", "c d.hpp:3"});
  CHECK(marked(head + "  x at line 99999999999 is read") == std::vector<std::string>{"a/b.cu:6"});
}

TEST_CASE("lines: of many launches, some are listed, and the others are added up by kernel") {
  std::vector<LaunchCounts> all(1000, launch());
  all[500].kernel = "another";
  all.back().ended_early = true;
  const json data = viewed({"", "", "", "", all, {}, {}});
  CHECK(data["launch_count"] == 1000);
  const json& launches = data["launches"];
  REQUIRE(launches.size() == 102);
  CHECK(launches[98]["number"] == 99);
  CHECK(launches[99]["number"] == 1000);
  CHECK(launches[99]["ended_early"] == true);
  CHECK(launches[100]["kernel"] == "another");
  CHECK(launches[100]["added_up"] == 1);
  CHECK(launches[101]["kernel"] == "example");
  CHECK(launches[101]["added_up"] == 899);
  CHECK(launches[101]["sites"].size() == 4);
  long long sectors = 0, barriers = 0;
  for (const json& one : launches)
    for (const json& its : one["sites"]) {
      sectors += its["counts"]["load_sectors"].get<long long>();
      barriers += its["counts"]["barriers"].get<long long>();
    }
  CHECK(sectors == 8 * 1000);
  CHECK(barriers == 7 * 1000);
  const json few = viewed({"", "", "", "", std::vector<LaunchCounts>(100, launch()), {}, {}});
  CHECK(few["launches"].size() == 100);
}

TEST_CASE("lines: requests beyond what a page holds are left out, and it says so") {
  LaunchCounts many = launch();
  WarpRequests warp;
  warp.executed = 100;
  TracedRequest request;
  request.offsets.assign(32, -1);
  warp.first.assign(kMostLoggedExecutions, request);
  many.warps.assign(100, warp);
  const auto kept = [](const json& data) {
    std::size_t all = 0;
    for (const json& launch_ : data["launches"])
      for (const json& one : launch_["warps"]) all += one["requests"].size();
    return all;
  };
  const json few = viewed({"", "", "", "", {many}, {}, {}});
  CHECK(kept(few) == 100 * kMostLoggedExecutions);
  CHECK(few["requests_left_out"] == false);
  const json cut = viewed({"", "", "", "", std::vector<LaunchCounts>(10, many), {}, {}});
  CHECK(kept(cut) == cut["most_requests"].get<std::size_t>());
  CHECK(cut["requests_left_out"] == true);
}

}  // namespace test_lines

// The texts of enums and counts in JSON and tables.
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "harness/backends/device_kind.hpp"
#include "harness/problem.hpp"
#include "harness/tables/derived_counts.hpp"
#include "judge/judge.hpp"

namespace test_texts {
using namespace workbook;

TEST_CASE("each enum has its text, and each text its enum") {
  CHECK(std::string(text_of(Status::kOk)) == "ok");
  CHECK(std::string(text_of(Status::kWrong)) == "wrong");
  CHECK(std::string(text_of(Status::kSkipped)) == "skipped");
  CHECK(device_kind_named("cpu") == DeviceKind::kCpu);
  CHECK(device_kind_named("gpu") == DeviceKind::kGpu);
  CHECK_FALSE(device_kind_named("auto"));
  CHECK_FALSE(device_kind_named(""));
  CHECK(verdict_status_named("running") == VerdictStatus::kRunning);
  CHECK(verdict_status_named("solved") == VerdictStatus::kSolved);
  CHECK(verdict_status_named("not yet") == VerdictStatus::kNotYet);
  CHECK_FALSE(verdict_status_named("Solved"));
}

TEST_CASE("bytes are those of whole sectors, and efficiency is the share of them that threads use") {
  Counts counts;
  CHECK(load_efficiency(counts) == std::nullopt);
  counts.load_sectors = 4;
  counts.load_bytes = 96;
  counts.store_sectors = 32;
  counts.store_bytes = 256;
  counts.shared_load_wavefronts = 3;
  counts.shared_store_wavefronts = 5;
  CHECK(read_bytes(counts) == 128);
  CHECK(written_bytes(counts) == 1024);
  CHECK(shared_wavefronts(counts) == 8);
  CHECK(load_efficiency(counts) == 0.75);
  CHECK(store_efficiency(counts) == 0.25);
}

TEST_CASE("counts in JSON are numbers, or null on a device that does not count") {
  Counts counts;
  counts.load_sectors = 4;
  counts.contended = true;
  const nlohmann::ordered_json counted = counts_json(&counts), unknown = counts_json(nullptr);
  CHECK(counted["load_sectors"] == 4);
  CHECK(counted["store_sectors"] == 0);
  CHECK(counted["contended"] == true);
  CHECK(counted.size() == unknown.size());
  for (const auto& [field, value] : unknown.items()) {
    CHECK(counted.contains(field));
    CHECK(value.is_null());
  }
}

}  // namespace test_texts

/// \file
/// What Nsight Compute counted on an H200, and how far the CPU device's counts may be from it.
#pragma once

#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "harness/backends/backend.hpp"
#include "paths.hpp"

/// The kernels and stages of tests/data/counters_h200.json.
inline nlohmann::json counted_on_gpu() {
  std::ifstream file(source_dir() + "/tests/data/counters_h200.json");
  return nlohmann::json::parse(file).at("kernels");
}

inline long long sum(const nlohmann::json& hardware, std::initializer_list<const char*> fields) {
  long long total = 0;
  for (const char* field : fields) total += hardware.at(field).get<long long>();
  return total;
}

/// How our wavefronts compare: the same; no fewer loads, of which nvcc merges some or leaves some out; or no
/// more stores, among them asynchronous copies of a shape whose cost is not known.
enum class Wavefronts { kEqual, kLoadsMerged, kCopiesUnknown };

/// Checks the wavefronts of shared memory. The hardware's carry noise: accesses that had to be tried again
/// are counted again. 3 % of all wavefronts of the kernel covers it. An asynchronous copy, which has a
/// counter of its own, is a store.
inline void check_wavefronts(const workbook::Counts& counts, const nlohmann::json& hardware,
                             Wavefronts compare) {
  const long long loads = sum(hardware, {"shared_load_wavefronts"}),
                  stores = sum(hardware, {"shared_store_wavefronts", "async_shared_wavefronts"});
  const double noise = 0.03 * static_cast<double>(loads + stores);
  const auto load_excess = static_cast<double>(counts.shared_load_wavefronts - loads),
             store_excess = static_cast<double>(counts.shared_store_wavefronts - stores);
  CHECK(load_excess >= -noise);
  if (compare != Wavefronts::kLoadsMerged) CHECK(load_excess <= noise);
  CHECK(store_excess <= noise);
  if (compare != Wavefronts::kCopiesUnknown) CHECK(store_excess >= -noise);
}

/// \file
/// Comparing the counts of whole launches with sums over their instructions.
#pragma once

#include "catch.hpp"
#include "cpu_device/counts.hpp"

/// Checks that all counts are the same that belong to instructions.
inline void check_same_traffic(const workbook::Counts& counts, const workbook::Counts& expected) {
  CHECK(counts.load_requests == expected.load_requests);
  CHECK(counts.load_sectors == expected.load_sectors);
  CHECK(counts.load_bytes == expected.load_bytes);
  CHECK(counts.store_requests == expected.store_requests);
  CHECK(counts.store_sectors == expected.store_sectors);
  CHECK(counts.store_bytes == expected.store_bytes);
  CHECK(counts.shared_requests == expected.shared_requests);
  CHECK(counts.shared_load_wavefronts == expected.shared_load_wavefronts);
  CHECK(counts.shared_store_wavefronts == expected.shared_store_wavefronts);
  CHECK(counts.shared_atomic_requests == expected.shared_atomic_requests);
  CHECK(counts.atomic_sectors == expected.atomic_sectors);
  CHECK(counts.contended == expected.contended);
  CHECK(counts.barriers == expected.barriers);
  CHECK(counts.accesses == expected.accesses);
}

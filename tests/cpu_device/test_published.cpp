// Kernels in the style of those that others publish run unchanged and are right: those whose threads part,
// and those that count. test_counted_kernels.cpp compares the counts of all of them with the hardware.
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "chapter.hpp"
#include "kernels/published/published.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_published {
namespace {

namespace test_kernels = cpu::test_kernels;
using Floats = std::vector<float>;
using Ints = std::vector<int>;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

Floats random_floats(int n, unsigned seed) {
  Floats values(size(n));
  workbook::fill_uniform(values.data(), n, -1.0f, 1.0f, seed);
  return values;
}

/// Whole numbers of [0, limit).
Ints random_ints(int n, int limit, unsigned seed) {
  Floats uniform(size(n));
  workbook::fill_uniform(uniform.data(), n, 0.0f, static_cast<float>(limit), seed);
  Ints values(size(n));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::min(static_cast<int>(uniform[i]), limit - 1);
  return values;
}

/// Rows of 0 to 70 elements, so that some are empty and some longer than a warp.
Ints random_offsets(int rows) {
  const Ints lengths = random_ints(rows, 71, 5);
  Ints offsets(size(rows + 1), 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

struct Published : Findings {
  /// What `kernel(out)` leaves in an array of `n` that nothing has written.
  template <class T, class Kernel>
  std::vector<T> output(int n, Kernel kernel) {
    DeviceArray<T> out(*backend, size(n), "out");
    backend->poison(out.data(), workbook::kPoison, size(n) * sizeof(T));
    backend->run([&] { kernel(out.data()); });
    return out.values();
  }
};

/// Every element within `tolerance`; a NaN is not.
void check_close(const Floats& values, const std::vector<double>& expected, double tolerance) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i << ": " << values[i] << ", expected " << expected[i]);
    REQUIRE(std::fabs(values[i] - expected[i]) <= tolerance);
  }
}

}  // namespace

TEST_CASE_METHOD(Published, "published: guarded accesses in loops, and a loop that is left early") {
  constexpr int kLength = 32;
  for (const int n : {1, 33, 256, 1000}) {
    const Floats in = random_floats(n * kLength, 1);
    const Ints keep = random_ints(n * kLength, 256, 2);
    std::vector<double> in_turn(size(n), 0.0), by_mask(size(n), 0.0);
    Ints first(size(n), -1);
    for (int j = kLength - 1; j >= 0; --j)
      for (int i = 0; i < n; ++i) {
        const float x = in[size(j * n + i)];
        if ((i + j) % 4 == 0) in_turn[size(i)] += x;
        if (keep[size(j * n + i)] % 2) by_mask[size(i)] += x;
        if (x > 0.9f) first[size(i)] = j;
      }
    const auto device_in = upload(in);
    const auto device_keep = upload(keep);
    check_close(output<float>(
                    n, [&](float* out) { test_kernels::guard_in_turn(device_in->data(), out, n, kLength); }),
                in_turn, 1e-5);
    check_close(output<float>(n,
                              [&](float* out) {
                                test_kernels::guard_by_mask(device_in->data(), device_keep->data(), out, n,
                                                            kLength);
                              }),
                by_mask, 1e-5);
    CHECK(output<int>(n, [&](int* out) {
            test_kernels::first_above(device_in->data(), 0.9f, out, n, kLength);
          }) == first);
  }
}

TEST_CASE_METHOD(Published, "published: sparse rows of many lengths") {
  constexpr int kColumns = 1000;
  for (const int rows : {1, 7, 33, 300}) {
    const Ints offsets = random_offsets(rows);
    const int elements = std::max(offsets.back(), 1);
    const Floats values = random_floats(elements, 1), x = random_floats(kColumns, 2);
    const Ints columns = random_ints(elements, kColumns, 3);
    std::vector<double> sums(size(rows), 0.0), products(size(rows), 0.0);
    for (int row = 0; row < rows; ++row)
      for (int j = offsets[size(row)]; j < offsets[size(row + 1)]; ++j) {
        sums[size(row)] += values[size(j)];
        products[size(row)] += double{values[size(j)]} * x[size(columns[size(j)])];
      }
    const auto device_offsets = upload(offsets), device_columns = upload(columns);
    const auto device_values = upload(values), device_x = upload(x);
    check_close(output<float>(rows,
                              [&](float* out) {
                                test_kernels::ragged_row_sums(device_offsets->data(), device_values->data(),
                                                              out, rows);
                              }),
                sums, 1e-4);
    for (const auto run : {test_kernels::csr_thread, test_kernels::csr_warp})
      check_close(output<float>(rows,
                                [&](float* out) {
                                  run(device_offsets->data(), device_columns->data(), device_values->data(),
                                      device_x->data(), out, rows);
                                }),
                  products, 1e-4);
  }
}

TEST_CASE_METHOD(Published, "published: a load in both branches") {
  const auto in = DeviceArray<float>::counting(*backend, 1000);
  const Floats out =
      output<float>(1000, [&](float* to) { test_kernels::load_in_both_branches(in->data(), to, 1000); });
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(out[i] == static_cast<float>(i | 1));
}

TEST_CASE_METHOD(Published, "published: histograms") {
  for (const auto run : {test_kernels::histogram_global, test_kernels::histogram_shared})
    for (const int n : {1, 255, 257, 5000}) {
      const Ints in = random_ints(n, test_kernels::kBins, 1);
      Ints expected(test_kernels::kBins, 0);
      for (const int bin : in) ++expected[size(bin)];
      const auto device_in = upload(in), bins = upload(Ints(test_kernels::kBins, 0));
      backend->run([&, run = run] { run(device_in->data(), bins->data(), n); });
      CHECK(bins->values() == expected);
    }
}

TEST_CASE_METHOD(Published, "published: counters, a thread its own and one for all") {
  for (const int n : {1, 31, 257, 5000}) {
    const auto each = upload(Ints(size(n), 7)), count = upload(Ints{7});
    backend->run([&] { test_kernels::count_each(each->data(), n); });
    CHECK(each->values() == Ints(size(n), 8));
    CHECK(output<int>(n, [&](int* out) { test_kernels::count_each_ticket(each->data(), out, n); }) ==
          Ints(size(n), 8));
    CHECK(each->values() == Ints(size(n), 9));

    backend->run([&] { test_kernels::count_all(count->data(), n); });
    CHECK(count->values() == Ints{7 + n});
    Ints tickets = output<int>(n, [&](int* out) { test_kernels::count_all_ticket(count->data(), out, n); });
    std::sort(tickets.begin(), tickets.end());  // which thread gets which is anyone's guess
    Ints expected(size(n));
    std::iota(expected.begin(), expected.end(), 7 + n);
    CHECK(tickets == expected);
  }
}

TEST_CASE_METHOD(Published, "published: a sum of floats by atomics") {
  const Floats in = random_floats(5000, 1);
  const auto device_in = upload(in), total = upload(Floats{0.0f});
  backend->run([&] { test_kernels::add_all(device_in->data(), total->data(), 5000); });
  check_close(total->values(), {std::accumulate(in.begin(), in.end(), 0.0)}, 1e-3);
}

}  // namespace test_published

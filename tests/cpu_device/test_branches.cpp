// Branches in loops: whatever the order of a compiler's blocks, what lanes do in the same iteration is one
// request. The expected counts are those of lanes that go through the kernel in lockstep, computed lane by
// lane.
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "kernels/branches.hpp"
#include "tests/cpu_device/findings.hpp"

namespace test_branches {
namespace {

namespace test_kernels = cpu::test_kernels;
using test_kernels::Way;
using workbook::Counts;

constexpr int kLanes = 32;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// The requests of one warp after another, with 4 bytes per lane.
class Lockstep {
 public:
  /// Lanes access `index` of an array with instruction `site`, in the iteration that `round` names of the
  /// loops around it.
  void access(int site, const std::vector<int>& round, int index) { requests_[{site, round}].insert(index); }
  long long requests() const { return static_cast<long long>(requests_.size()); }
  long long sectors() const {
    long long sum = 0;
    for (const auto& [place, indices] : requests_) {
      std::set<int> sectors;
      for (const int index : indices) sectors.insert(index / 8);
      sum += static_cast<long long>(sectors.size());
    }
    return sum;
  }

 private:
  std::map<std::pair<int, std::vector<int>>, std::set<int>> requests_;
};

void check_loads(const Counts& counts, const Lockstep& expected) {
  CHECK(counts.load_requests == expected.requests());
  CHECK(counts.load_sectors == expected.sectors());
  CHECK_FALSE(counts.approximate);
}

struct Branches : Findings {
  std::minstd_rand random{7};

  std::vector<int> ints(int n, int limit) {
    std::vector<int> values(size(n));
    for (int& v : values) v = static_cast<int>(random() % static_cast<unsigned>(limit));
    return values;
  }
  std::vector<float> floats(int n) {
    std::vector<float> values(size(n));
    for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(random);
    return values;
  }
};

}  // namespace

TEST_CASE_METHOD(Branches, "branches: lanes that change a value in different ways stay together",
                 "[branches]") {
  constexpr int kRows = 200;
  const auto in = upload(floats(kRows * kLanes)), table = upload(floats(kRows * kLanes)),
             out = upload(floats(kLanes));
  const auto codes = upload(ints(kLanes, 8));
  for (int way = 0; way < static_cast<int>(Way::kMost); ++way) {
    INFO("way " << way);
    const Counts counts = backend->run([&] {
      test_kernels::clamped_columns(static_cast<Way>(way), in->data(), codes->data(), table->data(),
                                    out->data(), kRows);
    });
    // The codes are loaded in each round, or once.
    const bool has_codes = static_cast<Way>(way) == Way::kSwitch || static_cast<Way>(way) == Way::kNestedIf;
    const long long of_codes = has_codes ? counts.load_requests - 2 * kRows : 0;
    if (has_codes) CHECK((of_codes == 1 || of_codes == kRows));
    CHECK(counts.load_requests == 2 * kRows + of_codes);
    CHECK(counts.load_sectors == 4 * (2 * kRows + of_codes));
    CHECK_FALSE(counts.approximate);
  }
}

TEST_CASE_METHOD(Branches, "branches: each lane loads what its codes say", "[branches]") {
  constexpr int kRows = 300;
  std::vector<int> codes = ints(kRows * kLanes, 8);
  for (int i = 0; i < kRows * kLanes; ++i)  // most lanes go far
    if (codes[size(i)] == 5 && random() % 40 != 0) codes[size(i)] = 3;
  Lockstep expected;
  for (int t = 0; t < kLanes; ++t) {
    for (int j = 0; j < kRows; ++j) {
      const int i = kLanes * j + t, code = codes[size(i)];
      expected.access(0, {j}, i);
      if (code == 5) break;
      if (code == 0 || code == 2) expected.access(code == 0 ? 1 : 2, {j}, i);
      if (code == 1 || code == 2) expected.access(code == 1 ? 3 : 4, {j}, i);
      if (code == 6 || code == 7) expected.access(code, {j}, i);
      if (code == 4) continue;
      expected.access(5, {j}, i);
    }
  }
  const auto device_codes = upload(codes);
  const auto a = upload(floats(kRows * kLanes)), b = upload(floats(kRows * kLanes)),
             c = upload(floats(kRows * kLanes)), out = upload(floats(kLanes));
  check_loads(backend->run([&] {
    test_kernels::coded_columns(device_codes->data(), a->data(), b->data(), c->data(), out->data(), kRows);
  }),
              expected);
}

TEST_CASE_METHOD(Branches, "branches: the loops of a causal attention", "[branches]") {
  constexpr int kTile = 32, kDepth = 8;
  for (const int n : {64, 70, 128}) {
    INFO(n << " rows");
    const std::vector<float> queries = floats(n * kDepth), keys = floats(n * kDepth);
    Lockstep loads, stores, shared;
    std::vector<double> expected(size(n * kDepth));
    for (int t = 0; t < kTile; ++t)
      for (int first = 0; first < n; first += kTile) {
        const int end = std::min(kTile, n - first);
        for (int x = 0; x < kDepth; ++x) {
          if (first + t < n) loads.access(0, {first, x}, (first + t) * kDepth + x);
          shared.access(0, {first, x}, 0);
        }
        for (int row = t; row < n; row += kTile) {
          const auto key = [&](int y, int x) { return double{keys[size((first + y) * kDepth + x)]}; };
          double most = 0, sum = 0, scores[kTile] = {};
          for (int y = 0; y < end; ++y) {
            double score = 0;
            for (int x = 0; x < kDepth; ++x) {
              loads.access(1, {first, row / kTile, y, x}, row * kDepth + x);
              shared.access(1, {first, row / kTile, y, x}, 0);
              score += double{queries[size(row * kDepth + x)]} * key(y, x);
            }
            shared.access(2, {first, row / kTile, y}, 0);  // the score
            if (first + y <= row) {
              shared.access(3, {first, row / kTile, y}, 0);  // the score again
              scores[y] = std::exp(score);
              most = std::max(most, score);
              sum += scores[y];
            }
            // The weight: a store in each branch, and no load of what the thread has just stored.
            shared.access(first + y <= row ? 4 : 5, {first, row / kTile, y}, 0);
          }
          for (int x = 0; x < kDepth; ++x) {
            for (int y = 0; y < end; ++y) {
              shared.access(6, {first, row / kTile, x, y}, 0);
              if (first + y <= row) {
                shared.access(7, {first, row / kTile, x, y}, 0);
                expected[size(row * kDepth + x)] += scores[y] * key(y, x);
              }
            }
            if (first > 0) loads.access(2, {first, row / kTile, x}, row * kDepth + x);
            stores.access(0, {first, row / kTile, x}, row * kDepth + x);
            expected[size(row * kDepth + x)] += most * sum;
          }
        }
      }
    const auto device_queries = upload(queries), device_keys = upload(keys), out = upload(floats(n * kDepth));
    const Counts counts = backend->run(
        [&] { test_kernels::causal_tiles(device_queries->data(), device_keys->data(), out->data(), n); });
    check_loads(counts, loads);
    CHECK(counts.store_requests == stores.requests());
    CHECK(counts.store_sectors == stores.sectors());
    CHECK(counts.shared_requests == shared.requests());
    const std::vector<float> values = out->values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      INFO(i << ": " << values[i] << ", expected " << expected[i]);
      REQUIRE(std::fabs(values[i] - expected[i]) <= 1e-4 * (1 + std::fabs(expected[i])));
    }
  }
}

// `continue` in a loop, or a loop in a loop: a compiler may make the same code of both. Lanes that take turns
// at odd and even numbers then go on together, or wait for one another after the odd ones.
TEST_CASE_METHOD(Branches, "branches: two loops with one header are marked where lanes part", "[branches]") {
  constexpr int kNodes = 4096;
  for (const bool parts : {false, true}) {
    INFO((parts ? "lanes part" : "lanes stay together"));
    std::vector<int> next(kNodes);
    for (int i = 0; i < kNodes; ++i) {
      const int row = i / kLanes + 1, lane = i % kLanes;
      const int odd = parts ? static_cast<int>(random() % 2) : row % 3 == 0;
      next[size(i)] = row == kNodes / kLanes ? -1 : row * kLanes + lane / 2 * 2 + odd;
    }
    Lockstep one_loop, nested;
    for (int t = 0; t < kLanes; ++t) {
      int i = t, outer = 0, inner = 0;
      for (int round = 0; i >= 0; ++round) {
        one_loop.access(0, {round}, i);
        nested.access(0, {outer, inner++}, i);
        i = next[size(i)];
        if (i < 0 || i % 2 != 0) continue;
        one_loop.access(1, {round}, i);
        nested.access(1, {outer++}, i);
        inner = 0;
      }
    }
    const auto device_next = upload(next);
    const auto value = upload(floats(kNodes)), out = upload(floats(kLanes));
    const Counts counts =
        backend->run([&] { test_kernels::walk(device_next->data(), value->data(), out->data()); });
    if (parts && counts.approximate) continue;
    const bool is_one_loop = counts.load_requests == one_loop.requests();
    check_loads(counts, is_one_loop ? one_loop : nested);
  }
}

TEST_CASE_METHOD(Branches, "branches: loops in a function that is called twice", "[branches]") {
  constexpr int kRows = 100;
  const std::vector<int> lengths = ints(kLanes, kRows);
  const std::vector<float> in = floats((kRows + 1) * kLanes);
  Lockstep expected;
  for (int t = 0; t < kLanes; ++t)
    for (const int call : {0, 1}) {
      expected.access(10 + call, {}, t ^ call);
      for (int j = 0; j < lengths[size(t ^ call)]; ++j) {
        expected.access(0, {call, j}, kLanes * j + t);
        if (!(in[size(kLanes * j + t)] < 0)) expected.access(1, {call, j}, kLanes * j + t + 1);
      }
    }
  const auto device_lengths = upload(lengths);
  const auto device_in = upload(in), out = upload(floats(kLanes));
  check_loads(backend->run([&] {
    test_kernels::sums_of_two_calls(device_lengths->data(), device_in->data(), out->data());
  }),
              expected);
}

TEST_CASE_METHOD(Branches, "branches: a function that calls itself", "[branches]") {
  constexpr int kNodes = 1000;
  const auto marks = upload(std::vector<int>(kNodes, 1)), out = upload(ints(kLanes, 2));
  const Counts counts = backend->run([&] { test_kernels::tree_sizes(marks->data(), out->data(), kNodes); });
  std::vector<int> sizes(kNodes, 1);
  for (int i = kNodes - 1; i > 0; --i) sizes[size((i - 1) / 2)] += sizes[size(i)];
  sizes.resize(kLanes);
  CHECK(out->values() == sizes);
  // How a compiler unrolls the recursion decides what is one request; each request loads at least one word.
  CHECK(counts.load_bytes >= counts.load_requests * 4);
}

}  // namespace test_branches

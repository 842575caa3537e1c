// Blocks on several cores: results, counts and findings are those of one core, whatever the number of cores.
#include <string>

#include "catch.hpp"
#include "harness/problem.hpp"
#include "kernels/cores.hpp"
#include "printed.hpp"
#include "tests/cpu_device/findings.hpp"
#include "tests/cpu_device/on_cores.hpp"

namespace test_cores {
namespace {

namespace test_kernels = cpu::test_kernels;
constexpr unsigned kCores[] = {2, 3, 7};
constexpr int kBlocks = 20;

struct Cores {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();

  /// Runs `kernel(data)` with the elements 0, 1, 2 ... Returns what it counts and leaves there.
  template <class T, class Kernel>
  Outcome outcome(std::size_t count, Kernel kernel) {
    const auto array = DeviceArray<T>::counting(*backend, count);
    const std::string counts = text(backend->run([&] { kernel(array->data()); }));
    const std::vector<T> values = array->values();
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    return {"", counts, {bytes, bytes + count * sizeof(T)}};
  }
};

/// Runs the same on one core and on several, and checks that several were used.
template <class Run>
void check_on_cores(Run run) {
  const auto on = [&](unsigned cores) {
    const OnCores use(cores);
    std::vector<Outcome> outcomes = {run()};
    CHECK(use.spread() == (cores > 1));
    return outcomes;
  };
  const auto one = on(1);
  for (const unsigned cores : kCores) check_equal(one, on(cores));
}

}  // namespace

TEST_CASE_METHOD(Cores, "cores: parts may share a sector, in which each has words of its own") {
  check_on_cores([&] {
    return outcome<float>(kBlocks * 1001, [](float* x) { test_kernels::double_rows(x, kBlocks, 1001); });
  });
}

TEST_CASE_METHOD(Cores, "cores: parts that share a word are right too") {
  const auto run = [&] {
    return outcome<signed char>(kBlocks * 1001,
                                [](signed char* x) { test_kernels::double_byte_rows(x, kBlocks, 1001); });
  };
  std::vector<Outcome> one, several;
  {
    const OnCores use(1);
    one.push_back(run());
  }
  {
    const OnCores use(3);
    several.push_back(run());
  }
  check_equal(one, several);
}

TEST_CASE_METHOD(Cores, "cores: an attempt that is thrown away leaves nothing behind") {
  DeviceArray<int> ended(*backend, 1);
  backend->fill(ended.data(), 0, sizeof(int));
  const OnCores use(3);
  const auto x = DeviceArray<float>::counting(*backend, kBlocks * 64);
  const auto counts = backend->run([&] { test_kernels::add_and_count(x->data(), ended.data(), kBlocks); });
  CHECK(use.thrown_away() == 1);
  CHECK(ended.values()[0] == 1);
  const std::vector<float> values = x->values();
  for (int i = 0; i < kBlocks * 64; ++i)
    REQUIRE(values[static_cast<std::size_t>(i)] == static_cast<float>(i + 1));
  CHECK(counts.accesses == 2 * kBlocks * 64 + 1);
  // It is not tried again.
  backend->run([&] { test_kernels::add_and_count(x->data(), ended.data(), kBlocks); });
  CHECK(use.thrown_away() == 1);
}

TEST_CASE_METHOD(Cores, "cores: an access that is not recorded is not taken for independent") {
  constexpr int kBlocksOfOneWarp = 4, kMoreThanAreTold = 60001;
  DeviceArray<int> x(*backend, 1);
  for (const unsigned cores : {1u, 3u}) {
    const OnCores use(cores);
    backend->run([&] { test_kernels::sync_and_store(x.data(), kBlocksOfOneWarp, kMoreThanAreTold); });
    CHECK(x.values()[0] == kBlocksOfOneWarp - 1);
    CHECK(use.thrown_away() == (cores > 1));
    CHECK(use.spread() == 0);
  }
}

TEST_CASE_METHOD(Cores, "cores: blocks print once, in their order") {
  const OnCores use(3);
  const auto x = DeviceArray<float>::counting(*backend, kBlocks * 64);
  const std::string text =
      printed([&] { backend->run([&] { test_kernels::print_blocks(x->data(), kBlocks); }); });
  std::string expected;
  for (int b = 1; b < kBlocks; ++b) expected += "block " + std::to_string(b) + "\n";
  CHECK(text == expected);
  CHECK(use.thrown_away() == 1);
}

TEST_CASE_METHOD(Cores, "cores: small grids run on one core") {
  const Variable two("WORKBOOK_CORES", "2");
  const cpu::SpreadRule before = cpu::spread_rule();
  outcome<float>(kBlocks * 64, [](float* x) { test_kernels::double_rows(x, kBlocks, 64); });
  CHECK(cpu::spread_rule().spread == before.spread);
  outcome<float>(500 * 1024, [](float* x) { test_kernels::double_rows(x, 500, 1024); });
  CHECK(cpu::spread_rule().spread == before.spread + 1);
}

TEST_CASE_METHOD(Cores, "cores: findings have the message of one core") {
  const Variable steps("WORKBOOK_STEPS", "100000");
  const int three = 3;
  DeviceArray<int> index(*backend, 1);
  backend->upload(index.data(), &three, sizeof three);
  const auto finding = [&](const test_kernels::BlockMistake& mistake, unsigned cores) {
    const OnCores use(cores);
    const auto x = DeviceArray<float>::counting(*backend, kBlocks * 64, "x");
    DeviceArray<float> y(*backend, kBlocks * 64, "y");
    const std::string message =
        finding_of(*backend, [&] { mistake.run(x->data(), y.data(), index.data(), kBlocks); });
    CHECK(message != "");
    CHECK(use.thrown_away() == (cores > 1));
    // The device works on.
    CHECK(outcome<float>(kBlocks * 64, [](float* data) {
            test_kernels::double_rows(data, kBlocks, 64);
          }).result.size() == kBlocks * 64 * sizeof(float));
    CHECK(use.spread() == (cores > 1));
    return message;
  };
  const auto all = test_kernels::block_mistakes();
  for (int i = 0; i < all.count; ++i) {
    INFO(all.first[i].name);
    const std::string several = finding(all.first[i], 3);
    CHECK(several == finding(all.first[i], 1));
  }
}

}  // namespace test_cores

// Efficiency, the loads from shared memory that nvcc may merge, and how the tables show both.
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "cpu_device/program_image/function_name.hpp"
#include "harness/tables/count_marks.hpp"
#include "harness/tables/derived_counts.hpp"
#include "kernels/counted_bytes.hpp"
#include "kernels/kernels.hpp"
#include "system/terminal.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace test_counted_bytes {
namespace {

namespace test_kernels = cpu::test_kernels;
using workbook::Counts;

struct CountedBytes {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();
  std::unique_ptr<DeviceArray<float>> in = DeviceArray<float>::counting(*backend, 1024),
                                      out = DeviceArray<float>::counting(*backend, 1024);
  Counts run(const std::function<void()>& kernel) const { return backend->run(kernel); }
};

}  // namespace

TEST_CASE_METHOD(CountedBytes, "efficiency: the distinct bytes that lanes use, over those of the sectors") {
  const struct {
    int which, offset;
    long long requests, sectors, bytes;
    const char* efficiency;
  } cases[] = {
      {0, 0, 1, 1, 4, "12%"},     // a broadcast: 4 bytes of 32
      {1, 0, 1, 1, 16, "50%"},    // a broadcast of 16
      {2, 0, 1, 1, 32, "100%"},   // four lanes share a word
      {3, 0, 3, 14, 384, "86%"},  // a stencil: three requests of 128 bytes, two of them not aligned
      {4, 0, 1, 4, 128, "100%"},  // neighbours exchanged
      {5, 0, 1, 2, 64, "100%"},   // in descending order, by pairs
      {6, 0, 1, 1, 4, "12%"},     // one lane
      {4, 2, 1, 5, 128, "80%"},   // an array that begins in the middle of a sector
      {1, 4, 1, 1, 16, "50%"},
  };
  for (const auto& c : cases) {
    INFO("way " << c.which << ", offset " << c.offset);
    const Counts counts = run([&] { test_kernels::load_words(c.which, in->data() + c.offset, out->data()); });
    CHECK(counts.load_requests == c.requests);
    CHECK(counts.load_sectors == c.sectors);
    CHECK(counts.load_bytes == c.bytes);
    CHECK(workbook::percent(workbook::load_efficiency(counts)) == c.efficiency);
    CHECK(counts.store_bytes == 128);
    CHECK(workbook::store_efficiency(counts) == 1);
  }
  for (const auto& [which, sectors, bytes] : {std::tuple(0, 4, 128), {1, 4, 64}, {2, 8, 128}}) {
    const Counts counts = run([&, which = which] { test_kernels::store_words(which, out->data()); });
    CHECK(counts.store_sectors == sectors);
    CHECK(counts.store_bytes == bytes);
  }
  const auto strided = DeviceArray<float>::counting(*backend, 2048);
  const Counts counts = run([&] { test_kernels::strided(strided->data(), out->data(), 1024, 2); });
  CHECK(workbook::load_efficiency(counts) == 0.5);
}

TEST_CASE_METHOD(CountedBytes, "efficiency of asynchronous copies: what they read, once") {
  const struct {
    int bytes, lanes_each, zeros;
    long long read;
  } cases[] = {{4, 1, 0, 128},  {4, 4, 0, 32},   {8, 1, 0, 256},  {8, 32, 0, 8}, {16, 1, 0, 512},
               {16, 2, 0, 256}, {16, 1, 8, 256}, {16, 32, 4, 12}, {4, 1, 4, 0}};
  for (const auto& c : cases) {
    INFO(c.bytes << " bytes, a vector for each " << c.lanes_each << " lanes, zeros " << c.zeros);
    const Counts counts =
        run([&] { test_kernels::copy_words(c.bytes, c.lanes_each, c.zeros, in->data(), out->data()); });
    CHECK(counts.load_bytes == c.read);
    CHECK(counts.load_bytes <= 32 * counts.load_sectors);
  }
}

TEST_CASE_METHOD(CountedBytes, "atomics have no part in efficiency") {
  const auto sum = DeviceArray<unsigned>::counting(*backend, 64);
  for (const bool contended : {false, true}) {
    const Counts counts = run([&] { test_kernels::add_atomically(contended, sum->data()); });
    CHECK(counts.load_bytes + counts.store_bytes + counts.load_sectors + counts.store_sectors == 0);
    CHECK(counts.contended == contended);
    CHECK(counts.atomic_sectors == (contended ? 2 : 8));
  }
}

TEST_CASE_METHOD(CountedBytes, "loads of shared memory that nvcc may merge are marked, and no others") {
  for (int which = 0; which < test_kernels::kSharedWays; ++which) {
    INFO("way " << which);
    const Counts counts = run([&] { test_kernels::sum_shared(which, out->data()); });
    CHECK(counts.shared_loads_may_merge == (which < test_kernels::kMergingWays));
  }
}

TEST_CASE("kernels of one template are told apart") {
  using workbook::short_instance_name;
  CHECK(short_instance_name("void cpu::reduce<256>(float const*, int)") == "reduce<256>");
  CHECK(short_instance_name("void cpu::reduce<512u, (cpu::Mode)1>(float const*)") == "reduce<512, (Mode)1>");
  CHECK(short_instance_name("void cpu::(anonymous namespace)::map<cpu::play::Square, (4ul > 2ul)>(int)\n") ==
        "map<Square, (4 > 2)>");
  CHECK(short_instance_name("cpu::plain(std::vector<int>)") == "plain");
  CHECK(short_instance_name("_ZN3cpu5fusedILi4EEEvPKfi") == "fused<4>");

  std::vector<std::string> names;
  const auto backend = workbook::make_cpu_backend(
      [&](const workbook::LaunchCounts& launch) { names.push_back(launch.kernel); });
  const auto in = DeviceArray<float>::counting(*backend, 64),
             out = DeviceArray<float>::counting(*backend, 64);
  backend->run([&] { test_kernels::scaled_by_templates(in->data(), out->data()); });
  CHECK(names == std::vector<std::string>{"scaled<2, float>", "scaled<3, float>", "scaled<3, short>"});
}

TEST_CASE("marks of counts, and what they mean") {
  Counts exact, estimate, merged;
  estimate.approximate = true;
  merged.shared_loads_may_merge = true;
  workbook::CountMarks marks;
  CHECK(marks.sectors(exact, "7") == "7");
  CHECK(marks.wavefronts(exact, "7") == "7");
  CHECK(marks.sectors(merged, "7") == "7");
  CHECK(marks.legend().empty());
  CHECK(marks.wavefronts(merged, "7") == "*7");
  CHECK(marks.legend().find("docs/cpu_device.md, \"One load in the source, another in the machine\"") !=
        std::string::npos);
  CHECK(marks.legend().find("≈") == std::string::npos);
  CHECK(marks.sectors(estimate, "7") == "≈7");
  CHECK(marks.legend().find("≈ an estimate") != std::string::npos);

  CHECK(workbook::atomics_text({{"none", exact}}).empty());
  Counts in_turn, contended;
  in_turn.atomic_sectors = 8;
  contended.atomic_sectors = 2;
  contended.contended = true;
  CHECK(workbook::atomics_text({{"none", exact}, {"in_turn", in_turn}}) ==
        "\n          global    shared\natomics  sectors  requests\nin_turn        8         0\n");
  const std::string text = workbook::atomics_text({{"all", contended}});
  CHECK(text.find("all            2         0  contended\n") != std::string::npos);
  CHECK(text.find("contended: lanes of a warp update one address") != std::string::npos);
}

}  // namespace test_counted_bytes

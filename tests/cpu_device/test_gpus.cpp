// Several virtual GPUs: kernels that wait for each other end, what they hand over by flags is ordered, and
// what they move between GPUs is counted.
#include <memory>
#include <vector>

#include "catch.hpp"
#include "cpu_device/findings/finding.hpp"
#include "kernels/gpus.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace test_gpus {
namespace {

namespace test_kernels = cpu::test_kernels;
using test_kernels::Exchange;
using test_kernels::OnGpus;
using workbook::Counts;

struct Gpus {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();
  std::vector<std::unique_ptr<DeviceArray<int>>> arrays;

  /// An array of zeros in the memory of each GPU.
  OnGpus on_gpus(int gpus, std::size_t count, const std::string& name) {
    OnGpus all = {};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      arrays.push_back(std::make_unique<DeviceArray<int>>(*backend, count, name + std::to_string(gpu), gpu));
      all.of[gpu] = arrays.back()->data();
      backend->fill(all.of[gpu], 0, count * sizeof(int));
    }
    return all;
  }

  Counts exchange(int gpus, int blocks, Exchange how) {
    const auto elements = static_cast<std::size_t>(64 * blocks);
    const OnGpus flags = on_gpus(gpus, static_cast<std::size_t>(gpus * blocks), "flags");
    const OnGpus x = on_gpus(gpus, elements, "x"), out = on_gpus(gpus, elements, "out");
    const Counts counts = backend->run([&] { test_kernels::exchange(gpus, blocks, flags, x, out, how); });
    std::vector<int> expected(elements), got(elements);
    for (int i = 0; i < 64 * blocks; ++i)
      expected[static_cast<std::size_t>(i)] = gpus * (gpus - 1) / 2 * 100000 + gpus * i;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      backend->download(got.data(), out.of[gpu], elements * sizeof(int));
      CHECK(got == expected);
    }
    return counts;
  }

  std::string finding(int gpus, Exchange how) {
    try {
      exchange(gpus, 3, how);
    } catch (const cpu::Finding& found) {
      return found.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE_METHOD(Gpus, "gpus: kernels that wait for each other hand over their arrays", "[gpus]") {
  const int gpus = GENERATE(1, 2, 3, 8), blocks = GENERATE(1, 5);
  const Exchange how = GENERATE(Exchange::kRight, Exchange::kRightByAtomics, Exchange::kRightByAtomicPolls,
                                Exchange::kRightByRelaxedPolls, Exchange::kRightInTwoLaunches);
  CAPTURE(gpus, blocks, how);
  const Counts counts = exchange(gpus, blocks, how);
  // Each reads what the others have, and sets a flag of each other one.
  const long long pairs = gpus * (gpus - 1), requests = gpus > 1 ? gpus : 0;
  CHECK(counts.peer_load_sectors == pairs * blocks * 64 * 4 / 32);
  CHECK(counts.peer_store_sectors == pairs * blocks);
  CHECK(counts.peer_requests == (2 * pairs + requests) * blocks);
  CHECK(counts.approximate ==
        (gpus > 1 && how == Exchange::kRightByAtomicPolls));  // loads in vain do not count
  CHECK(counts.kernels == (how == Exchange::kRightInTwoLaunches ? 2 : 1) * gpus);
}

TEST_CASE_METHOD(Gpus, "gpus: what is wrong with a hand-over is found", "[gpus]") {
  struct Row {
    Exchange how;
    std::string title, look_at;
  };
  const std::string race = "race in device memory";
  const auto row = GENERATE_COPY(
      Row{Exchange::kNoBarrier, race, "all threads that have written pass __syncthreads()"},
      Row{Exchange::kNoFence, race, "__threadfence_system()"},
      Row{Exchange::kFenceOfDevice, race, "__threadfence_system()"},
      Row{Exchange::kAtomicOfDevice, race, "atomicExch_system()"},
      Row{Exchange::kNoWait, race, "these is missing"},
      Row{Exchange::kNoFenceAfter, race, "__threadfence_system() after it"},
      Row{Exchange::kFenceOfDeviceAfter, race, "__threadfence_system() after it"},
      Row{Exchange::kOtherValue, "GPU that waits for ever", "which GPU was meant to store the value"},
      Row{Exchange::kOtherGpu, "GPU that waits for ever", "in the memory that is polled here"});
  const int gpus = GENERATE(2, 3);
  CAPTURE(row.how, gpus);
  const std::string message = finding(gpus, row.how);
  CHECK_THAT(message, ContainsSubstring(row.title) && ContainsSubstring(row.look_at));
  CHECK_THAT(message, ContainsSubstring("of GPU 0"));
}

TEST_CASE_METHOD(Gpus, "gpus: a message says what each GPU does", "[gpus]") {
  CHECK_THAT(finding(2, Exchange::kNoFence),
             ContainsSubstring("\n  thread (0,0,0) of block (0,0,0) of GPU 1 writes flags0[1] at line ") &&
                 ContainsSubstring("\n  thread (1,0,0) of block (0,0,0) of GPU 0 reads flags0[1] at line ") &&
                 ContainsSubstring("\n  and nothing orders the two\n"));
  CHECK_THAT(finding(2, Exchange::kOtherGpu),
             ContainsSubstring("\n  thread (0,0,0) of block (0,0,0) of GPU 1 polls flags1[0] at line ") &&
                 ContainsSubstring(", and no GPU can change that\n") &&
                 ContainsSubstring("\n  thread (1,0,0) of block (1,0,0) of GPU 0 polls flags0[3] at line "));
}

TEST_CASE_METHOD(
    Gpus, "dialect: several GPUs: on_each_gpu, __threadfence_system, atomicAdd_system and the other atomics",
    "[gpus]") {
  const OnGpus count = on_gpus(2, 1, "count");
  backend->run([&] { test_kernels::count_together(count.of[0], 100); });
  int total = 0;
  backend->download(&total, count.of[0], sizeof total);
  CHECK(total == 200);
}

TEST_CASE_METHOD(Gpus, "gpus: a finding of one GPU ends all, and the next launch works", "[gpus]") {
  const OnGpus x = on_gpus(2, 32, "x"), out = on_gpus(2, 32, "out");
  CHECK_THROWS_WITH(backend->run([&] { test_kernels::read_past_end(x, out); }),
                    ContainsSubstring("thread (31,0,0) of block (0,0,0) of GPU 1 reads x0[32]"));
  exchange(2, 2, Exchange::kRight);
}

}  // namespace test_gpus

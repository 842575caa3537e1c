// One stage at one shape: what verification catches, and memory that is required before anything is
// allocated.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "catch.hpp"
#include "chapters/arrays_by_name.hpp"
#include "cpu_device/memory/memory.hpp"
#include "harness/problem.hpp"
#include "kernels/messages.hpp"
#include "system/errors.hpp"

namespace cpu::relu_layernorm {
workbook::Chapter chapter();
}
namespace cpu::attention {
workbook::Chapter chapter();
}
namespace cpu::multiply_add {
workbook::Chapter chapter();
}

namespace test_run_stage {
namespace {

using namespace workbook;

const Chapter kMultiplyAdd = cpu::multiply_add::chapter();

// --- Verification: stages of chapter 01 that are wrong in one way each ---

/// Checks a stage that runs `run` in place of a stage of chapter 01.
StageResult check_stage(void (*run)(const Data&)) {
  const auto backend = make_cpu_backend();
  const Stage stage = {.name = "spoiled",
                       .idea = "",
                       .output = kMultiplyAdd.stages[1].output,
                       .kernels = 1,
                       .run = run,
                       .traffic = nullptr,
                       .roundings = kMultiplyAdd.stages[1].roundings};
  Problem problem(kMultiplyAdd, {{1000, 1, 1}}, *backend);
  return problem.check(stage);
}

void run_fused(const Data& data) { kMultiplyAdd.stages[1].run(data); }

/// Runs the fused stage on more or fewer elements than there are.
void run_fused_on(const Data& data, int n) {
  Data other = data;
  other.shape.dims[0] = n;
  run_fused(other);
}

}  // namespace

TEST_CASE("a size that does not fit is refused before anything is allocated") {
  /// A device with so much memory free and no other feature.
  struct Card : workbook::Backend {
    Card(workbook::DeviceKind kind, std::size_t free) : kind_(kind), free_(free) {}
    workbook::DeviceInfo info() const override {
      workbook::DeviceInfo info;
      info.kind = kind_;
      return info;
    }
    std::size_t free_bytes() const override { return free_; }
    void* allocate(std::size_t, std::size_t, const std::string&, std::size_t, int) override {
      throw std::bad_alloc();
    }
    void release(void*) override {}
    void upload(void*, const void*, std::size_t) override {}
    void download(void*, const void*, std::size_t) override {}
    void fill(void*, unsigned char, std::size_t) override {}
    void poison(void*, unsigned char, std::size_t) override {}
    bool guards_intact(const void*) const override { return true; }
    workbook::Counts run(const std::function<void()>&) override { return {}; }
    workbook::DeviceKind kind_;
    std::size_t free_;
  };
  const workbook::Chapter chapter = cpu::multiply_add::chapter();
  const workbook::Shape shape = {{1 << 28, 1, 1}};
  const workbook::MemoryNeed need = workbook::memory_need(chapter, shape);
  const auto refusal = [&](const Card& device, const Card& host) -> std::string {
    try {
      workbook::require_memory(chapter, shape, device, host);
    } catch (const workbook::MachineError& error) {
      return error.what();
    }
    return "";
  };
  const Card roomy(workbook::DeviceKind::kCpu, std::size_t{1} << 40),
      enough(workbook::DeviceKind::kGpu, need.device + need.timing),
      tight(workbook::DeviceKind::kGpu, need.device + need.timing - 1);
  CHECK(refusal(enough, roomy).empty());
  CHECK_THAT(refusal(tight, roomy), ContainsSubstring("--size 268435456 takes 11.0 GiB of GPU memory"));
  CHECK_THAT(refusal(enough, Card(workbook::DeviceKind::kCpu, need.host - 1)),
             ContainsSubstring("GiB are free: choose a smaller size"));
  // On the CPU device both are the host's.
  const Card both(workbook::DeviceKind::kCpu, need.host + need.device),
      less(workbook::DeviceKind::kCpu, need.host + need.device - 1);
  CHECK(refusal(both, both).empty());
  CHECK_THAT(refusal(less, less), ContainsSubstring("of memory"));
  const auto cpu_device = workbook::make_cpu_backend();
  // The arrays, and 6 bytes of notes for each of theirs, and a little.
  CHECK(cpu_device->footprint(need.device) > 7 * need.device);
  CHECK(cpu_device->footprint(need.device) < 7.25 * static_cast<double>(need.device));
}

TEST_CASE("memory of the host: references take what the largest needs, not what all need together") {
  const workbook::Chapter chapter = cpu::relu_layernorm::chapter();
  const workbook::Shape shape = {{32768, 4096, 1}};
  std::size_t inputs = 0, largest = 0;
  for (const workbook::Array* array : chapter.arrays) {
    const auto count = static_cast<std::size_t>(array->count(shape));
    const std::size_t bytes = count * static_cast<std::size_t>(workbook::element_bytes(array->type));
    if (array->role == workbook::Role::kInput) inputs += bytes;
    if (array->role == workbook::Role::kOutput) largest = std::max(largest, count);
  }
  const std::size_t exact_and_random = 2;
  CHECK(workbook::memory_need(chapter, shape).host == exact_and_random * inputs + largest * sizeof(float) +
                                                          exact_and_random * largest * 2 * sizeof(double));
}

TEST_CASE("memory for timing: stages that do not run at a shape need none") {
  const workbook::Shape long_texts = {{16, 16, 16384, 16384, 128}};  // no stage with a matrix of scores
  CHECK(workbook::memory_need(cpu::attention::chapter(), long_texts).timing < std::size_t{2} << 30);
}

TEST_CASE("verification lets a right stage pass") {
  CHECK(check_stage(run_fused).status == workbook::Status::kOk);
}

TEST_CASE("an int8 that was not written is wrong, whatever it is expected to be") {
  constexpr auto four = [](const workbook::Shape&) { return 4LL; };
  constexpr auto reference = [](const Data&, double* expected, double* magnitude) {
    const double values[] = {-1, -1, 85, 85};  // the bytes of the two poisons
    std::copy_n(values, 4, expected);
    std::fill_n(magnitude, 4, 1.0);
  };
  static constexpr auto kOut = output<signed char>("out", four, reference, {});
  static constexpr const Array* kArrays[] = {&kOut};
  workbook::Chapter chapter = {};
  chapter.name = "int8";
  chapter.dims = "N";
  chapter.arrays = kArrays;
  chapter.fill = [](const Data&) {};
  workbook::Stage stage = {};
  stage.output = {&kOut};
  stage.kernels = 0;
  stage.run = [](const Data&) {};
  stage.roundings = [](const workbook::Shape&) { return 0; };
  const auto backend = workbook::make_cpu_backend();
  Problem problem(chapter, {{4, 1, 1}}, *backend);
  CHECK(problem.check(stage).message == "out[2] is undefined, because no kernel has written it; expected 85");
  stage.run = [](const Data& d) {
    const cpu::Memory::Access open(cpu::memory(), true);
    d[kOut][2] = d[kOut][3] = 85;
  };
  CHECK(problem.check(stage).message == "out[0] is undefined, because no kernel has written it; expected -1");
}

TEST_CASE("a NaN that is expected must have been written") {
  constexpr auto two_blocks = [](const workbook::Shape&) { return 512LL; };
  constexpr auto reference = [](const Data&, double* expected, double* magnitude) {
    std::fill_n(expected, 512, 1.0);
    std::fill_n(expected + 256, 256, NAN);
    std::fill_n(magnitude, 512, 1.0);
  };
  static constexpr auto kIn = input<float>("in", two_blocks);
  static constexpr auto kOut = output<float>("out", two_blocks, reference, {&kIn});
  static constexpr const Array* kArrays[] = {&kIn, &kOut};
  workbook::Chapter chapter = {};
  chapter.name = "nan";
  chapter.dims = "N";
  chapter.arrays = kArrays;
  chapter.fill = [](const Data& d) {
    std::fill_n(d[kIn], 256, 1.0f);
    std::fill_n(d[kIn] + 256, 256, NAN);
  };
  workbook::Stage stage = {};
  stage.output = {&kOut};
  stage.kernels = workbook::kAnyNumber;
  stage.roundings = [](const workbook::Shape&) { return 0; };
  const auto backend = workbook::make_cpu_backend();
  Problem problem(chapter, {{512, 1, 1}}, *backend);
  stage.run = [](const Data& d) { cpu::test_kernels::copy_blocks_checked(d[kIn], d[kOut], 256, 0); };
  CHECK(problem.check(stage).message == "out[256] is NaN, but no kernel has written it");
  stage.run = [](const Data& d) { cpu::test_kernels::copy_blocks_checked(d[kIn], d[kOut], 512, 0); };
  CHECK(problem.check(stage).status == workbook::Status::kOk);
}

TEST_CASE("verification catches what is wrong") {
  const StageResult wrong = check_stage([](const Data& d) {
    run_fused(d);
    const cpu::Memory::Access open(cpu::memory(), true);
    floats(d, "out")[17] += 0.001f;
  });
  CHECK(wrong.status == workbook::Status::kWrong);
  CHECK_THAT(wrong.message, ContainsSubstring("out[17] is "));

  const StageResult nan = check_stage([](const Data& d) {
    run_fused(d);
    const cpu::Memory::Access open(cpu::memory(), true);
    floats(d, "out")[999] = NAN;
  });
  CHECK(nan.status == workbook::Status::kWrong);
  CHECK_THAT(nan.message, ContainsSubstring("out[999] is NaN, expected "));

  const StageResult unwritten = check_stage([](const Data& d) { run_fused_on(d, 999); });
  CHECK(unwritten.status == workbook::Status::kWrong);
  CHECK_THAT(unwritten.message,
             ContainsSubstring("out[999] is NaN, because no kernel has written it; expected "));

  const StageResult outside = check_stage([](const Data& d) { run_fused_on(d, 1001); });
  CHECK(outside.status == workbook::Status::kWrong);
  CHECK_THAT(outside.message, ContainsSubstring("out of bounds: kernel fused"));

  const StageResult launches = check_stage([](const Data& d) {
    run_fused(d);
    run_fused(d);
  });
  CHECK(launches.status == workbook::Status::kWrong);
  CHECK_THAT(launches.message, ContainsSubstring("it launched 2 kernels"));

  const StageResult failing = check_stage([](const Data&) { throw std::runtime_error("it broke"); });
  CHECK(failing.status == workbook::Status::kWrong);
  CHECK(failing.message == "it broke");
}

}  // namespace test_run_stage

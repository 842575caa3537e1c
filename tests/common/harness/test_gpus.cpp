// GPUs that cannot share a problem, which no machine here has: pretended ones.
#include "catch.hpp"
#include "harness/backends/gpus.hpp"
#include "harness/problem.hpp"

namespace cpu::several_gpus {
workbook::Chapter chapter();
}

namespace test_gpus {
namespace {

/// Two GPUs, virtual ones of the CPU device, that do not reach each other's memory.
struct Unconnected : workbook::Backend {
  workbook::DeviceInfo info() const override { return device->info(); }
  int gpus() const override { return 2; }
  std::string kind_of(int gpu) const override { return kinds[gpu]; }
  std::string missing_for(int) const override { return "peer access"; }
  std::size_t free_bytes() const override { return device->free_bytes(); }
  void* allocate(std::size_t bytes, std::size_t misalignment, const std::string& name, std::size_t element,
                 int gpu) override {
    return device->allocate(bytes, misalignment, name, element, gpu);
  }
  void release(void* data) override { device->release(data); }
  void upload(void* to, const void* from, std::size_t bytes) override { device->upload(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { device->download(to, from, bytes); }
  void fill(void* data, unsigned char value, std::size_t bytes) override { device->fill(data, value, bytes); }
  void poison(void* data, unsigned char value, std::size_t n) override { device->poison(data, value, n); }
  bool guards_intact(const void* data) const override { return device->guards_intact(data); }
  workbook::Counts run(const std::function<void()>& stage) override { return device->run(stage); }

  const char* kinds[2] = {"A", "A"};
  std::unique_ptr<workbook::Backend> device = workbook::make_cpu_backend();
};

}  // namespace

TEST_CASE("gpus: without peer access, stages say what they need, and a library's runs") {
  const workbook::Chapter chapter = cpu::several_gpus::chapter();
  Unconnected gpus;
  workbook::Problem problem(chapter, {{2, 3, 64}}, gpus);
  workbook::Stage stage = chapter.stages[0];
  const workbook::StageResult skipped = problem.check(stage);
  CHECK(skipped.status == workbook::Status::kSkipped);
  CHECK(skipped.message == "needs peer access");
  stage.exchanged_by_library = true;
  CHECK(problem.check(stage).status == workbook::Status::kOk);
}

TEST_CASE("gpus: too few, of different kinds, or without a way to each other") {
  Unconnected gpus;
  CHECK(workbook::why_not_shared(gpus, 2).empty());
  CHECK(workbook::why_not_shared(gpus, 3) == "that takes 3 GPUs, and there are 2 here");
  gpus.kinds[1] = "B";
  CHECK(workbook::why_not_shared(gpus, 2) ==
        "GPU 0 is A, GPU 1 is B: all must be of one kind: --gpus or CUDA_VISIBLE_DEVICES chooses them");
  const auto reaches_all_but = [](int from, int to) {
    return [=](int gpu, int other) { return gpu != from || other != to; };
  };
  CHECK(workbook::missing_peer_access(3, reaches_all_but(3, 0)).empty());
  CHECK(workbook::missing_peer_access(3, reaches_all_but(2, 1)) ==
        "peer access (NVLink, or PCIe with it) from GPU 2 to GPU 1");
}

TEST_CASE("gpus: --gpus chooses among those that the environment shows") {
  using workbook::visible_devices;
  CHECK(visible_devices("1,0", nullptr) == "1,0");
  CHECK(visible_devices("2,0", "4,GPU-77,6") == "6,4");
  CHECK_THROWS_WITH(visible_devices("1", "4"), "--gpus 1: CUDA_VISIBLE_DEVICES is 4, which is 1 GPU");
  CHECK_THROWS_WITH(visible_devices("0", ""), "--gpus 0: CUDA_VISIBLE_DEVICES is empty, so there is none");
  CHECK_THROWS_WITH(visible_devices("0,0", nullptr), ContainsSubstring("one part alone"));
  for (const char* wrong : {"", "0,", "a", "-1", "1 2"})
    CHECK_THROWS_WITH(visible_devices(wrong, nullptr), ContainsSubstring("expected numbers of GPUs"));
}

}  // namespace test_gpus

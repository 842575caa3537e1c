// The stages of chapter 07 on a GPU. Without one every test here is reported as skipped, with the reason.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.hpp"
#include "chapters/check_stages.hpp"
#include "chapters/dropout_numbers.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "harness/problem.hpp"

#define DEVICE gpu
#include "kernels/dropout.hpp"
#include "kernels/replay.hpp"

namespace gpu::gelu_dropout {
workbook::Chapter chapter();
}

namespace {

using workbook::Problem;
using workbook::Shape;

workbook::Chapter with(double p, unsigned long long seed, unsigned long long offset) {
  workbook::Chapter chapter = gpu::gelu_dropout::chapter();
  chapter.dropout = {p, seed, offset};
  return chapter;
}

}  // namespace

TEST_CASE("gpu: 07: Philox gives the published answers") {
  const auto gpu = gpu_or_skip();
  for (const KnownAnswer& known : kKnownAnswers) {
    ::gpu::test_kernels::PhiloxInput in;
    std::copy(known.counter.begin(), known.counter.end(), in.counter);
    std::copy(known.key.begin(), known.key.end(), in.key);
    in.rounds = known.rounds;
    auto* input = static_cast<::gpu::test_kernels::PhiloxInput*>(gpu->allocate(sizeof in, 0, "in", 4));
    auto* out = static_cast<unsigned*>(gpu->allocate(16, 0, "out", 4));
    gpu->upload(input, &in, sizeof in);
    gpu->run([&] { ::gpu::test_kernels::philox_numbers(input, out, 1); });
    std::array<unsigned, 4> numbers;
    gpu->download(numbers.data(), out, sizeof numbers);
    CHECK(numbers == known.numbers);
    gpu->release(input);
    gpu->release(out);
  }
}

TEST_CASE("gpu: 07: every stage is right at hostile shapes") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::gelu_dropout::chapter();
  for (const Shape& shape : {Shape{{1, 1, 1}}, Shape{{1, 3, 1}}, Shape{{3, 11, 1}}, Shape{{1, 256, 1}},
                             Shape{{257, 1, 1}}, Shape{{33, 31, 1}}, Shape{{7, 264, 1}}, Shape{{2, 4098, 1}},
                             Shape{{977, 1023, 1}}, Shape{{512, 8192, 1}}}) {
    Problem problem(chapter, shape, *gpu);
    check_stages(chapter, problem, shape, every_stage, no_more);
  }
}

TEST_CASE("gpu: 07: every stage is right with any p, seed and offset") {
  const auto gpu = gpu_or_skip();
  for (const double p : {0.0, 0.1, 0.999, 1.0})
    for (const unsigned long long seed : {0ull, 42ull, ~0ull})
      for (const unsigned long long offset : {0ull, 1ull, 1ull << 32, ~0ull >> 2}) {
        const workbook::Chapter chapter = with(p, seed, offset);
        const Shape shape = {{5, 264, 1}};
        INFO("p = " << p << ", seed " << seed << ", offset " << offset);
        Problem problem(chapter, shape, *gpu);
        check_stages(chapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("gpu: 07: every stage is right at every alignment") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::gelu_dropout::chapter();
  for (const Shape& shape : {Shape{{1, 7, 1}}, Shape{{3, 264, 1}}, Shape{{9, 113, 1}}})
    for (std::size_t x = 0; x < 16; x += 2)
      for (const std::size_t y : {x, std::size_t{0}, std::size_t{6}}) {
        INFO("offsets " << x << " " << y);
        Problem problem(chapter, shape, *gpu, gelu_dropout_offsets(x, y));
        check_stages(chapter, problem, shape, every_stage, no_more);
      }
}

TEST_CASE("gpu: 07: a graph draws the numbers of the offset that memory holds at each replay") {
  const auto gpu = gpu_or_skip();
  const workbook::Chapter chapter = gpu::gelu_dropout::chapter();
  constexpr int n = 4099;
  const unsigned long long offsets[] = {0, 1, 1ull << 32, 0};
  const std::vector<float> ones(n, 1.0f);
  const workbook::NamedArrays arrays = {
      {"x", workbook::Type::kFloat32, gpu->allocate(n * sizeof(float), 0, "x", 4)},
      {"y", workbook::Type::kFloat32, gpu->allocate(n * sizeof(float), 0, "y", 4)},
      {"offset", workbook::Type::kUint32, gpu->allocate(8, 0, "offset", 4)}};
  gpu->upload(arrays[0].data, ones.data(), n * sizeof(float));
  workbook::Data data = {.shape = {{1, n, 1}}, .arrays = &arrays};
  const auto y = [&] {
    std::vector<float> values(n);
    gpu->download(values.data(), arrays[1].data, n * sizeof(float));
    return values;
  };
  std::vector<std::vector<float>> replayed;
  ::gpu::test_kernels::replay([&] { stage_named(chapter, "13_graph").run(data); }, 4,
                              [&](int i) { gpu->upload(arrays[2].data, &offsets[i], 8); },
                              [&](int) { replayed.push_back(y()); });
  for (int i = 0; i < 4; ++i) {
    data.dropout.offset = offsets[i];
    gpu->run([&] { stage_named(chapter, "04_sixteen_bits").run(data); });
    CHECK(replayed[i] == y());
  }
  CHECK(replayed[0] != replayed[1]);
  for (const workbook::NamedArray& array : arrays) gpu->release(array.data);
}

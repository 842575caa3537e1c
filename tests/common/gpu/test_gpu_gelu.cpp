// The fast forms of GELU are exact to the last place of a bfloat16. Without a GPU the test is reported as
// skipped.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "common/gpu/gpu_or_skip.hpp"

namespace gpu::test_kernels {
void fast_gelu(const float* in, float* out, int n, bool tanh);
}

namespace {

double gelu(double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); }
double gelu_tanh(double v) {
  return v / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
}

/// The distance of bfloat16 numbers around `value`; below 2^-100, that at 2^-100.
double last_place(double value) { return std::ldexp(1, std::max(std::ilogb(value), -100) - 7); }

std::vector<float> applied(workbook::Backend& gpu, const std::vector<float>& in, bool tanh) {
  const std::size_t bytes = in.size() * sizeof(float);
  float* arrays[2];
  for (float*& array : arrays) array = static_cast<float*>(gpu.allocate(bytes, 0, "values", sizeof(float)));
  gpu.upload(arrays[0], in.data(), bytes);
  gpu.run([&] { ::gpu::test_kernels::fast_gelu(arrays[0], arrays[1], static_cast<int>(in.size()), tanh); });
  std::vector<float> out(in.size());
  gpu.download(out.data(), arrays[1], bytes);
  for (float* array : arrays) gpu.release(array);
  return out;
}

}  // namespace

TEST_CASE("gpu: fast GELU is exact to a bfloat16's last place, and defined at infinity and NaN") {
  const auto gpu = gpu_or_skip();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in = {infinity, -infinity, 0.0f, -0.0f, 1e30f, -1e30f, std::nanf("")};
  for (int i = -13 << 16; i <= 13 << 16; ++i) in.push_back(std::ldexp(static_cast<float>(i), -16));
  for (const bool tanh : {false, true}) {
    const std::vector<float> out = applied(*gpu, in, tanh);
    CHECK(out[0] == infinity);
    CHECK(out[1] == 0);
    CHECK(out[2] == 0);
    CHECK(out[3] == 0);
    CHECK(out[4] == 1e30f);
    CHECK(out[5] == 0);
    CHECK(std::isnan(out[6]));
    double most_places = 0, most_roundings = 0;
    for (std::size_t i = 7; i < in.size(); ++i) {
      const double expected = tanh ? gelu_tanh(in[i]) : gelu(in[i]), error = std::fabs(out[i] - expected);
      most_places = std::max(most_places, error / last_place(expected));
      if (in[i] != 0) most_roundings = std::max(most_roundings, error / std::fabs(in[i]) * 0x1p24);
    }
    INFO((tanh ? "tanh" : "erf") << ": " << most_places << " last places, " << most_roundings
                                 << " roundings");
    CHECK(most_places < 1.0 / 3);  // before it is rounded, which takes half of one
    CHECK(most_roundings < 8);
  }
}

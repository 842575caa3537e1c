// Chapter 09 without a GPU and without PyTorch: the kernels of its GPU side, on the CPU device, give what the
// loops of its CPU side give, which tests/pytorch compares with PyTorch.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "../chapters/09_pytorch/cpu_gelu.hpp"
#include "../chapters/09_pytorch/formulas.hpp"
#include "../chapters/09_pytorch/interface.hpp"
#include "catch.hpp"
#include "cpu_device/dialect/bfloat16.hpp"
#include "cpu_device/dialect/half.hpp"
#include "tests/cpu_device/device_arrays.hpp"

namespace test_operator_kernels {
namespace {

using Half = cpu::__half;
using BFloat16 = cpu::__nv_bfloat16;

template <class T>
constexpr int kType = std::is_same_v<T, double>  ? kFloat64
                      : std::is_same_v<T, float> ? kFloat32
                      : std::is_same_v<T, Half>  ? kFloat16
                                                 : kBFloat16;
double number(double x) { return x; }
double number(float x) { return x; }
double number(signed char x) { return x; }
double number(Half x) { return cpu::__half2float(x); }
double number(BFloat16 x) { return cpu::__bfloat162float(x); }

template <class T>
T element(double x) {
  if constexpr (std::is_same_v<T, Half>)
    return cpu::__float2half(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return cpu::__float2bfloat16(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// Relative, for numbers above 1: two roundings to 16 bits, or what another order of a sum changes.
template <class T>
constexpr double kTolerance = std::is_same_v<T, double>        ? 1e-11
                              : std::is_same_v<T, float>       ? 1e-4
                              : std::is_same_v<T, Half>        ? 2e-3
                              : std::is_same_v<T, signed char> ? 0
                                                               : 1.6e-2;

/// An array of both sides, with numbers between -2 and 2. If `moved`, it begins one element after a multiple
/// of 16 bytes on the device.
template <class T>
class Both {
 public:
  Both(workbook::Backend& backend, std::size_t count, bool moved, unsigned seed, const char* name)
      : name_(name),
        moved_(moved),
        host_(count),
        device_(std::make_unique<DeviceArray<T>>(backend, count + moved, name)) {
    std::mt19937 generator(seed);
    for (T& x : host_) x = element<T>(generator() / 1073741824.0 - 2);
    backend.upload(there(), host_.data(), count * sizeof(T));
  }
  T* there() const { return device_->data() + moved_; }
  T* here() { return host_.data(); }

  /// Where the sides differ, with the first such place.
  void check() const {
    const std::vector<T> device = device_->values();
    std::size_t differ = 0, first = 0;
    for (std::size_t i = host_.size(); i-- > 0;) {
      const double a = number(device[i + moved_]), b = number(host_[i]);
      if (std::fabs(a - b) <= kTolerance<T> * std::max(1.0, std::fabs(b))) continue;
      ++differ;
      first = i;
    }
    INFO(name_ << "[" << first << "] is " << number(device[first + moved_]) << " and should be "
               << number(host_[first]) << "; " << differ << " of " << host_.size() << " differ");
    CHECK(differ == 0);
  }

 private:
  const char* name_;
  bool moved_;
  std::vector<T> host_;
  std::unique_ptr<DeviceArray<T>> device_;
};

/// The sides of an array, for what makes a task of either.
constexpr auto kHere = [](auto& array) { return array.here(); };
constexpr auto kThere = [](auto& array) { return array.there(); };

struct Fixture {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();
  bool moved = false;
  unsigned seed = 1;

  template <class T>
  Both<T> array(const char* name, std::size_t count) {
    return {*backend, count, moved, ++seed, name};
  }
  static std::size_t size(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
  /// `kernels` returns 0 if all is well.
  template <class Function>
  void run(Function kernels) const {
    backend->run([&] {
      if (kernels()) throw std::runtime_error(workbook_error());
    });
  }
};

/// Calls test(fixture, null pointer to T) for each type, aligned and not.
template <class... T, class Function>
void for_types(Function test) {
  for (const bool moved : {false, true}) {
    const auto one = [&](auto* type) {
      INFO(
          "type " << kType<std::remove_pointer_t<decltype(type)>> << (moved ? ", not aligned" : ", aligned"));
      Fixture f;
      f.moved = moved;
      test(f, type);
    };
    (one(static_cast<T*>(nullptr)), ...);
  }
}

struct Size {
  int rows, columns;
};

TEST_CASE("09: elementwise kernels on the CPU device") {
  const Size size = GENERATE(Size{1, 1}, Size{7, 33}, Size{40, 64});
  const int rows = size.rows, columns = size.columns;
  INFO(rows << " x " << columns);
  for (int formula = kMultiplyAdd; formula <= kBiasGeluTanh; ++formula)
    for_types<double, float, Half, BFloat16>([&]<class T>(Fixture& f, T*) {
      INFO("formula " << formula);
      const int n = rows * columns;
      workbook_ops::with_formula(formula, [&]<class Formula>(Formula) {
        std::vector<Both<T>> in, out;
        in.reserve(Formula::kInputs);
        out.reserve(Formula::kOutputs);
        std::array<const void*, Formula::kInputs> in_here, in_there;
        std::array<void*, Formula::kOutputs> out_here, out_there;
        for (int k = 0; k < Formula::kInputs; ++k) {
          const bool repeats = Formula::kRepeats && k == Formula::kInputs - 1;
          in.push_back(f.array<T>("in", static_cast<std::size_t>(repeats ? columns : n)));
          in_here[k] = in[k].here();
          in_there[k] = in[k].there();
        }
        for (int k = 0; k < Formula::kOutputs; ++k) {
          out.push_back(f.array<T>("out", static_cast<std::size_t>(n)));
          out_here[k] = out[k].here();
          out_there[k] = out[k].there();
        }
        workbook_elementwise_cpu(formula, kType<T>, in_here.data(), out_here.data(), columns, 0, n);
        f.run([&] {
          return workbook_elementwise_cuda(formula, kType<T>, in_there.data(), out_there.data(), columns, n,
                                           nullptr);
        });
        for (const Both<T>& each : out) each.check();
      });
    });
}

TEST_CASE("09: kernels of bias_gelu's backward pass on the CPU device") {
  const Size size = GENERATE(Size{1, 1}, Size{70, 33}, Size{300, 72});
  const int rows = size.rows, columns = size.columns;
  INFO(rows << " x " << columns);
  for (const int use_tanh : {0, 1})
    for_types<double, float, Half, BFloat16>([&]<class T>(Fixture& f, T*) {
      using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const std::size_t n = f.size(rows, columns), width = f.size(1, columns);
      auto grad = f.array<T>("grad", n), x = f.array<T>("x", n), bias = f.array<T>("bias", width),
           dx = f.array<T>("dx", n), dbias = f.array<T>("dbias", width);
      const auto task = [&](auto side, int parts) {
        return WorkbookBiasGelu{use_tanh, kType<T>,   rows,     columns,     parts,  side(grad),
                                side(x),  side(bias), side(dx), side(dbias), nullptr};
      };
      WorkbookBiasGelu here = task(kHere, 1),
                       there = task(kThere, workbook_parts_cuda(kType<T>, rows, columns));
      std::vector<Sum> sums(width);
      here.partial = sums.data();
      DeviceArray<Sum> partial(*f.backend, f.size(there.parts, columns), "partial");
      there.partial = partial.data();
      workbook_bias_gelu_part_cpu(&here, 0);
      workbook_bias_gelu_sum_cpu(&here);
      f.run([&] { return workbook_bias_gelu_backward_cuda(&there, nullptr); });
      dx.check();
      dbias.check();
    });
}

// --- Rows ---

constexpr int kNorms[] = {kLayerNormRelu, kReluLayerNorm, kResidualRmsNorm};

TEST_CASE("09: kernels of the norms on the CPU device") {
  const Size size =
      GENERATE(Size{1, 1}, Size{7, 33}, Size{37, 72}, Size{41, 1000}, Size{3, 4100}, Size{2, 20'008});
  const int rows = size.rows, columns = size.columns;
  INFO(rows << " x " << columns);
  for (const int kind : kNorms)
    for_types<float, Half, BFloat16>([&]<class T>(Fixture& f, T*) {
      INFO("kind " << kind);
      const std::size_t n = f.size(rows, columns), width = f.size(1, columns);
      auto x = f.array<T>("x", n), residual = f.array<T>("residual", n), weight = f.array<T>("weight", width),
           bias = f.array<T>("bias", width), y = f.array<T>("y", n), sum = f.array<T>("sum", n);
      const bool adds = kind == kResidualRmsNorm;
      const auto task = [&](auto side) {
        return WorkbookNorm{kind,
                            kType<T>,
                            rows,
                            columns,
                            1e-5f,
                            side(x),
                            adds ? side(residual) : nullptr,
                            side(weight),
                            adds ? nullptr : side(bias),
                            side(y),
                            adds ? side(sum) : nullptr};
      };
      const WorkbookNorm here = task(kHere), there = task(kThere);
      workbook_norm_cpu(&here, 0, rows);
      f.run([&] { return workbook_norm_cuda(&there, nullptr); });
      y.check();
      if (adds) sum.check();
    });
}

// A row has 8, 16 or 32 lanes or a block; from (8500, 264) on a thread has 32 elements of it. Rows that are
// not aligned, or longer than 8192, are read twice.
TEST_CASE("09: kernels of the norms' backward pass on the CPU device") {
  const Size size = GENERATE(Size{1, 1}, Size{37, 72}, Size{70, 256}, Size{41, 1000}, Size{9, 8184},
                             Size{5, 9000}, Size{8500, 264}, Size{2201, 1000}, Size{300, 8192});
  const int rows = size.rows, columns = size.columns;
  INFO(rows << " x " << columns);
  for (const int kind : kNorms)
    for_types<float, BFloat16>([&]<class T>(Fixture& f, T*) {
      if (rows > 100 && f.moved) return;
      INFO("kind " << kind);
      const bool adds = kind == kResidualRmsNorm;
      const std::size_t n = f.size(rows, columns), width = f.size(1, columns);
      auto grad = f.array<T>("grad", n), grad_sum = f.array<T>("grad_sum", n), x = f.array<T>("x", n),
           weight = f.array<T>("weight", width), bias = f.array<T>("bias", width), dx = f.array<T>("dx", n),
           dweight = f.array<T>("dweight", width), dbias = f.array<T>("dbias", width);
      const bool has_grad_sum = adds && rows > 40;  // with and without
      const auto task = [&](auto side) {
        return WorkbookNormBackward{kind,
                                    kType<T>,
                                    rows,
                                    columns,
                                    std::min(rows, 64),
                                    1e-5f,
                                    side(grad),
                                    has_grad_sum ? side(grad_sum) : nullptr,
                                    side(x),
                                    side(weight),
                                    side(bias),
                                    side(dx),
                                    side(dweight),
                                    adds ? nullptr : side(dbias),
                                    nullptr,
                                    nullptr};
      };
      WorkbookNormBackward here = task(kHere), there = task(kThere);
      there.parts = workbook_norm_parts_cuda(&there);
      std::vector<float> sums(f.size(2 * here.parts, columns));
      here.partial = sums.data();
      const DeviceArray<float> partial(*f.backend, f.size(2 * there.parts, columns), "partial"),
          moments(*f.backend, f.size(2, rows), "moments");
      there.partial = partial.data();
      there.moments = moments.data();
      for (int part = 0; part < here.parts; ++part) workbook_norm_backward_part_cpu(&here, part);
      workbook_norm_backward_sum_cpu(&here);
      f.run([&] { return workbook_norm_backward_cuda(&there, nullptr); });
      dx.check();
      dweight.check();
      if (!adds) dbias.check();
    });
}

TEST_CASE("09: kernels of quantisation on the CPU device") {
  const Size size =
      GENERATE(Size{1, 1}, Size{7, 33}, Size{37, 72}, Size{41, 1000}, Size{3, 4100}, Size{2, 20'008});
  const int rows = size.rows, columns = size.columns;
  INFO(rows << " x " << columns);
  for_types<float, Half, BFloat16>([&]<class T>(Fixture& f, T*) {
    const std::size_t n = f.size(rows, columns);
    auto x = f.array<T>("x", n);
    auto q = f.array<signed char>("q", n);
    auto scales = f.array<float>("scales", f.size(1, rows));
    const auto task = [&](auto side) {
      return WorkbookQuantize{kType<T>, rows * columns, 0.05f, 3, side(x), side(q)};
    };
    const WorkbookQuantize here = task(kHere), there = task(kThere);
    workbook_quantize_cpu(&here, 0, rows * columns);
    f.run([&] { return workbook_quantize_cuda(&there, nullptr); });
    q.check();
    const auto rows_task = [&](auto side) {
      return WorkbookQuantizeRows{kType<T>, rows, columns, side(x), side(q), side(scales)};
    };
    const WorkbookQuantizeRows rows_here = rows_task(kHere), rows_there = rows_task(kThere);
    workbook_quantize_rows_cpu(&rows_here, 0, rows);
    f.run([&] { return workbook_quantize_rows_cuda(&rows_there, nullptr); });
    q.check();
    scales.check();
  });
}

// --- Reductions ---

struct Lines {
  int outer, size, inner;
};

TEST_CASE("09: kernels of reductions on the CPU device") {
  const Lines shape = GENERATE(Lines{1, 1, 1}, Lines{7, 33, 1}, Lines{3, 20'000, 1}, Lines{1, 700, 40},
                               Lines{1, 5000, 72}, Lines{3, 33, 6}, Lines{2, 500, 8});
  const int outer = shape.outer, size = shape.size, inner = shape.inner;
  INFO(outer << " x " << size << " x " << inner);
  for (const int kind : {kSumOfSquares, kMeanAbs})
    for_types<double, float, Half, BFloat16>([&]<class T>(Fixture& f, T*) {
      INFO("kind " << kind);
      using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const std::size_t lines = f.size(outer, inner), n = lines * f.size(1, size);
      auto x = f.array<T>("x", n), out = f.array<T>("out", lines), grad = f.array<T>("grad", lines),
           dx = f.array<T>("dx", n);
      const auto task = [&](auto side) {
        return WorkbookReduction{kind, kType<T>, outer, size, inner, 1, side(x), side(out), nullptr};
      };
      WorkbookReduction here = task(kHere), there = task(kThere);
      there.parts = workbook_reduction_parts_cuda(&there);
      const DeviceArray<Sum> partial(*f.backend, lines * f.size(1, there.parts), "partial");
      there.partial = partial.data();
      workbook_reduction_cpu(&here, 0, static_cast<int>(lines));
      f.run([&] { return workbook_reduction_cuda(&there, nullptr); });
      out.check();
      const auto back = [&](auto side) {
        return WorkbookReductionBackward{kind, kType<T>, outer, size, inner, side(grad), side(x), side(dx)};
      };
      const WorkbookReductionBackward back_here = back(kHere), back_there = back(kThere);
      workbook_reduction_backward_cpu(&back_here, 0, static_cast<int>(n));
      f.run([&] { return workbook_reduction_backward_cuda(&back_there, nullptr); });
      dx.check();
    });
}

TEST_CASE("GELU of the CPU's loops: at most 1.4 v 2^-24 off, 10 units in the last place from -3 on") {
  double most = 0, most_units = 0, most_of_slope = 0;
  for (std::uint32_t bits = 0x30000000; bits < 0x42000000; bits += 61) {  // from 5e-10 to 32
    const float size = std::bit_cast<float>(bits);
    for (const float v : {size, -size}) {
      const double distribution = 0.5 * std::erfc(-double{v} * std::sqrt(0.5));
      const double error = std::abs(workbook_ops::cpu_gelu(v) - v * distribution);
      most = std::max(most, error / (size * 0x1p-24));
      if (v > -3) most_units = std::max(most_units, error / std::abs(v * distribution) / 0x1p-23);
      const double slope =
          distribution + v * std::exp(-0.5 * double{v} * v) / std::sqrt(2 * 3.14159265358979323846);
      most_of_slope = std::max(most_of_slope, std::abs(workbook_ops::cpu_gelu_slope(v) - slope) / 0x1p-24);
    }
  }
  CHECK(most < 1.4);
  CHECK(most_units < 10);
  CHECK(most_of_slope < 4);
  for (const float v : {0.0f, 1e-40f, 9.0f, 100.0f, INFINITY})
    CHECK(workbook_ops::cpu_gelu(v) == (v == 1e-40f ? 5e-41f : v));
  for (const float v : {-0.0f, -9.0f, -100.0f, -INFINITY}) CHECK(workbook_ops::cpu_gelu(v) == 0);
  CHECK(workbook_ops::cpu_gelu_slope(INFINITY) == 1);
  CHECK(workbook_ops::cpu_gelu_slope(-INFINITY) == 0);
  CHECK((std::isnan(workbook_ops::cpu_gelu(NAN)) && std::isnan(workbook_ops::cpu_gelu_slope(NAN))));
}

}  // namespace
}  // namespace test_operator_kernels

/// \file
/// The counted kernels on the CPU device.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "kernels/counted.hpp"
#include "kernels/counted_tensor.hpp"
#include "tests/cpu_device/device_arrays.hpp"

/// All counted kernels, in the order in which they run on a GPU.
inline std::vector<cpu::test_kernels::CountedKernel> counted_kernels() {
  std::vector<cpu::test_kernels::CountedKernel> all;
  for (const auto& kernels :
       {cpu::test_kernels::counted_kernels(), cpu::test_kernels::counted_tensor_kernels()})
    all.insert(all.end(), kernels.first, kernels.first + kernels.count);
  return all;
}

/// The four arrays of the counted kernels, filled as tests/counters.py has them on a GPU.
class CountedOnCpu {
 public:
  explicit CountedOnCpu(std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend())
      : backend_(std::move(backend)) {
    std::vector<float> a(kSize), b(kSize);
    std::vector<int> c(kSize);
    cpu::test_kernels::counted_inputs(a.data(), b.data(), c.data());
    backend_->upload(a_.data(), a.data(), kSize * sizeof(float));
    backend_->upload(b_.data(), b.data(), kSize * sizeof(float));
    backend_->upload(c_.data(), c.data(), kSize * sizeof(int));
    backend_->fill(out_.data(), 0, kSize * sizeof(float));
  }

  workbook::Counts run(const cpu::test_kernels::CountedKernel& kernel) {
    return backend_->run([&] { kernel.run(a_.data(), b_.data(), c_.data(), out_.data()); });
  }

  /// Whether all arrays have the same bytes as the other's.
  bool has_arrays_of(const CountedOnCpu& other) const {
    const auto same = [](const DeviceArray<float>& one, const DeviceArray<float>& two) {
      return std::memcmp(one.values().data(), two.values().data(), kSize * sizeof(float)) == 0;
    };
    return same(a_, other.a_) && same(b_, other.b_) && same(c_, other.c_) && same(out_, other.out_);
  }

 private:
  static constexpr std::size_t kSize = cpu::test_kernels::kCountedSize;

  std::unique_ptr<workbook::Backend> backend_;
  DeviceArray<float> a_{*backend_, kSize, "a"}, b_{*backend_, kSize, "b"}, c_{*backend_, kSize, "c"},
      out_{*backend_, kSize, "out"};
};

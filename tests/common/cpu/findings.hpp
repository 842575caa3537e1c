/// \file
/// For tests of the CPU device: arrays, and the finding of a kernel whose correct twin has none.
#pragma once

#include "catch.hpp"
#include "common/cpu/device_arrays.hpp"
#include "cpu/finding.hpp"

struct Findings {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();

  template <class T>
  std::unique_ptr<DeviceArray<T>> counting(std::size_t count, const std::string& name = "array") {
    return DeviceArray<T>::counting(*backend, count, name);
  }
  template <class T>
  std::unique_ptr<DeviceArray<T>> zeros(std::size_t count) {
    auto array = std::make_unique<DeviceArray<T>>(*backend, count);
    backend->fill(array->data(), 0, count * sizeof(T));
    return array;
  }

  /// The finding of `kernel(false)`; `kernel(true)`, the correct twin, must have none.
  template <class Kernel>
  std::string finding(Kernel kernel) {
    CHECK_NOTHROW(backend->run([&] { kernel(true); }));
    try {
      backend->run([&] { kernel(false); });
    } catch (const cpu::Finding& found) {
      return found.what();
    }
    FAIL("the mistake was not found");
    return "";
  }
};

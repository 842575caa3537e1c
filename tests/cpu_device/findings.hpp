/// \file
/// For tests of the CPU device: arrays, and the finding of a kernel whose correct twin has none.
#pragma once

#include "catch.hpp"
#include "cpu_device/findings/finding.hpp"
#include "tests/cpu_device/device_arrays.hpp"

/// The finding that `code` ends in, or "".
template <class Code>
std::string finding_of(workbook::Backend& backend, Code code) {
  try {
    backend.run(code);
  } catch (const cpu::Finding& found) {
    return found.what();
  }
  return "";
}

struct Findings {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();

  template <class T>
  std::unique_ptr<DeviceArray<T>> counting(std::size_t count, const std::string& name = "array") {
    return DeviceArray<T>::counting(*backend, count, name);
  }
  template <class T>
  std::unique_ptr<DeviceArray<T>> zeros(std::size_t count, const std::string& name = "array") {
    return upload(std::vector<T>(count), name);
  }
  template <class T>
  std::unique_ptr<DeviceArray<T>> upload(const std::vector<T>& values, const std::string& name = "array") {
    return DeviceArray<T>::of(*backend, values, name);
  }

  /// The finding of `kernel(false)`; `kernel(true)`, the correct twin, must have none.
  template <class Kernel>
  std::string finding(Kernel kernel) {
    CHECK_NOTHROW(backend->run([&] { kernel(true); }));
    const std::string message = finding_of(*backend, [&] { kernel(false); });
    INFO("a mistake that is not found");
    REQUIRE(message != "");
    return message;
  }
};

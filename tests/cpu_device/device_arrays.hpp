/// \file
/// Arrays on the CPU device for tests.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "harness/backends/backend.hpp"

/// `count` elements on the CPU device, released with the object.
template <class T>
class DeviceArray {
 public:
  DeviceArray(workbook::Backend& backend, std::size_t count, const std::string& name = "array", int gpu = 0)
      : backend_(backend),
        count_(count),
        data_(static_cast<T*>(backend.allocate(count * sizeof(T), 0, name, sizeof(T), gpu))) {}
  /// The elements 0, 1, 2 ...
  static std::unique_ptr<DeviceArray> counting(workbook::Backend& backend, std::size_t count,
                                               const std::string& name = "array") {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i);
    return of(backend, values, name);
  }
  static std::unique_ptr<DeviceArray> of(workbook::Backend& backend, const std::vector<T>& values,
                                         const std::string& name = "array") {
    auto array = std::make_unique<DeviceArray>(backend, values.size(), name);
    backend.upload(array->data(), values.data(), values.size() * sizeof(T));
    return array;
  }
  ~DeviceArray() { backend_.release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    backend_.download(values.data(), data_, count_ * sizeof(T));
    return values;
  }

 private:
  workbook::Backend& backend_;
  std::size_t count_;
  T* data_;
};

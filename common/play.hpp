/// \file
/// Included by files for the command "play" of the workbook. Such a file has kernels as everywhere, arrays in
/// device memory, and a function
///
///     namespace DEVICE {
///     void play() { ... }
///     }
///
/// that fills arrays and launches kernels, on the CPU device or a GPU.
#pragma once

#include "device.hpp"
#include "play_memory.hpp"

namespace DEVICE {

/// `count` elements of device memory. Messages call them by `name`.
template <class T>
class Array {
 public:
  /// Elements that nothing has written to.
  Array(const char* name, int count)
      : name_(name),
        count_(count),
        data_(static_cast<T*>(workbook::play::allocate(name, count, sizeof(T)))) {}
  /// Element i is `value_of(i)`.
  template <class ValueOf>
  Array(const char* name, int count, ValueOf value_of) : Array(name, count) {
    T* const host = new T[static_cast<size_t>(count)];
    for (int i = 0; i < count; ++i) host[i] = static_cast<T>(value_of(i));
    workbook::play::upload(data_, host, static_cast<size_t>(count) * sizeof(T));
    delete[] host;
  }
  ~Array() { workbook::play::release(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// The device's pointer, for a kernel.
  T* data() const { return data_; }

  /// Prints the first elements.
  void print(int most = 8) const {
    const int most_printed = most < 0 ? 0 : most, printed = most_printed < count_ ? most_printed : count_;
    T* const host = new T[static_cast<size_t>(printed)];
    double* const numbers = new double[static_cast<size_t>(printed)];
    workbook::play::download(host, data_, static_cast<size_t>(printed) * sizeof(T));
    for (int i = 0; i < printed; ++i) numbers[i] = static_cast<double>(static_cast<float>(host[i]));
    workbook::play::print(name_, numbers, printed, count_);
    delete[] numbers;
    delete[] host;
  }

 private:
  const char* name_;
  int count_;
  T* data_;
};

}  // namespace DEVICE

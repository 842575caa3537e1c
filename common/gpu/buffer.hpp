/// \file
/// Device memory that belongs to one owner.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "gpu/error.hpp"

namespace gpu {

/// An array in device memory. It can be moved but not copied: copying device memory is a transfer, which
/// the program should state.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  /// `count` elements, not initialised. \throws std::bad_alloc when the GPU's memory is short, gpu::Error
  explicit Buffer(std::size_t count) : count_(count) {
    if (!count) return;
    const cudaError_t status = cudaMalloc(&data_, count * sizeof(T));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // It has been dealt with: the next launch must not find it.
      throw std::bad_alloc();
    }
    check(status, "cudaMalloc");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace gpu

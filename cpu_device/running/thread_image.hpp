/// \file
/// What decides, together with memory, what a kernel's thread does next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu {

/// The registers and the stack of a thread that has just called the device. Registers that a call does not
/// preserve hold nothing that the thread still needs.
struct ThreadImage {
  std::uintptr_t stack_pointer = 0;
  std::array<std::uintptr_t, 6> registers{};
  std::vector<std::byte> stack;  ///< from the stack pointer to the top

  friend bool operator==(const ThreadImage&, const ThreadImage&) = default;
};

/// Takes the image of the running thread as it is in the function that the device returns to at
/// `return_address`, on the stack that ends at `stack_top`. Returns whether it could: only on x86-64, because
/// elsewhere registers for floating-point numbers are preserved as well.
bool take_image(ThreadImage& image, std::uintptr_t return_address, const void* stack_top);

}  // namespace cpu

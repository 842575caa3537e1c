#include "cpu_device/running/thread_image.hpp"

#include <unwind.h>

namespace cpu {
#if defined(__x86_64__)
namespace {

struct ImageSearch {
  ThreadImage& image;
  std::uintptr_t return_address;
  bool found = false;
};

/// Called for each function on the stack, innermost first, until the kernel's is reached.
_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* data) {
  auto& search = *static_cast<ImageSearch*>(data);
  if (_Unwind_GetIP(frame) != search.return_address) return _URC_NO_REASON;
  // The registers that a call preserves (System V ABI for AMD64, figures 3.4 and 3.36): rbx, rbp, r12 to r15.
  constexpr int kPreserved[] = {3, 6, 12, 13, 14, 15};
  for (std::size_t i = 0; i < std::size(kPreserved); ++i)
    search.image.registers[i] = _Unwind_GetGR(frame, kPreserved[i]);
  search.image.stack_pointer = _Unwind_GetCFA(frame);
  search.found = true;
  return _URC_NORMAL_STOP;
}

}  // namespace

bool take_image(ThreadImage& image, std::uintptr_t return_address, const void* stack_top) {
  ImageSearch search = {image, return_address};
  _Unwind_Backtrace(look_at_frame, &search);
  if (!search.found) return false;
  const auto* begin = reinterpret_cast<const std::byte*>(image.stack_pointer);
  image.stack.assign(begin, static_cast<const std::byte*>(stack_top));
  return true;
}
#else
bool take_image(ThreadImage&, std::uintptr_t, const void*) { return false; }
#endif

}  // namespace cpu

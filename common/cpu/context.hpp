/// \file
/// Switches from one stack to another, as Boost.Context has them.
#pragma once

#include <boost/context/detail/fcontext.hpp>

namespace cpu {

using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

#if defined(__x86_64__)

// Boost's also save and load the control words of floating point. That takes three times as long as the rest,
// and no thread changes them.

/// A context that calls `body` on the stack that ends at `stack_top`, a multiple of 16.
inline fcontext_t make_context(void* stack_top, void (*body)(transfer_t)) {
  auto** const frame = static_cast<void**>(stack_top) - 8;  // six registers, `body`, its return address
  for (int i = 0; i < 8; ++i) frame[i] = nullptr;
  frame[6] = reinterpret_cast<void*>(body);
  return frame;
}
/// Continues `to`, which gets `data` and the context that it comes from.
extern "C" transfer_t cpu_switch_context(fcontext_t to, void* data);
inline transfer_t switch_context(fcontext_t to, void* data) { return cpu_switch_context(to, data); }

#else

inline fcontext_t make_context(void* stack_top, void (*body)(transfer_t)) {
  return boost::context::detail::make_fcontext(stack_top, 0, body);
}
inline transfer_t switch_context(fcontext_t to, void* data) {
  return boost::context::detail::jump_fcontext(to, data);
}

#endif

}  // namespace cpu

#include "cpu/context.hpp"

#if defined(__x86_64__)

// The registers that a function must keep are on its stack, the stack pointer is the context.
asm(R"(
  .text
  .globl cpu_switch_context
  .type cpu_switch_context, @function
cpu_switch_context:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, %rax
  mov %rdi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  pop %r8
  mov %rsi, %rdx  # the result, where `to` was suspended in this function
  mov %rax, %rdi  # the argument, where it begins
  jmp *%r8
  .size cpu_switch_context, . - cpu_switch_context
)");

#endif

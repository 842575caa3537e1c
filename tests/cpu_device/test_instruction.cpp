// The decoder of machine instructions: their sizes, and where they lead.
#include <vector>

#include "catch.hpp"
#include "cpu_device/program_image/instruction.hpp"

namespace test_instruction {
namespace {

using cpu::Instruction;
using Flow = Instruction::Flow;

struct Case {
  const char* text;
  std::vector<unsigned char> code;
  Flow flow = Flow::kNext;
  long distance = 0;  ///< of the target, from the start of the instruction
};

// As GNU objdump 2.40 prints them.
const Case kX86[] = {
    {"push %rbp", {0x55}},
    {"push %r15", {0x41, 0x57}},
    {"mov %rdi,%rbp", {0x48, 0x89, 0xfd}},
    {"mov %rdx,0x8(%rsp)", {0x48, 0x89, 0x54, 0x24, 0x08}},
    {"mov 0x12345678(%rax),%eax", {0x8b, 0x80, 0x78, 0x56, 0x34, 0x12}},
    {"mov 0x0(%rip),%rax", {0x48, 0x8b, 0x05, 0, 0, 0, 0}},
    {"lea 0x0(,%r14,4),%rax", {0x4a, 0x8d, 0x04, 0xb5, 0, 0, 0, 0}},
    {"movabs $0x1,%rax", {0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0}},
    {"mov $0x1,%eax", {0xb8, 1, 0, 0, 0}},
    {"movw $0x1,(%rax)", {0x66, 0xc7, 0x00, 0x01, 0x00}},
    {"movl $0x0,0x4(%rsp)", {0xc7, 0x44, 0x24, 0x04, 0, 0, 0, 0}},
    {"testb $0x1,(%rbx)", {0xf6, 0x03, 0x01}},
    {"neg %eax", {0xf7, 0xd8}},
    {"test $0x1,%edi", {0xf7, 0xc7, 1, 0, 0, 0}},
    {"imul $0x3,%eax,%eax", {0x6b, 0xc0, 0x03}},
    {"cs nopw 0x0(%rax,%rax,1)", {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}},
    {"addss 0x0(%rbp),%xmm0", {0xf3, 0x0f, 0x58, 0x45, 0x00}},
    {"shufps $0x0,%xmm0,%xmm0", {0x0f, 0xc6, 0xc0, 0x00}},
    {"pshufb %xmm1,%xmm0", {0x66, 0x0f, 0x38, 0x00, 0xc1}},
    {"roundss $0x4,%xmm0,%xmm0", {0x66, 0x0f, 0x3a, 0x0a, 0xc0, 0x04}},
    {"lock cmpxchg %ecx,(%rdx)", {0xf0, 0x0f, 0xb1, 0x0a}},
    {"vaddps %ymm1,%ymm2,%ymm3", {0xc5, 0xec, 0x58, 0xd9}},
    {"vfmadd213ss (%rax),%xmm1,%xmm0", {0xc4, 0xe2, 0x71, 0xa9, 0x00}},
    {"vinsertf128 $0x1,%xmm1,%ymm0,%ymm0", {0xc4, 0xe3, 0x7d, 0x18, 0xc1, 0x01}},
    {"je .+2", {0x74, 0x00}, Flow::kBranch, 2},
    {"jne .-16", {0x75, 0xee}, Flow::kBranch, -16},
    {"jge .+0x100", {0x0f, 0x8d, 0xfa, 0, 0, 0}, Flow::kBranch, 0x100},
    {"jrcxz .", {0xe3, 0xfe}, Flow::kBranch, 0},
    {"jmp .-0x100", {0xe9, 0xfb, 0xfe, 0xff, 0xff}, Flow::kJump, -0x100},
    {"jmp .+0x20", {0xeb, 0x1e}, Flow::kJump, 0x20},
    {"call .+0x1000", {0xe8, 0xfb, 0x0f, 0, 0}, Flow::kCall, 0x1000},
    {"call *%rax", {0xff, 0xd0}, Flow::kCall},
    {"notrack jmp *%rax", {0x3e, 0xff, 0xe0}, Flow::kUnknown},
    {"inc %eax", {0xff, 0xc0}},
    {"ret", {0xc3}, Flow::kEnd},
    {"ud2", {0x0f, 0x0b}, Flow::kEnd},
};

// As LLVM's objdump 14 prints them.
const Case kAArch64[] = {
    {"b .", {0x00, 0x00, 0x00, 0x14}, Flow::kJump, 0},
    {"bl .-4", {0xff, 0xff, 0xff, 0x97}, Flow::kCall, -4},
    {"b.ne .+8", {0x41, 0x00, 0x00, 0x54}, Flow::kBranch, 8},
    {"cbz x0, .-12", {0xa0, 0xff, 0xff, 0xb4}, Flow::kBranch, -12},
    {"cbnz w1, .+48", {0x81, 0x01, 0x00, 0x35}, Flow::kBranch, 48},
    {"tbz w2, #3, .-20", {0x62, 0xff, 0x1f, 0x36}, Flow::kBranch, -20},
    {"tbnz x3, #40, .+8", {0x43, 0x00, 0x40, 0xb7}, Flow::kBranch, 8},
    {"br x17", {0x20, 0x02, 0x1f, 0xd6}, Flow::kUnknown},
    {"blr x8", {0x00, 0x01, 0x3f, 0xd6}, Flow::kCall},
    {"ret", {0xc0, 0x03, 0x5f, 0xd6}, Flow::kEnd},
    {"brk #0x1", {0x20, 0x00, 0x20, 0xd4}, Flow::kEnd},
    {"udf #0", {0x00, 0x00, 0x00, 0x00}, Flow::kEnd},
    {"ldr x0, [x1]", {0x20, 0x00, 0x40, 0xf9}},
    {"nop", {0x1f, 0x20, 0x03, 0xd5}},
    {"paciasp", {0x3f, 0x23, 0x03, 0xd5}},
};

template <class Decode>
void check(const Case& c, Decode decode) {
  INFO(c.text);
  std::vector<unsigned char> code = c.code;
  code.resize(code.size() + 16, 0x0f);  // what comes next must not matter
  const Instruction decoded = decode(code.data(), code.size());
  CHECK(decoded.size == c.code.size());
  CHECK(decoded.flow == c.flow);
  const bool leads =
      c.flow == Flow::kBranch || c.flow == Flow::kJump || (c.flow == Flow::kCall && decoded.target);
  const auto begin = reinterpret_cast<std::uintptr_t>(code.data());
  CHECK(static_cast<long>(decoded.target - (leads ? begin : 0)) == c.distance);
  CHECK(decode(code.data(), c.code.size() - 1).size == 0);  // cut off
}

}  // namespace

TEST_CASE("instructions of x86-64: sizes, and where they lead", "[branches]") {
  for (const Case& c : kX86) check(c, cpu::decode_x86_64);
}

TEST_CASE("instructions of AArch64: where they lead", "[branches]") {
  for (const Case& c : kAArch64) check(c, cpu::decode_aarch64);
}

}  // namespace test_instruction

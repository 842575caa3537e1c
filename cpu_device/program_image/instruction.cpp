#include "cpu_device/program_image/instruction.hpp"

#include <cstring>

namespace cpu {
namespace {

using Flow = Instruction::Flow;

/// Reads an instruction of x86-64 byte by byte. The names are those of the Intel 64 and IA-32 Architectures
/// Software Developer's Manual, volume 2, chapter 2 and appendix A.
class X86Decoder {
 public:
  X86Decoder(const unsigned char* code, std::size_t bytes) : begin_(code), at_(code), end_(code + bytes) {}

  Instruction decode() {
    unsigned char byte = prefixes();
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
      vector_instruction(byte);
    } else if (byte == 0x0f) {
      two_byte_opcode(next());
    } else {
      one_byte_opcode(byte);
    }
    if (at_ > end_ || !known_) return {};
    result_.size = static_cast<unsigned>(at_ - begin_);
    return result_;
  }

 private:
  unsigned char next() {
    const unsigned char byte = at_ < end_ ? *at_ : 0;
    ++at_;
    return byte;
  }

  /// Skips the prefixes and returns the first byte of the opcode.
  unsigned char prefixes() {
    for (;;) {
      const unsigned char byte = next();
      switch (byte) {
        case 0x66:
          operand_16_bits_ = true;
          break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:  // segments
        case 0x67:
        case 0xf0:
        case 0xf2:
        case 0xf3:
          break;
        default:
          if ((byte & 0xf0) != 0x40) return byte;
          rex_w_ = byte & 8;
          return next();
      }
      if (at_ >= end_) return 0x06;  // no instruction of 64-bit mode
    }
  }

  /// The ModRM byte with its SIB byte and displacement. Returns the field reg.
  unsigned mod_rm() {
    const unsigned char byte = next();
    const unsigned mod = byte >> 6, rm = byte & 7;
    if (mod == 3) return byte >> 3 & 7;
    const bool no_base = rm == 4 ? (next() & 7) == 5 : rm == 5;
    if (mod == 1) at_ += 1;
    if (mod == 2 || (mod == 0 && no_base)) at_ += 4;
    return byte >> 3 & 7;
  }

  unsigned immediate_size() const { return operand_16_bits_ && !rex_w_ ? 2 : 4; }

  /// A distance from the end of the instruction, which it ends with.
  void leads_to(Flow flow, unsigned distance_size) {
    std::int32_t distance = 0;
    if (at_ + distance_size <= end_) {
      if (distance_size == 1) {
        distance = static_cast<signed char>(*at_);
      } else {
        std::memcpy(&distance, at_, sizeof distance);
      }
    }
    at_ += distance_size;
    result_ = {flow, 0,
               reinterpret_cast<std::uintptr_t>(at_) + static_cast<std::uintptr_t>(std::intptr_t{distance})};
  }

  void vector_instruction(unsigned char kind) {
    unsigned map = 1;
    if (kind == 0xc5) {
      at_ += 1;
    } else {
      map = next() & (kind == 0x62 ? 7 : 31);
      at_ += kind == 0x62 ? 2 : 1;
    }
    const unsigned char opcode = next();
    if (map == 1 && opcode == 0x77) return;  // vzeroupper
    mod_rm();
    const bool shuffles =
        opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || (opcode >= 0x70 && opcode <= 0x73);
    if (map == 3 || (map == 1 && shuffles)) at_ += 1;
  }

  void two_byte_opcode(unsigned char opcode) {
    if (opcode == 0x38) {
      at_ += 1;
      mod_rm();
    } else if (opcode == 0x3a) {
      at_ += 1;
      mod_rm();
      at_ += 1;
    } else if (opcode >= 0x80 && opcode <= 0x8f) {
      leads_to(Flow::kBranch, 4);
    } else if (opcode == 0x0b) {
      result_.flow = Flow::kEnd;  // ud2
    } else if ((opcode >= 0x04 && opcode <= 0x09) || (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 ||
               (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa8 && opcode <= 0xaa) ||
               (opcode >= 0xc8 && opcode <= 0xcf)) {
      // No operands in memory: rdtsc, emms, cpuid, push, pop, bswap and their like.
    } else {
      mod_rm();
      const bool has_byte = (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
                            opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
      if (has_byte) at_ += 1;
    }
  }

  void one_byte_opcode(unsigned char opcode) {
    if (opcode < 0x40) return arithmetic(opcode);
    if (opcode >= 0x50 && opcode <= 0x5f) return;  // push, pop
    if (opcode >= 0x70 && opcode <= 0x7f) return leads_to(Flow::kBranch, 1);
    if (opcode >= 0x84 && opcode <= 0x8f) return static_cast<void>(mod_rm());
    if (opcode >= 0x90 && opcode <= 0x9f && opcode != 0x9a) return;
    if (opcode >= 0xa0 && opcode <= 0xa3) return static_cast<void>(at_ += 8);
    if (opcode >= 0xb0 && opcode <= 0xb7) return static_cast<void>(at_ += 1);
    if (opcode >= 0xb8 && opcode <= 0xbf) return static_cast<void>(at_ += rex_w_ ? 8 : immediate_size());
    if (opcode >= 0xd8 && opcode <= 0xdf) return static_cast<void>(mod_rm());
    if (opcode >= 0xe0 && opcode <= 0xe3) return leads_to(Flow::kBranch, 1);
    switch (opcode) {
      case 0x63:
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
      case 0xfe:
        mod_rm();
        return;
      case 0x68:
      case 0xa9:
        at_ += immediate_size();
        return;
      case 0x69:
      case 0x81:
      case 0xc7:
        mod_rm();
        at_ += immediate_size();
        return;
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xc0:
      case 0xc1:
      case 0xc6:
        mod_rm();
        at_ += 1;
        return;
      case 0x6a:
      case 0xa8:
      case 0xcd:
      case 0xe4:
      case 0xe5:
      case 0xe6:
      case 0xe7:
        at_ += 1;
        return;
      case 0x6c:
      case 0x6d:
      case 0x6e:
      case 0x6f:
      case 0xa4:
      case 0xa5:
      case 0xa6:
      case 0xa7:
      case 0xaa:
      case 0xab:
      case 0xac:
      case 0xad:
      case 0xae:
      case 0xaf:
      case 0xc9:
      case 0xec:
      case 0xed:
      case 0xee:
      case 0xef:
      case 0xf5:
      case 0xf8:
      case 0xf9:
      case 0xfa:
      case 0xfb:
      case 0xfc:
      case 0xfd:
        return;
      case 0xc2:
        at_ += 2;
        [[fallthrough]];
      case 0xc3:
      case 0xcc:
      case 0xf4:  // ret, int3, hlt
        result_.flow = Flow::kEnd;
        return;
      case 0xe8:
        return leads_to(Flow::kCall, 4);
      case 0xe9:
        return leads_to(Flow::kJump, 4);
      case 0xeb:
        return leads_to(Flow::kJump, 1);
      case 0xf6:
        if (mod_rm() < 2) at_ += 1;
        return;
      case 0xf7:
        if (mod_rm() < 2) at_ += immediate_size();
        return;
      case 0xff: {
        const unsigned reg = mod_rm();
        if (reg == 2 || reg == 3) result_.flow = Flow::kCall;
        if (reg == 4 || reg == 5) result_.flow = Flow::kUnknown;
        return;
      }
      default:
        known_ = false;
    }
  }

  void arithmetic(unsigned char opcode) {
    const unsigned form = opcode & 7;
    if (form < 4) {
      mod_rm();
    } else if (form == 4) {
      at_ += 1;
    } else if (form == 5) {
      at_ += immediate_size();
    } else {
      known_ = false;
    }
  }

  const unsigned char *begin_, *at_, *end_;
  bool operand_16_bits_ = false, rex_w_ = false, known_ = true;
  Instruction result_ = {Flow::kNext, 0, 0};
};

}  // namespace

Instruction decode_x86_64(const unsigned char* code, std::size_t bytes) {
  return X86Decoder(code, bytes).decode();
}

// Arm Architecture Reference Manual for A-profile, section C4.1.65 "Branches, Exception Generating and System
// instructions".
Instruction decode_aarch64(const unsigned char* code, std::size_t bytes) {
  std::uint32_t word;
  if (bytes < sizeof word) return {};
  std::memcpy(&word, code, sizeof word);
  // A distance in instructions, `width` bits from bit `low` on.
  const auto leads_to = [&](Flow flow, unsigned low, unsigned width) {
    const auto distance = static_cast<std::int32_t>(word << (32 - low - width)) >> (32 - width);
    return Instruction{
        flow, 4,
        reinterpret_cast<std::uintptr_t>(code) + static_cast<std::uintptr_t>(std::intptr_t{distance} * 4)};
  };
  if (word >> 26 == 0x05) return leads_to(Flow::kJump, 0, 26);                   // b
  if (word >> 26 == 0x25) return leads_to(Flow::kCall, 0, 26);                   // bl
  if ((word & 0xff000000) == 0x54000000) return leads_to(Flow::kBranch, 5, 19);  // b.cond
  if ((word & 0x7e000000) == 0x34000000) return leads_to(Flow::kBranch, 5, 19);  // cbz, cbnz
  if ((word & 0x7e000000) == 0x36000000) return leads_to(Flow::kBranch, 5, 14);  // tbz, tbnz
  if ((word & 0xfe9ff000) == 0xd61f0000)                                         // br, blr, ret
    return {word >> 21 & 1 ? Flow::kCall : word >> 22 & 1 ? Flow::kEnd : Flow::kUnknown, 4, 0};
  if ((word & 0xffe0001f) == 0xd4200000 || word >> 16 == 0) return {Flow::kEnd, 4, 0};  // brk, udf
  return {Flow::kNext, 4, 0};
}

}  // namespace cpu

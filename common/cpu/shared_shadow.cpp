#include "cpu/shared_shadow.hpp"

#include <algorithm>
#include <bit>

namespace cpu {

void SharedShadow::begin_block(unsigned threads) {
  ++phase_;
  ++block_;
  // Clocks go on from block to block: only their order counts.
  if (clock_.size() < threads) {
    clock_.resize(threads, 1);
    known_.resize(std::size_t{threads} * kWarpSize, 0);
  }
}

void SharedShadow::sync_warp(unsigned first_thread, std::uint32_t lanes) {
  std::uint32_t merged[kWarpSize] = {};
  for (std::uint32_t left = lanes; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t* known = &known_[std::size_t{first_thread + lane} * kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) merged[l] = std::max(merged[l], known[l]);
    merged[lane] = std::max(merged[lane], clock_[first_thread + lane]);
  }
  for (std::uint32_t left = lanes; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    std::copy_n(merged, kWarpSize, &known_[std::size_t{first_thread + lane} * kWarpSize]);
    ++clock_[first_thread + lane];
  }
}

bool SharedShadow::conflicts(const Record& earlier, std::uint8_t bytes, const ThreadAccess& access) const {
  if (earlier.phase != phase_ || earlier.thread == access.thread || !(earlier.bytes & bytes)) return false;
  if (earlier.kind == AccessKind::kAtomic && access.kind == AccessKind::kAtomic) return false;
  if (earlier.thread / kWarpSize != access.thread / kWarpSize) return true;
  return known_[std::size_t{access.thread} * kWarpSize + earlier.thread % kWarpSize] < earlier.clock;
}

SharedShadow::Verdict SharedShadow::access_word(Word& word, std::uint8_t bytes, const ThreadAccess& access,
                                                ThreadAccess* other) {
  if (word.block != block_) {
    word.block = block_;
    word.written = 0;
  }
  const bool reads = access.kind != AccessKind::kStore, writes = access.kind != AccessKind::kLoad;
  if (reads && (word.written & bytes) != bytes) return Verdict::kUninitialised;

  const Record* race = nullptr;
  if (conflicts(word.writer, bytes, access)) race = &word.writer;
  if (writes && conflicts(word.reader, bytes, access)) race = &word.reader;
  if (writes && conflicts(word.other_reader, bytes, access)) race = &word.other_reader;
  if (race) {
    *other = {race->thread, race->instruction, race->kind};
    return Verdict::kRace;
  }

  const Record record = {
      phase_, access.instruction, clock_[access.thread], static_cast<std::uint16_t>(access.thread),
      bytes,  access.kind};
  // The thread's earlier bytes stay noted only while nothing has ordered them since.
  const auto renew = [&](Record& last) {
    const bool goes_on =
        last.phase == record.phase && last.thread == record.thread && last.clock == record.clock;
    const std::uint8_t before = goes_on ? last.bytes : 0;
    last = record;
    last.bytes |= before;
  };
  if (writes) {
    word.written |= bytes;
    renew(word.writer);
  } else if (word.reader.phase != phase_ || word.reader.thread == record.thread) {
    renew(word.reader);
  } else {
    word.other_reader = record;
  }
  return Verdict::kFine;
}

SharedShadow::Verdict SharedShadow::access(std::size_t offset, unsigned size, const ThreadAccess& access,
                                           ThreadAccess* other) {
  if (size < 4) {
    const auto bytes = static_cast<std::uint8_t>(((1u << size) - 1) << offset % 4);
    return access_word(words_[offset / 4], bytes, access, other);
  }
  for (unsigned word = 0; word < size / 4; ++word) {
    const Verdict verdict = access_word(words_[offset / 4 + word], 0xf, access, other);
    if (verdict != Verdict::kFine) return verdict;
  }
  return Verdict::kFine;
}

}  // namespace cpu

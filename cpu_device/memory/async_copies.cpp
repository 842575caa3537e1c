#include "cpu_device/memory/async_copies.hpp"

#include <algorithm>

namespace cpu {

void AsyncCopies::begin_block(unsigned threads) {
  for (Thread& thread : threads_) {
    for (const AsyncCopy& copy : thread.copies) mark(copy, 0);
    thread.copies.clear();
    thread.commits = 0;
  }
  in_flight_ = 0;
  if (threads_.size() < threads) threads_.resize(threads);
}

void AsyncCopies::issue(unsigned thread, std::size_t offset, unsigned size, std::uintptr_t instruction) {
  Thread& mine = threads_[thread];
  mine.copies.push_back({offset, size, instruction, thread, mine.commits});
  mark(mine.copies.back(), static_cast<std::uint16_t>(thread + 1));
  ++in_flight_;
}

std::vector<AsyncCopy> AsyncCopies::wait(unsigned thread, std::uint64_t left) {
  Thread& mine = threads_[thread];
  const auto lasts = [&](const AsyncCopy& copy) { return copy.group + left >= mine.commits; };
  const auto first = std::find_if(mine.copies.begin(), mine.copies.end(), lasts);
  const std::vector<AsyncCopy> ended(mine.copies.begin(), first);
  mine.copies.erase(mine.copies.begin(), first);
  for (const AsyncCopy& copy : ended) mark(copy, 0);
  in_flight_ -= ended.size();
  return ended;
}

const AsyncCopy* AsyncCopies::find(std::size_t offset, unsigned size) const {
  for (std::size_t word = offset / 4; word <= (offset + size - 1) / 4; ++word) {
    if (copier_[word] == 0) continue;
    for (const AsyncCopy& copy : threads_[copier_[word] - 1u].copies)
      if (4 * word - copy.offset < copy.size) return &copy;
  }
  return nullptr;
}

void AsyncCopies::mark(const AsyncCopy& copy, std::uint16_t copier) {
  std::fill_n(copier_.begin() + static_cast<std::ptrdiff_t>(copy.offset / 4), copy.size / 4, copier);
}

}  // namespace cpu

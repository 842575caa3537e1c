#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "chapter.hpp"

namespace workbook {

void on_all_cores(long long count, void (*body)(const void* what, long long i), const void* what) {
  std::atomic<long long> next = 0;
  const auto work = [&] {
    for (long long i = next++; i < count; i = next++) body(what, i);
  };
  static const long long cores = std::max(std::thread::hardware_concurrency(), 1u);  // it takes a system call
  std::vector<std::jthread> helpers(static_cast<std::size_t>(std::max(std::min(cores, count), 1LL) - 1));
  for (std::jthread& helper : helpers) helper = std::jthread(work);
  work();
}

}  // namespace workbook

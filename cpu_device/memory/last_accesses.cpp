#include "cpu_device/memory/last_accesses.hpp"

#include <new>

namespace cpu {

// malloc reserves address space; a page of it becomes memory when it is first touched.
LastAccesses::LastAccesses(std::size_t bytes)
    : words_(static_cast<WordHistory*>(std::malloc(bytes / 4 * sizeof(WordHistory))), &std::free),
      chunk_launch_(bytes / 4 / kChunk) {
  if (!words_) throw std::bad_alloc();
}

}  // namespace cpu

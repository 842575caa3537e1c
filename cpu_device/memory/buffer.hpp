/// \file
/// One array in device memory, with what the device keeps about it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu_device/memory/cold_cache.hpp"
#include "cpu_device/memory/last_accesses.hpp"
#include "cpu_device/memory/written_bytes.hpp"
#include "cpu_device/region.hpp"

namespace cpu {

struct Buffer {
  /// \throws std::bad_alloc
  Buffer(const Region& data, const Region& pages, std::string name, std::size_t element_size)
      : data(data),
        pages(pages),
        name(std::move(name)),
        element_size(element_size),
        written(pages.size),
        cold_cache(pages.size),
        last_accesses(pages.size) {}

  Region data;
  Region pages;  ///< the mapped pages around `data`
  std::string name;
  std::size_t element_size;
  unsigned gpu = 0;               ///< whose memory it is in, where there are several (gpus.hpp)
  bool shared_with_host = false;  ///< host code may use it between launches
  std::size_t version = 0;        ///< a number that no other array has had, new after each write
  // By offset from the start of the pages.
  WrittenBytes written;
  ColdCache cold_cache;
  LastAccesses last_accesses;

  /// The array as that worker sees it (cores.hpp): with notes of the worker's own. Worker 0 is the launch's
  /// own thread.
  Buffer& seen_by(unsigned worker) { return worker == 0 ? *this : *of_worker[worker - 1]; }
  std::vector<std::unique_ptr<Buffer>> of_worker;
  std::unique_ptr<char[]> saved;  ///< the data as it was before a grid was spread over cores
};

}  // namespace cpu

/// \file
/// One array in device memory, with what the device keeps about it.
#pragma once

#include <string>
#include <utility>

#include "cpu/cold_cache.hpp"
#include "cpu/last_accesses.hpp"
#include "cpu/region.hpp"
#include "cpu/written_bytes.hpp"

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
  // By offset from the start of the pages.
  WrittenBytes written;
  ColdCache cold_cache;
  LastAccesses last_accesses;
};

}  // namespace cpu

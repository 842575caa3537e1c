/// \file
/// Ceilings: kernels that do nothing but read and write, to compare a stage with.
#pragma once

#include <vector>

#include "gpu/measurement.hpp"

namespace gpu {

/// For each of the streams, several streaming kernels as contenders, each with its name: the fastest of them
/// is the ceiling of a stage with that traffic. They read random numbers. They share one piece of memory for
/// what they read and one for what they write, which live as long as one of the contenders. \throws
/// std::bad_alloc
std::vector<std::vector<workbook::Contender>> streaming_ceilings(const std::vector<workbook::Stream>& streams,
                                                                 std::size_t l2_bytes);

}  // namespace gpu

/// \file
/// Records of what each worker of a grid that is spread over cores (cores.hpp) does with an array.
#pragma once

#include <cstdint>

#include "cpu_device/memory/buffer.hpp"

namespace cpu {

/// Gives the first `workers` workers notes of their own. \throws std::bad_alloc
void make_notes(Buffer& array, unsigned workers);
/// Worker number `worker` starts from what is known of the array.
void begin_part(Buffer& array, unsigned worker);

// The array's contents before the grid is spread, in one share per worker.
void save_share(Buffer& array, unsigned share, unsigned shares);
void restore(Buffer& array);

/// Whether nobody has accessed a byte that somebody else has written in that launch, of all workers and the
/// blocks that ran before them.
bool parts_independent(Buffer& array, unsigned workers, std::uint32_t launch);
/// Joins the notes of independent parts, in the order of the workers.
void join_parts(Buffer& array, unsigned workers);

}  // namespace cpu

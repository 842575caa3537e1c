/// \file
/// The GPUs that a program sees (--gpus). The CPU device does the work of all of them, in the order
/// of the calls. Each has memory of its own, and variables of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "play/runtime/memory.hpp"

namespace program {

/// Before main.
void make_gpus(int count);
/// Whether the program sees a GPU of that number.
bool is_gpu(int number);
/// The one that the calling thread has chosen with cudaSetDevice().
int current_gpu();

/// Work of the GPU that is the current one at this call: it is again whenever the work is done.
std::function<void()> on_current_gpu(std::function<void()> work);

/// Makes the variables of kernels those of that GPU.
void show_variables_of(int gpu);

/// After a launch on that GPU: a finding where the kernel has used the memory of another GPU, to which it has
/// no access.
void require_access(int gpu, const Place& launch);

/// How often a GPU has lost its access to the memory of another one.
std::size_t lost_accesses();
/// Counts one more.
void note_lost_access();

/// Whether that GPU may access an array, where a memory pool or a graph decides that; else nothing.
std::optional<bool> pool_allows(const void* array, int gpu);
/// The GPU that a stream was made for; of a default stream, the current one.
int gpu_of(cudaStream_t stream);

}  // namespace program

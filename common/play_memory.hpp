/// \file
/// Device memory for a reader's play(), provided by the program that runs it.
#pragma once

#include <stddef.h>

namespace workbook::play {

/// `count` elements of `element_size` bytes. Messages call them by `name`. Outside of play(), in a global
/// variable, it says so and ends the program. \throws std::invalid_argument when there cannot be so many
void* allocate(const char* name, long long count, size_t element_size);
/// Frees what allocate() returned.
void release(void* device);
/// Copies from the host to the device.
void upload(void* device, const void* host, size_t bytes);
/// Copies from the device to the host.
void download(void* host, const void* device, size_t bytes);
/// Prints "name: " and the first `printed` numbers of an array of `count`.
void print(const char* name, const double* first, int printed, int count);

}  // namespace workbook::play

/// \file
/// The line between a reader's play() and the program that runs it: device memory.
#pragma once

#include <stddef.h>

namespace workbook::play {

void* allocate(const char* name, size_t count, size_t element_size);
void release(void* device);
void upload(void* device, const void* host, size_t bytes);
void download(void* host, const void* device, size_t bytes);
/// Prints "name: " and the first numbers of an array of `count`.
void print(const char* name, const double* first, int printed, int count);

}  // namespace workbook::play

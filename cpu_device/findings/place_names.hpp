/// \file
/// How messages name threads, places in the source and places in memory.
#pragma once

#include <cstdint>
#include <string>

#include "cpu_device/access.hpp"
#include "cpu_device/dialect/runtime.hpp"
#include "cpu_device/memory/buffer.hpp"

namespace cpu {

/// "thread (5,0,0) of block (17,0,0)", and "of GPU 1" where several run: a thread of the running block by its
/// linear number in it.
std::string thread_name(unsigned thread);
std::string running_thread_name();
/// The same of a thread by its number in the grid, or where several GPUs run, among the threads of all.
std::string grid_thread_name(std::uint32_t thread);

/// "line 14", with the file before it where that is not the kernel's.
std::string place_text(std::uintptr_t instruction);
std::string place_text(const std::string& file, int line);

/// "reads", "writes" or "updates".
const char* verb(AccessKind kind);

/// "q[4]", "q[4..7]": the elements of an array that an access covers.
std::string global_name(const Buffer& buffer, std::uintptr_t address, unsigned size);
/// "s[32]": the element of a static shared array, or of dynamic shared memory, by elements of `size` bytes.
std::string shared_name(std::uintptr_t address, unsigned size);
/// One of these two, whichever memory the address is in.
std::string memory_name(const void* address, unsigned size);

/// An array, or dynamic shared memory, and where it begins.
struct NamedPlace {
  std::string name;
  std::uintptr_t begin;
  std::size_t element_size = 0;  ///< 0 where it is not known: of shared memory
};
/// The array that holds an address of device or shared memory.
NamedPlace array_at(std::uintptr_t address);

}  // namespace cpu

/// \file
/// How much memory there is: of the machine, or less where a control group (a container) limits it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace workbook {

/// Memory in bytes.
struct GroupMemory {
  std::size_t most;  ///< what the group may use; SIZE_MAX without a limit
  std::size_t free;  ///< what it can still use; SIZE_MAX without a limit
};

/// The least of what a control group and its parents allow. `groups` is where the groups are mounted, usually
/// /sys/fs/cgroup; `membership` is the text of /proc/self/cgroup. Version 2 is read, and version 1's memory
/// controller.
GroupMemory group_memory(const std::filesystem::path& groups, const std::string& membership);

/// The most memory that this program can have, in bytes.
std::size_t most_memory();

/// Memory that this program can get now without swapping, in bytes.
std::size_t available_memory();

}  // namespace workbook

#include "system/memory_limit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <sstream>

#include "system/read_file.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

/// The names of the files that one version of control groups has.
struct GroupFiles {
  const char *most, *used;
  const char* reclaimable;  ///< the line of memory.stat with the file cache, which is given up when needed
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

/// The number in a file; `otherwise` where there is no file, or it says "max".
std::size_t number_in(const fs::path& path, std::size_t otherwise) {
  std::istringstream file(read_file(path).text);
  std::size_t number = 0;
  return file >> number ? number : otherwise;
}

/// The number after `key` in a file of lines "key number"; 0 where there is none.
std::size_t number_of(const fs::path& path, const std::string& key) {
  std::istringstream file(read_file(path).text);
  std::string word;
  for (std::size_t number = 0; file >> word >> number;)
    if (word == key) return number;
  return 0;
}

GroupMemory memory_of(const fs::path& group, const GroupFiles& files) {
  const std::size_t most = number_in(group / files.most, SIZE_MAX);
  if (most == SIZE_MAX) return {SIZE_MAX, SIZE_MAX};
  const std::size_t used = number_in(group / files.used, 0),
                    cache = number_of(group / "memory.stat", files.reclaimable),
                    needed = used - std::min(used, cache);
  return {most, most - std::min(most, needed)};
}

/// The least of the group `path` and its parents, up to the one that is mounted. In a container only that one
/// may be there.
GroupMemory least_memory(const fs::path& mounted, const fs::path& path, const GroupFiles& files) {
  GroupMemory least = {SIZE_MAX, SIZE_MAX};
  for (fs::path part = path.relative_path();; part = part.parent_path()) {
    const GroupMemory here = memory_of(mounted / part, files);
    least = {std::min(least.most, here.most), std::min(least.free, here.free)};
    if (part.empty()) return least;
  }
}

/// A line of /proc/meminfo, in bytes.
std::size_t machine_memory(const std::string& key) {
  std::istringstream file(read_file("/proc/meminfo").text);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    std::size_t kibibytes = 0;
    if (words >> word >> kibibytes && word == key + ":") return kibibytes * 1024;
  }
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

GroupMemory own_group_memory() { return group_memory("/sys/fs/cgroup", read_file("/proc/self/cgroup").text); }

}  // namespace

GroupMemory group_memory(const fs::path& groups, const std::string& membership) {
  GroupMemory least = {SIZE_MAX, SIZE_MAX};
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    // "NUMBER:CONTROLLERS:/PATH", in version 2 "0::/PATH"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const fs::path path = line.substr(second + 1);
    GroupMemory found = {SIZE_MAX, SIZE_MAX};
    if (controllers == ",,") found = least_memory(groups, path, kVersion2);
    if (controllers.find(",memory,") != std::string::npos)
      found = least_memory(groups / "memory", path, kVersion1);
    least = {std::min(least.most, found.most), std::min(least.free, found.free)};
  }
  return least;
}

std::size_t most_memory() { return std::min(machine_memory("MemTotal"), own_group_memory().most); }

std::size_t available_memory() { return std::min(machine_memory("MemAvailable"), own_group_memory().free); }

}  // namespace workbook

// The memory that a control group leaves, from files like those of /sys/fs/cgroup.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "catch.hpp"
#include "system/memory_limit.hpp"

namespace test_memory_limit {
namespace fs = std::filesystem;
using workbook::group_memory;

namespace {

/// A folder of groups with these files; the destructor removes it.
struct Groups {
  fs::path path = fs::temp_directory_path() / ("workbook-groups-" + std::to_string(getpid()));
  explicit Groups(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      fs::create_directories((path / name).parent_path());
      std::ofstream(path / name) << text << "\n";
    }
  }
  ~Groups() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("memory: a control group of version 2 limits it") {
  const Groups groups({{"a/memory.max", "1000"},
                       {"a/memory.current", "700"},
                       {"a/memory.stat", "anon 300\ninactive_file 400\nactive_file 0"}});
  CHECK(group_memory(groups.path, "0::/a").most == 1000);
  CHECK(group_memory(groups.path, "0::/a").free == 700);  // the file cache can be given up
  CHECK(group_memory(groups.path, "0::/").most == SIZE_MAX);
}

TEST_CASE("memory: the group with the least counts, and \"max\" is no limit") {
  const Groups groups({{"a/memory.max", "1000"},
                       {"a/memory.current", "900"},
                       {"a/b/memory.max", "500"},
                       {"a/b/memory.current", "100"},
                       {"a/b/c/memory.max", "max"}});
  CHECK(group_memory(groups.path, "0::/a/b/c").most == 500);
  CHECK(group_memory(groups.path, "0::/a/b/c").free == 100);
}

TEST_CASE("memory: in a container the mounted group counts, whatever its path was called outside") {
  const Groups groups({{"memory.max", "1000"}, {"memory.current", "1200"}});
  CHECK(group_memory(groups.path, "0::/").most == 1000);
  CHECK(group_memory(groups.path, "0::/").free == 0);
  CHECK(group_memory(groups.path, "0::/../outside").most == 1000);
  CHECK(group_memory(groups.path, "nonsense").most == SIZE_MAX);
}

TEST_CASE("memory: version 1 has a folder for its memory controller") {
  const Groups groups({{"memory/a/memory.limit_in_bytes", "1000"},
                       {"memory/a/memory.usage_in_bytes", "600"},
                       {"memory/a/memory.stat", "cache 5\ntotal_inactive_file 100"},
                       {"memory/memory.limit_in_bytes", "9223372036854771712"}});
  const std::string membership = "3:cpuset:/b\n4:cpu,memory:/a\n0::/\n";
  CHECK(group_memory(groups.path, membership).most == 1000);
  CHECK(group_memory(groups.path, membership).free == 500);
}

TEST_CASE("memory: there is some, and not more free than there is") {
  CHECK(workbook::most_memory() > 1 << 20);
  CHECK(workbook::available_memory() > 1 << 20);
  CHECK(workbook::available_memory() <= workbook::most_memory());
}

}  // namespace test_memory_limit

#include "harness/repeats.hpp"

namespace workbook {
namespace {

/// The launch and its arguments, as bytes.
std::string key_of(const cpu::Launch& launch, const published::Arguments& arguments) {
  std::string key;
  const auto add = [&](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(launch.kernel);
  for (const cpu::uint3& extent : {launch.grid, launch.block}) {
    add(extent.x);
    add(extent.y);
    add(extent.z);
  }
  add(launch.shared_bytes);
  return key.append(static_cast<const char*>(arguments.bytes), arguments.size);
}

}  // namespace

bool Repeats::run(const cpu::Launch& launch, const published::Arguments& arguments,
                  const std::function<std::size_t()>& memory, const std::function<bool()>& run) {
  Known& known = known_.try_emplace(key_of(launch, arguments), Known{known_.size()}).first->second;
  last_ = &known;
  if (!arguments.bytes || !known.has_run) {  // most launches are not repeated: the first costs no hash
    known.has_run = true;
    run();
    return true;
  }
  const std::size_t before = memory();
  if (known.changes_nothing && known.memory == before) return false;
  const bool does_more = run();
  known.changes_nothing = !does_more && memory() == before;
  known.memory = before;
  return true;
}

}  // namespace workbook

#include "harness/tables/count_marks.hpp"

#include "system/terminal.hpp"

namespace workbook {

std::string CountMarks::sectors(const Counts& counts, const std::string& number) {
  approximate_ |= counts.approximate;
  return (counts.approximate ? "≈" : "") + number;
}

std::string CountMarks::wavefronts(const Counts& counts, const std::string& number) {
  may_merge_ |= counts.shared_loads_may_merge;
  return (counts.shared_loads_may_merge ? "*" : "") + number;
}

std::string CountMarks::legend() const {
  std::string out;
  if (approximate_)
    out +=
        "\n≈ an estimate: lanes of a warp went through a loop differently, and which of\n"
        "  their accesses went together is not known.\n";
  if (may_merge_)
    out +=
        "\n* nvcc may merge loads of neighbouring words of shared memory. A GPU then\n"
        "  executes fewer of them, and the wavefronts counted here are an upper bound:\n"
        "  docs/cpu_device.md, \"One load in the source, another in the machine\".\n";
  return out;
}

std::string atomics_text(const std::vector<std::pair<std::string, Counts>>& counts) {
  Table table({"", "global", "shared"}, {"atomics", "sectors", "requests"});
  bool any = false, contended = false;
  for (const auto& [name, c] : counts) {
    if (!c.atomic_sectors && !c.shared_atomic_requests) continue;
    any = true;
    contended |= c.contended;
    table.add({name, std::to_string(c.atomic_sectors), std::to_string(c.shared_atomic_requests)},
              c.contended ? "contended" : "");
  }
  if (!any) return "";
  return "\n" + table.text() +
         (contended ? "contended: lanes of a warp update one address in global memory, and a GPU may\n"
                      "  count fewer or more sectors.\n"
                    : "");
}

}  // namespace workbook

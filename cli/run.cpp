#include "run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options.hpp"
#include "process.hpp"

namespace workbook {
namespace {

std::vector<std::string> chapters_matching(const Workbook& workbook, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& chapter : workbook.chapters)
    if (!name.empty() && chapter.starts_with(name)) found.push_back(chapter);
  if (found.empty())
    throw UsageError(fmt::format("there is no chapter \"{}\"; the chapters are: {}", name,
                                 fmt::join(workbook.chapters, ", ")));
  return found;
}

}  // namespace

int run_command(const Workbook& workbook, const std::vector<std::string>& words) {
  const auto first_option =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word.starts_with('-'); });
  std::vector<std::string> chapters;
  for (auto name = words.begin(); name != first_option; ++name)
    for (const std::string& chapter : chapters_matching(workbook, *name)) chapters.push_back(chapter);
  if (chapters.empty()) chapters = workbook.chapters;

  int worst = 0;
  for (const std::string& chapter : chapters) {
    if (&chapter != &chapters.front()) fmt::print("\n");
    std::vector<std::string> call = {(workbook.build / "bin" / chapter).string()};
    call.insert(call.end(), first_option, words.end());
    worst = std::max(worst, run_program(call));
  }
  return worst;
}

}  // namespace workbook

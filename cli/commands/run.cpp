#include "commands/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "config.hpp"
#include "harness/options.hpp"
#include "system/errors.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/say.hpp"

namespace workbook {

namespace fs = std::filesystem;

std::vector<std::string> chapters_matching(const Workbook& workbook, const std::string& name) {
  std::vector<std::string> found;
  const bool is_digit = name.size() == 1 && name[0] >= '0' && name[0] <= '9';
  const std::string begin = is_digit ? "0" + name + "_" : name;
  for (const std::string& chapter : workbook.chapters)
    if (!name.empty() && chapter.starts_with(begin)) found.push_back(chapter);
  if (found.empty())
    throw UsageError(fmt::format("there is no chapter \"{}\"; the chapters are: {}", name,
                                 fmt::join(workbook.chapters, ", ")));
  return found;
}

bool has_program(const Workbook& workbook, const std::string& chapter) {
  return std::find(workbook.programs.begin(), workbook.programs.end(), chapter) != workbook.programs.end();
}

namespace {

/// All chapters with a program that the names match; without names, all of these. \throws UsageError
std::vector<std::string> chapters_named(const Workbook& workbook, const std::vector<std::string>& names) {
  std::vector<std::string> chapters;
  for (const std::string& name : names)
    for (const std::string& chapter : chapters_matching(workbook, name)) {
      if (!has_program(workbook, chapter))
        throw UsageError(
            fmt::format("{} is in Python, and a command of its own runs and times it: ./workbook run {}",
                        chapter, chapter.substr(0, chapter.find('_'))));
      chapters.push_back(chapter);
    }
  return chapters.empty() ? workbook.programs : chapters;
}

std::string program(const Workbook& workbook, const std::string& chapter) {
  return (workbook.build / "bin" / chapter).string();
}

/// The words of `run`.
struct RunWords {
  std::vector<std::string> chapters, options;
  bool only_help = false;  ///< help is wanted, of no chapter
};

/// A word after an option that takes a value is that value, however it looks.
RunWords parsed_words(const std::vector<std::string>& words) {
  const std::vector<std::string> with_value = options_with_value();
  RunWords parsed;
  bool is_value = false, help = false;
  for (const std::string& word : words) {
    const bool is_option = word.starts_with('-');
    (is_value || is_option ? parsed.options : parsed.chapters).push_back(word);
    help |= !is_value && (word == "--help" || word == "-h");
    is_value = !is_value && std::find(with_value.begin(), with_value.end(), word) != with_value.end();
  }
  parsed.only_help = help && parsed.chapters.empty();
  return parsed;
}

/// \throws MachineError
void require_gpu_side() {
  if (!kGpuSide)
    throw MachineError(
        "bench times chapters on a GPU, and this workbook was built without one (./workbook doctor says "
        "what is missing); ./workbook run --device cpu counts");
}

/// Makes the folder where it does not exist. \throws UsageError
void require_folder(const fs::path& folder) {
  if (const std::optional<std::string> problem = make_folder(folder))
    throw UsageError(fmt::format("{} cannot be made a folder: {}", folder.string(), *problem));
}

/// Options that name a file, which holds one chapter: a second chapter would replace the first.
void require_one_chapter(const std::vector<std::string>& chapters, const std::vector<std::string>& options) {
  if (chapters.size() == 1) return;
  for (const std::string& word : options)
    for (const char* option : {"--json", "--trace"})
      if (word == option || word.starts_with(std::string(option) + "="))
        throw UsageError(
            fmt::format("{0}: the file holds one chapter, so name one: ./workbook run {1} {0} FILE", option,
                        chapters.front().substr(0, 2)));
}

}  // namespace

std::vector<std::string> chapters_of_run(const Workbook& workbook, const std::vector<std::string>& words) {
  const RunWords parsed = parsed_words(words);
  if (parsed.only_help) return {};
  const std::vector<std::string> chapters = chapters_named(workbook, parsed.chapters);
  require_one_chapter(chapters, parsed.options);
  return chapters;
}

std::vector<std::string> chapters_of_bench(const Workbook& workbook, const std::vector<std::string>& chapters,
                                           const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::status_known(status))
    throw UsageError(fmt::format("{} cannot be made a folder: {}", folder, error.message()));
  if (fs::exists(status) && !fs::is_directory(status))
    throw UsageError(fmt::format("{} cannot be made a folder: it is a file", folder));
  const std::vector<std::string> found = chapters_named(workbook, chapters);
  require_gpu_side();
  return found;
}

std::vector<std::string> targets_of_plots(const Workbook& workbook, const std::string& folder) {
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw UsageError(
        fmt::format("{} is not a folder; plots draws the JSON that `bench` has written to one", folder));
  std::vector<std::string> targets = workbook.programs;
  if (folder.empty()) targets.push_back("claims");  // of which a picture shows an element
  return targets;
}

int run_command(const Workbook& workbook, const std::vector<std::string>& words) {
  const auto [names, options, only_help] = parsed_words(words);
  if (only_help) {
    fmt::print("{}",
               options_help("./workbook run [CHAPTER...]",
                            "Runs chapters, all where none is named: verifies all stages, then shows what "
                            "each costs."));
    return kDone;
  }
  const std::vector<std::string> chapters = chapters_of_run(workbook, words);

  int worst = 0;
  for (const std::string& chapter : chapters) {
    if (&chapter != &chapters.front()) fmt::print("\n");
    std::vector<std::string> call = {program(workbook, chapter)};
    call.insert(call.end(), options.begin(), options.end());
    worst = std::max(worst, run_program(call));
  }
  return worst;
}

int bench_command(const Workbook& workbook, const std::vector<std::string>& chapters,
                  const std::string& folder) {
  const fs::path results = folder.empty() ? "results" : folder;
  const std::vector<std::string> all = chapters_of_bench(workbook, chapters, folder);
  require_folder(results);
  int worst = 0;
  for (const std::string& chapter : all) {
    const int status = run_program({program(workbook, chapter), "--device", "gpu", "--sweep", "--json",
                                    (results / (chapter + ".json")).string()});
    if (status == kMachineLacks) {
      std::error_code error;
      fs::remove(results, error);  // if it is empty
      return status;
    }
    worst = std::max(worst, status);
  }
  fmt::print(
      "\nThe times are in {0}. PyTorch beside them: python3 plots/peers.py {0}\n"
      "To draw them: ./workbook plots {0} --compare\n",
      results.string());
  return worst;
}

int plots_command(const Workbook& workbook, const std::string& folder, bool compare) {
  targets_of_plots(workbook, folder);  // refuses a folder that is not there
  const fs::path counts = workbook.build / "plots";
  require_folder(counts / "traces");
  std::vector<std::string> traces;
  for (const std::string& chapter : workbook.programs) {
    fmt::print("counting {} ...\n", chapter);
    fflush(stdout);
    traces.push_back((counts / "traces" / (chapter + ".json")).string());
    for (const std::vector<std::string>& option :
         {std::vector<std::string>{"--json", (counts / (chapter + ".json")).string()},
          {"--trace", traces.back()}}) {
      const Outcome outcome =
          run_limited({program(workbook, chapter), "--device", "cpu", option[0], option[1]},
                      {.time = time_limit(kUsualTime)});
      if (outcome.end == Outcome::End::kExited && outcome.code == 0) continue;
      say("{}\n{} did not come to its end.\n", outcome.output, chapter);
      return kWrong;
    }
  }

  const fs::path committed = workbook.root / "plots" / "data" / "h200";
  const fs::path drawn = folder.empty() ? committed : fs::path(folder);
  const std::string figures =
      (folder.empty() ? workbook.root / "plots" / "figures" : drawn / "figures").string();
  const std::string plot = (workbook.root / "plots" / "plot.py").string();
  std::vector<std::string> times = {"python3",       plot,    drawn.string(), "--counts",
                                    counts.string(), "--out", figures};
  if (compare) times.insert(times.end(), {"--compare", committed.string()});
  if (const int status = run_program(times)) return status;
  std::vector<std::string> accesses = {"python3", plot, "--out", figures, "--trace"};
  accesses.insert(accesses.end(), traces.begin(), traces.end());
  if (const int status = run_program(accesses)) return status;
  if (!folder.empty()) return kDone;
  return run_program({"python3", (workbook.root / "plots" / "diagrams.py").string()});
}

}  // namespace workbook

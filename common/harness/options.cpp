#include "harness/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "harness/backends/backend.hpp"
#include "harness/backends/gpus.hpp"
#include "harness/tables/cards.hpp"
#include "harness/tables/note_words.hpp"
#include "system/errors.hpp"

namespace workbook {
namespace {

/// The most elements of an array, and the largest dimension. Kernels index with int, and a loop over an array
/// may step past its end before it stops: by a stride of up to 2^16.
constexpr int kMostElements = 2147483647 - 65535;

std::optional<int> parse_dimension(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMostElements)
    return std::nullopt;
  return value;
}

/// The arrays of a chapter are as large as its dimensions, or as two of them multiplied. \throws UsageError
void require_int_indices(const Shape& shape, const std::string& text, const std::string& dims) {
  for (int a = 0; a < rank(dims); ++a)
    for (int b = a + 1; b < rank(dims); ++b) {
      const long long elements = static_cast<long long>(shape.dims[a]) * shape.dims[b];
      if (elements > kMostElements)  // the names of the dimensions have one letter each
        throw UsageError(
            fmt::format("--size {}: {} x {} is {} elements; kernels index with int, so the most is {}", text,
                        dims[2 * a], dims[2 * b], elements, kMostElements));
    }
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// "7" for "07"
std::string without_zeros(const std::string& number) {
  return number.substr(std::min(number.find_first_not_of('0'), number.size()));
}

/// \throws UsageError
std::optional<DeviceKind> parse_device(const std::string& text) {
  const std::optional<DeviceKind> device = device_kind_named(text);
  if (!device && text != "auto")
    throw UsageError(fmt::format("--device {}: there is no such device; accepted are auto, cpu, gpu", text));
  return device;
}

/// Refuses, beside the option `name`, those that also say what to do with the results. \throws UsageError
void require_alone(const char* name, const Options& options) {
  for (const auto& [given, other] : {std::pair(options.once, "--once"), std::pair(options.sweep, "--sweep"),
                                     std::pair(!options.json.empty(), "--json")})
    if (given) throw UsageError(fmt::format("{} and {} exclude each other", name, other));
}

/// Refuses the option `name` on the CPU device. \throws UsageError
void require_gpu(const char* name, const Options& options) {
  if (options.device == DeviceKind::kCpu)
    throw UsageError(fmt::format("{}: only a GPU is timed; accepted is --device gpu", name));
}

void require_traceable(const Options& options) {
  if (options.trace.empty()) throw UsageError("--trace: expected the path of a file");
  if (options.device == DeviceKind::kGpu)
    throw UsageError("--trace: only the CPU device sees what a warp accesses");
  require_alone("--trace", options);
  if (options.lines) throw UsageError("--trace and --lines exclude each other");
}

/// Options that are parsed into text first.
struct Texts {
  std::string device = "auto", gpus, size, p, seed, offset;
};

/// A probability. \throws UsageError
double parse_probability(const std::string& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1))
    throw UsageError(fmt::format("--p {}: expected a probability, a number from 0 to 1", text));
  return value;
}

/// The number that `option` is given. \throws UsageError
unsigned long long parse_64_bits(const char* option, const std::string& text) {
  unsigned long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("{} {}: expected a whole number from 0 to 2^64 - 1", option, text));
  return value;
}

/// The options of dropout. \throws UsageError
DropoutOptions parse_dropout(const CLI::App& app, const Texts& texts, const Chapter& chapter) {
  DropoutOptions dropout = chapter.dropout;
  for (const char* option : {"--p", "--seed", "--offset"})
    if (app.count(option) && !chapter.has_dropout)
      throw UsageError(fmt::format("{}: {} has no dropout", option, chapter.name));
  if (app.count("--p")) dropout.p = parse_probability(texts.p);
  if (app.count("--seed")) dropout.seed = parse_64_bits("--seed", texts.seed);
  if (app.count("--offset")) dropout.offset = parse_64_bits("--offset", texts.offset);
  return dropout;
}

/// `with_dropout`: whether the help lists its options, which all chapters parse.
void declare_options(CLI::App& app, Options& options, Texts& texts, const std::string& dims,
                     bool with_dropout = true) {
  app.add_option("--device", texts.device, "auto (a GPU if there is one), cpu, gpu")->type_name("DEVICE");
  app.add_option("--gpus", texts.gpus, "of the machine's GPUs these alone, in this order")
      ->type_name("N,N,...");
  app.add_option("--size", texts.size, "size of the problem")->type_name(dims);
  app.add_option("--stage", options.stages, "run these alone: names or numbers, A,B,...")
      ->type_name("STAGE")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--sweep", options.sweep, "run the chapter's list of sizes");
  app.add_option("--json", options.json, "write the results to a file as well")->type_name("FILE");
  app.add_option("--model", options.model, "predict times on a card, see below")->type_name("CARD");
  app.add_flag("--sustained", options.sustained, "time each stage for seconds as well (GPU)");
  app.add_flag("--resources", options.resources, "show registers and occupancy (GPU)");
  app.add_flag("--lines", options.lines, "show what each source line costs (CPU device)");
  app.add_flag("--once", options.once, "run each stage once, silently: for profilers");
  app.add_option("--trace", options.trace, "write what one warp accesses to a file")->type_name("FILE");
  app.add_option("--p", texts.p, "dropout: the share that is dropped, 0 to 1")->type_name("P");
  app.add_option("--seed", texts.seed, "dropout: the seed of its random numbers")->type_name("SEED");
  app.add_option("--offset", texts.offset, "dropout: other numbers of the same seed")->type_name("OFFSET");
  if (!with_dropout)
    for (const char* option : {"--p", "--seed", "--offset"}) app.get_option(option)->group("");
  app.add_flag("--take-turns", options.take_turns, "time stages as standard input says: for peers.py");
  app.add_option("--note", options.notes, "go on after findings of this kind, see below")
      ->type_name("KIND")
      ->allow_extra_args(false);
  app.footer("Kinds for --note, findings of the CPU device that become notes:\n" + note_words_text() +
             "\n\nCards for --model:\n" + card_names(76));
}

/// The help without the empty line that CLI11 leaves for a group of options that is not shown.
std::string help_of(const CLI::App& app) {
  std::string text = app.help();
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) text.erase(at, 1);
  return text;
}

}  // namespace

std::vector<std::string> options_with_value() {
  CLI::App app;
  Options options;
  Texts texts;
  declare_options(app, options, texts, "N");
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0) names.push_back(option->get_name());
  return names;
}

std::string options_help(const std::string& name, const std::string& description) {
  CLI::App app(description);
  app.name(name);
  Options options;
  Texts texts;
  declare_options(app, options, texts, "SIZE");
  return help_of(app);
}

std::vector<std::string> stages_named(const std::string& name, const Chapter& chapter) {
  std::vector<std::string> found, all;
  for (const Stage& one : chapter.stages) {
    const std::string stage = one.name;
    const bool is_its_number =
        is_number(name) && without_zeros(stage.substr(0, stage.find('_'))) == without_zeros(name);
    if (stage == name || is_its_number) found.push_back(stage);
    all.push_back(stage);
  }
  if (found.empty())
    throw UsageError(fmt::format("--stage {}: there is no such stage; {} has {}", name, chapter.name,
                                 fmt::join(all, ", ")));
  return found;
}

int rank(const std::string& dims) { return static_cast<int>(std::count(dims.begin(), dims.end(), 'x')) + 1; }

Shape parse_shape(const std::string& text, const std::string& dims) {
  const auto refuse = [&] {
    return UsageError(fmt::format("--size {}: expected {}, {} from 1 to {}", text, dims,
                                  dims == "N" ? "a whole number" : "whole numbers", kMostElements));
  };
  Shape shape = {{1, 1, 1, 1, 1}};
  const int count = rank(dims);
  std::size_t begin = 0;
  for (int d = 0; d < count; ++d) {
    const std::size_t end = d + 1 == count ? text.size() : text.find('x', begin);
    if (end == std::string::npos) throw refuse();
    const auto value = parse_dimension(text.substr(begin, end - begin));
    if (!value) throw refuse();
    shape.dims[d] = *value;
    begin = end + 1;
  }
  require_int_indices(shape, text, dims);
  return shape;
}

void require_countable(const std::optional<DeviceKind>& device) {
  if (device == DeviceKind::kGpu) throw UsageError("--lines: only the CPU device counts");
}

std::string shape_text(const Shape& shape, const std::string& dims) {
  std::string text = std::to_string(shape.dims[0]);
  for (int d = 1; d < rank(dims); ++d) text += "x" + std::to_string(shape.dims[d]);
  return text;
}

std::optional<Options> parse_options(int argc, const char* const* argv, const Chapter& chapter) {
  Options options;
  Texts texts;
  CLI::App app(
      fmt::format("{}: {}\nVerifies all stages, then shows what each costs.", chapter.name, chapter.formula));
  app.name(chapter.name);
  declare_options(app, options, texts, chapter.dims, chapter.has_dropout);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_of(app));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see {} --help", error.what(), chapter.name));
  }

  options.device = parse_device(texts.device);
  if (app.count("--gpus")) {
    if (options.device == DeviceKind::kCpu)
      throw UsageError("--gpus: the GPUs of the CPU device are virtual; --size says how many there are");
    options.device = DeviceKind::kGpu;
    options.visible_devices = visible_devices(texts.gpus, std::getenv(kVisibleDevices));
  }
  if (app.count("--model")) card_for(options.model);
  std::vector<std::string> stages;
  for (const std::string& name : options.stages)
    for (const std::string& stage : stages_named(name, chapter)) stages.push_back(stage);
  options.stages = stages;
  require_note_words(options.notes, options.device);
  if (app.count("--json") && options.json.empty()) throw UsageError("--json: expected the path of a file");
  if (app.count("--trace")) require_traceable(options);
  if (options.lines) {
    require_countable(options.device);
    if (options.once) throw UsageError("--lines and --once exclude each other");
    options.device = DeviceKind::kCpu;
  }
  if (options.sustained) require_gpu("--sustained", options);
  if (options.take_turns) {
    require_gpu("--take-turns", options);
    require_alone("--take-turns", options);
    options.device = DeviceKind::kGpu;
  }
  if (options.once && app.count("--json")) throw UsageError("--once and --json exclude each other");
  if (!texts.size.empty() && options.sweep) throw UsageError("--size and --sweep exclude each other");
  if (app.count("--size")) options.size = parse_shape(texts.size, chapter.dims);
  if (options.size && gpus_of(chapter, *options.size) > kMostGpus)
    throw UsageError(fmt::format("--size {}: {} is {}; the most is {}", texts.size, chapter.dims[0],
                                 gpus_of(chapter, *options.size), kMostGpus));
  options.dropout = parse_dropout(app, texts, chapter);
  return options;
}

}  // namespace workbook

// translate SETTINGS PREPROCESSED...: the translation of a program's CUDA files (translate.hpp) as a step of
// the build. That of x.ii is x.cpp. Each line of SETTINGS is NAME=VALUE: a constant of the files and its new
// value.
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "play/translation/translate.hpp"
#include "system/files.hpp"
#include "system/say.hpp"

namespace {

std::map<std::string, std::string> read_constants(const char* settings) {
  std::map<std::string, std::string> constants;
  std::istringstream lines(workbook::file_text(settings));
  for (std::string line; std::getline(lines, line);)
    constants[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  return constants;
}

/// More than a file has with all that it includes.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    workbook::say("usage: translate SETTINGS PREPROCESSED...\n");
    return 2;
  }
  try {
    workbook::Constants constants(read_constants(argv[1]));
    for (int i = 2; i < argc; ++i) {
      const std::filesystem::path preprocessed = argv[i];
      workbook::update_file(std::filesystem::path(preprocessed).replace_extension(".cpp"),
                            workbook::translated(workbook::file_text(preprocessed, kMostBytes), constants));
    }
    constants.require_all_used();
  } catch (const std::exception& error) {
    workbook::say("{}\n", error.what());
    return 1;
  }
  return 0;
}

// translate PREPROCESSED SETTINGS OUTPUT: the translation of a CUDA file (translate.hpp) as a step of the
// build. Each line of SETTINGS is NAME=VALUE: a constant of the file and its new value.
#include <fmt/format.h>

#include <sstream>

#include "harness/files.hpp"
#include "translate.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: translate PREPROCESSED SETTINGS OUTPUT\n");
    return 2;
  }
  try {
    std::map<std::string, std::string> constants;
    std::istringstream lines(workbook::file_text(argv[2]));
    for (std::string line; std::getline(lines, line);)
      constants[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    workbook::replace_file(argv[3], workbook::translated(workbook::file_text(argv[1]), constants));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}

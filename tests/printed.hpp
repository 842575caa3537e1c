/// \file
/// For tests: what code prints.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

/// What `code()` prints to standard output.
template <class Code>
std::string printed(Code code) {
  std::fflush(stdout);
  std::FILE* const file = std::tmpfile();
  const int before = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  code();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

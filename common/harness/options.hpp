/// \file
/// The options that every chapter's executable shares.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chapter.hpp"

namespace workbook {

struct Options {
  std::string device = "auto";  ///< "auto", "cpu" or "gpu"
  std::optional<Shape> size;
  std::vector<std::string> stages;  ///< empty: all
  bool sweep = false;
  std::string json;   ///< a path; empty: none
  std::string model;  ///< a card's name; empty: none
  bool resources = false;
  bool once = false;
  std::string trace;  ///< a path; empty: none
};

/// Parses the command line of a chapter. Returns nothing when help was asked for and printed.
/// \throws UsageError
std::optional<Options> parse_options(int argc, const char* const* argv, const Chapter& chapter);

/// Parses `--size`: as many whole numbers from 1 to 2^31 - 1 as `dims` names ("N", "RxC", "MxKxN"), joined by
/// x. \throws UsageError
Shape parse_shape(const std::string& text, const std::string& dims);

/// How many dimensions "N", "RxC" or "MxKxN" names.
int rank(const std::string& dims);

/// "1048576" or "4096x1024".
std::string shape_text(const Shape& shape, const std::string& dims);

}  // namespace workbook

/// \file
/// Output for a person: tables, colours, a progress line.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace workbook {

/// Whether standard output is a terminal that wants colours: never when NO_COLOR is set (no-color.org).
bool use_colour();
std::string bold(const std::string& text);
std::string red(const std::string& text);

/// Rows of text in columns, two spaces apart: the first column to the left, the others to the right.
class Table {
 public:
  /// `groups` stands above `headings`: each of its texts ends where its column ends and may reach over the
  /// columns to its left, which must then be empty.
  Table(std::vector<std::string> groups, std::vector<std::string> headings)
      : groups_(std::move(groups)), headings_(std::move(headings)) {}

  void add(std::vector<std::string> row) { rows_.push_back({std::move(row), ""}); }
  /// A row that ends in a remark instead of the columns after `row`.
  void add(std::vector<std::string> row, std::string remark) {
    rows_.push_back({std::move(row), std::move(remark)});
  }

  /// All lines, each ended by a line break.
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string remark;
  };
  std::vector<std::string> groups_, headings_;
  std::vector<Row> rows_;
};

/// A line on the terminal that says what is being done, once it takes more than a second. Gone when it ends.
class Progress {
 public:
  Progress();
  ~Progress();
  void say(const std::string& what);

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace workbook

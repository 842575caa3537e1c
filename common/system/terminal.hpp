/// \file
/// Output for the reader: colours, percentages, wrapped text, tables, a progress line.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workbook {

/// Whether the file descriptor is a terminal that takes escape sequences. The environment's TERM=dumb and
/// NO_COLOR (no-color.org) say that it does not.
bool takes_escapes(int output);

/// The text in bold where standard output takes escape sequences, and unchanged otherwise.
std::string bold(const std::string& text);
/// The same in red.
std::string red(const std::string& text);

/// Characters that a line may have: one less than the columns of the terminal that standard output is, or 79
/// where it is none.
std::size_t line_width();
/// The words of `text` in lines of at most `width` characters, each indented by `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = line_width());
/// `text` with each line that is not empty indented by `indent` spaces. Lines longer than `width` are
/// wrapped, and continued where the line's own indentation ends.
std::string indented(const std::string& text, std::size_t indent, std::size_t width = line_width());

/// A name as it may be shown: control characters, which could change the terminal's settings or begin a line,
/// as escape sequences of C ("\x1b", "\n"). Those in `kept` stay.
std::string printable(const std::string& name, std::string_view kept = "");

/// The line or lines that tell the reader what `program` refuses or lacks: the first line of the message
/// wrapped, others, which may be a compiler's, as they are, but all printable.
std::string complaint(const std::string& program, const std::string& message);

/// "75%" for 0.75, and "-" for nothing.
std::string percent(std::optional<double> share);

/// Rows of text in columns that are two spaces apart. The first column is aligned left, the others right.
class Table {
 public:
  /// `groups` are printed above `headings`. Each of them ends where its column ends and may extend over the
  /// columns to its left, whose groups must then be empty.
  Table(std::vector<std::string> groups, std::vector<std::string> headings)
      : groups_(std::move(groups)), headings_(std::move(headings)) {}

  /// Adds a row with a cell for each column.
  void add(std::vector<std::string> row) { rows_.push_back({std::move(row), ""}); }
  /// Adds a row that ends in a remark in place of the columns after `row`.
  void add(std::vector<std::string> row, std::string remark) {
    rows_.push_back({std::move(row), std::move(remark)});
  }

  /// All lines, each with a line break at its end.
  std::string text() const;
  /// Characters of a line that fills all columns, with two spaces between them. `text` has one, where a line
  /// would not fit the terminal.
  std::size_t width() const;
  /// The same with one space.
  std::size_t least_width() const { return width() - (headings_.size() - 1); }

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string remark;
  };
  std::vector<std::size_t> column_widths() const;

  std::vector<std::string> groups_, headings_;
  std::vector<Row> rows_;
};

/// A line on the terminal that says what the program is doing. It appears after one second and is erased when
/// the object is destroyed.
class Progress {
 public:
  Progress();
  ~Progress();
  /// Shows `what` in place of the text before.
  void say(const std::string& what);

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace workbook

#include "play/translation/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

namespace workbook {
namespace {

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> found;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const TokenKind kind = next();
      const std::string_view token = text_.substr(begin, at_ - begin);
      found.push_back({kind, token, user_ && kind != TokenKind::kBlank, line_, &*file_});
      line_ += static_cast<int>(std::count(token.begin(), token.end(), '\n'));
      if (kind == TokenKind::kBlank && token[0] == '#') read_marker(token);
    }
    return found;
  }

 private:
  TokenKind next() {
    const char c = text_[at_];
    if (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n'))
      return skip_to(text_.find('\n', at_)), TokenKind::kBlank;
    if (std::isspace(static_cast<unsigned char>(c))) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) && !at_hash()) ++at_;
      return TokenKind::kBlank;
    }
    if (const std::size_t quote = quote_after_prefix(); quote != std::string_view::npos)
      return skip_text(quote), TokenKind::kText;
    if (starts_word(c)) {
      while (at_ < text_.size() && in_word(text_[at_])) ++at_;
      return TokenKind::kWord;
    }
    const bool dot_number =
        c == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1]));
    if (std::isdigit(static_cast<unsigned char>(c)) || dot_number) return skip_number(), TokenKind::kNumber;
    // < and > stand alone: three that touch are a launch's.
    for (const std::string_view symbol :
         {"...", "->*", "::", "->", "<=", ">=", "==", "!=", "&&", "||", "++", "--"})
      if (text_.substr(at_, symbol.size()) == symbol) return skip_to(at_ + symbol.size()), TokenKind::kSymbol;
    return skip_to(at_ + 1), TokenKind::kSymbol;
  }

  bool at_hash() const { return text_[at_] == '#' && at_ > 0 && text_[at_ - 1] == '\n'; }
  void skip_to(std::size_t end) { at_ = std::min(end, text_.size()); }

  /// Where the quote of a string or character literal is that begins here.
  std::size_t quote_after_prefix() const {
    for (const std::string_view prefix : {"u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L", ""}) {
      const std::size_t quote = at_ + prefix.size();
      if (text_.substr(at_, prefix.size()) != prefix || quote >= text_.size()) continue;
      const bool raw = prefix.ends_with('R');
      if (text_[quote] == '"' || (text_[quote] == '\'' && !raw)) return quote;
    }
    return std::string_view::npos;
  }

  void skip_text(std::size_t quote) {
    if (quote > at_ && text_[quote - 1] == 'R') {
      const std::size_t bracket = text_.find('(', quote);
      if (bracket == std::string_view::npos) return skip_to(text_.size());
      const std::string end = ")" + std::string(text_.substr(quote + 1, bracket - quote - 1)) + "\"";
      const std::size_t found = text_.find(end, bracket);
      return skip_to(found == std::string_view::npos ? text_.size() : found + end.size());
    }
    const char mark = text_[quote];
    for (at_ = quote + 1; at_ < text_.size() && text_[at_] != mark && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    skip_to(at_ + 1);
  }

  void skip_number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_], before = text_[at_ - 1];
      const bool sign =
          (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && at_ + 1 < text_.size() && in_word(text_[at_ + 1]);
      if (!(in_word(c) || c == '.' || sign || separator)) return;
    }
  }

  /// `# 12 "file" 1 3`: what follows is line 12 of that file; 3 stands for a system header.
  void read_marker(std::string_view marker) {
    const std::size_t quote = marker.find('"'), end = marker.rfind('"');
    if (quote == std::string_view::npos || end == quote ||
        !std::isdigit(static_cast<unsigned char>(marker[2])))
      return;
    line_ = std::atoi(std::string(marker.substr(2, quote - 2)).c_str()) - 1;
    const std::string_view flags = marker.substr(end + 1);
    file_ = files_.insert(std::string(marker.substr(quote + 1, end - quote - 1))).first;
    const std::string_view name = std::string_view(*file_).substr(file_->rfind('/') + 1);
    const bool has_kernels = flags.find('3') == std::string_view::npos || name.starts_with("curand_");
    user_ = has_kernels && !file_->starts_with('<');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool user_ = false;
  inline static std::set<std::string> files_ = {""};  // tokens point to them
  std::set<std::string>::iterator file_ = files_.find("");
};

}  // namespace

std::vector<Token> tokens_of(std::string_view preprocessed) { return Lexer(preprocessed).tokens(); }

}  // namespace workbook

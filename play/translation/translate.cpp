#include "play/translation/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "play/translation/ptx.hpp"
#include "play/translation/tokens.hpp"
#include "system/errors.hpp"

namespace workbook {
namespace {

const std::map<std::string_view, std::string_view> kKeywords = {
    {"__global__", "__attribute__((noinline, flatten))"},
    {"__host__", ""},
    {"__forceinline__", "inline __attribute__((always_inline))"},
    {"__inline__", "inline"},
    {"__noinline__", "__attribute__((noinline))"},
    {"__grid_constant__", ""},
};

// Shared memory is the thread's own static storage (cpu/dialect.hpp). The same compiler compiles this and the
// user's file.
#ifdef __clang__
constexpr std::string_view kShared = "static thread_local";
#else  // without constinit, g++ guards a variable of class type, and the guard would be shared memory too
constexpr std::string_view kShared = "static thread_local __constinit";
#endif
constexpr std::string_view kUntraced =
#ifdef __clang__
    "__attribute__((no_sanitize(\"thread\", \"coverage\"))) ";
#else
    "__attribute__((no_sanitize(\"thread\"), no_sanitize_coverage)) ";
#endif
// Other variables of the device have parts of the program of their own, by which it knows them, and pages of
// their own.
constexpr std::string_view kDeviceVariable =
    "__attribute__((section(\"program_device\"), used, aligned(4096)))";
constexpr std::string_view kManagedVariable =
    "__attribute__((section(\"program_managed\"), used, aligned(4096)))";
constexpr std::string_view kConstantVariable =
    "__attribute__((section(\"program_constant\"), used, aligned(4096)))";

const std::map<std::string_view, std::string_view> kIndices = {{"threadIdx", "::cpu::thread_index()"},
                                                               {"blockIdx", "::cpu::block_index()"},
                                                               {"blockDim", "::cpu::block_extent()"},
                                                               {"gridDim", "::cpu::grid_extent()"}};

/// Functions that the C library declares as well as the device. The device's are called.
const std::set<std::string_view> kOfDevice = {
    "printf", "memcpy", "memset", "fminf",  "fmaxf",   "fmin",     "fmax",     "__expf",   "__logf",
    "__sinf", "__cosf", "__powf", "__tanf", "__log2f", "__log10f", "__exp10f", "__sincosf"};

/// Functions whose third argument here is the array's name.
const std::set<std::string_view> kAllocations = {"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync",
                                                 "cudaMallocFromPoolAsync", "cudaHostRegister"};

/// The last words of integer types: their bits, and whether they have a sign where no other word says so.
struct Integer {
  int bits;
  bool has_sign;
};
const std::map<std::string_view, Integer> kIntegers = {
    {"bool", {1, false}},    {"char", {8, true}},       {"short", {16, true}},     {"int", {32, true}},
    {"long", {64, true}},    {"unsigned", {32, false}}, {"size_t", {64, false}},   {"uint", {32, false}},
    {"int8_t", {8, true}},   {"int16_t", {16, true}},   {"int32_t", {32, true}},   {"int64_t", {64, true}},
    {"uint8_t", {8, false}}, {"uint16_t", {16, false}}, {"uint32_t", {32, false}}, {"uint64_t", {64, false}}};

/// Words that end the type of a parameter without a name.
const std::set<std::string_view> kTypeWords = {"int",      "float", "double", "bool",    "char",
                                               "short",    "long",  "half",   "size_t",  "class",
                                               "unsigned", "const", "auto",   "typename"};

/// The text of a string literal, raw or not.
std::string unquoted(std::string_view literal) {
  const auto open = literal.find('"'), bracket = literal.find('(', open);
  if (literal.substr(0, open).ends_with("R"))
    return std::string(literal.substr(bracket + 1, literal.rfind(')') - bracket - 1));
  std::string text;
  for (std::size_t i = open + 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\')
      text += literal[i];
    else
      text += literal[++i] == 'n' ? '\n' : ' ';  // \n, \t
  }
  return text;
}

class Translator {
 public:
  Translator(std::vector<Token> tokens, Constants& constants)
      : all_(std::move(tokens)), constants_(constants) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].kind != TokenKind::kBlank) places_.push_back(i);
    edits_.resize(places_.size());
    match_brackets();
  }

  std::string text() {
    find_scopes();
    find_kernels();
    leave_host_code_alone();
    for (int i = 0; i < count(); ++i)
      if (token(i).user && token(i).kind == TokenKind::kWord && !edits_[i].instead) translate_word(i);
    for (const auto& [name, declarations] : kernels_) add_starters(name, declarations);
    for (int i = 0; i < count(); ++i)
      if (token(i).user && is_launch(i)) translate_launch(i);
    return joined();
  }

 private:
  struct Edit {
    std::string before, after;
    std::optional<std::string> instead;
  };

  /// A declaration of a kernel, as numbers of tokens.
  struct Kernel {
    int template_begin, template_end;  ///< "<" and ">" of `template <...>`; 0 where there is none
    int open, close;                   ///< brackets of its parameters
    int end;                           ///< its ; or the } of its body
  };

  using Range = std::pair<int, int>;  // numbers of tokens, without the last

  // --- Tokens and brackets ---

  int count() const { return static_cast<int>(places_.size()); }
  /// A token, or an empty one where there is none.
  const Token& token(int i) const {
    static const Token none = {};
    return i >= 0 && i < count() ? all_[places_[static_cast<std::size_t>(i)]] : none;
  }
  std::string_view text(int i) const { return token(i).text; }
  bool is_word(int i) const { return token(i).kind == TokenKind::kWord; }
  bool is_name_part(int i) const { return text(i) == "." || text(i) == "->" || text(i) == "::"; }
  /// Whether no white space stands between token i and the next one.
  bool touches_next(int i) const {
    return i + 1 < count() &&
           places_[static_cast<std::size_t>(i)] + 1 == places_[static_cast<std::size_t>(i) + 1];
  }

  [[noreturn]] void refuse(int i, const std::string& why) const {
    const Token& at = token(std::clamp(i, 0, count() - 1));
    throw UsageError(fmt::format("{}:{}: error: {}", *at.file, at.line, why));
  }

  void match_brackets() {
    partners_.assign(static_cast<std::size_t>(count()), -1);
    std::vector<int> open;
    for (int i = 0; i < count(); ++i) {
      const std::string_view t = text(i);
      if (t == "(" || t == "[" || t == "{") open.push_back(i);
      if ((t == ")" || t == "]" || t == "}") && !open.empty()) {
        partners_[static_cast<std::size_t>(i)] = open.back();
        partners_[static_cast<std::size_t>(open.back())] = i;
        open.pop_back();
      }
    }
  }
  bool opens(int i) const { return text(i) == "(" || text(i) == "[" || text(i) == "{"; }
  bool closes(int i) const { return text(i) == ")" || text(i) == "]" || text(i) == "}"; }
  int partner(int i) const {
    const int other = i >= 0 && i < count() ? partners_[static_cast<std::size_t>(i)] : -1;
    if (other < 0) refuse(i, fmt::format("a {} without its partner", text(i)));
    return other;
  }
  /// The > that closes the < at `i`, or -1 where it is a comparison.
  int closing_angle(int i) const {
    int depth = 0;
    for (int j = i; j < count(); ++j) {
      if (opens(j)) {
        j = partner(j);
      } else if (text(j) == "<") {
        ++depth;
      } else if (text(j) == ">" && --depth == 0) {
        return j;
      } else if (text(j) == ";" || closes(j)) {
        return -1;
      }
    }
    return -1;
  }
  /// The parts between the commas of a range, outside of all brackets.
  std::vector<Range> split(int begin, int end) const {
    std::vector<Range> parts;
    int from = begin, angles = 0;
    for (int i = begin; i < end; ++i) {
      if (opens(i)) {
        i = partner(i);
      } else if (text(i) == "<") {
        ++angles;
      } else if (text(i) == ">" && angles > 0) {
        --angles;
      } else if (text(i) == "," && angles == 0) {
        parts.emplace_back(from, i);
        from = i + 1;
      }
    }
    if (from < end || !parts.empty()) parts.emplace_back(from, end);
    return parts;
  }

  // --- Edits ---

  Edit& edit(int i) { return edits_[static_cast<std::size_t>(i)]; }
  void replace(int i, std::string_view by) { edit(i).instead = std::string(by); }
  void remove(int begin, int end) {
    for (int i = begin; i < end; ++i) replace(i, "");
  }
  /// A range as it is translated so far, on one line.
  std::string translated(int begin, int end) const {
    std::string joined;
    for (int i = begin; i < end; ++i) {
      const std::string piece(edits_[static_cast<std::size_t>(i)].instead.value_or(std::string(text(i))));
      joined += (joined.empty() ? "" : " ") + piece;
    }
    return joined;
  }
  std::string joined() const {
    std::string result;
    std::size_t next = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (next == places_.size() || places_[next] != i) {
        result += all_[i].text;
        continue;
      }
      const Edit& edit = edits_[next++];
      result += edit.before;
      result += edit.instead ? *edit.instead : std::string(all_[i].text);
      result += edit.after;
    }
    return result;
  }

  // --- Device code ---

  bool in_device_code(int i) const { return in_device_[static_cast<std::size_t>(i)]; }
  bool at_namespace_scope(int i) const { return in_namespace_[static_cast<std::size_t>(i)]; }

  /// Finds where each declaration or statement begins, the bodies of functions with __device__ or __global__,
  /// and what stands at namespace scope.
  void find_scopes() {
    in_device_.assign(static_cast<std::size_t>(count()), false);
    in_namespace_.assign(static_cast<std::size_t>(count()), false);
    begins_.assign(static_cast<std::size_t>(count()), 0);
    struct Scope {
      bool device, at_namespace;
    };
    std::vector<Scope> scopes = {{false, true}};  // of all that is open
    int begin = 0;
    int round = 0;  // open ( and [
    for (int i = 0; i < count(); ++i) {
      begins_[static_cast<std::size_t>(i)] = begin;
      if (closes(i) && scopes.size() > 1) scopes.pop_back();
      in_device_[static_cast<std::size_t>(i)] = scopes.back().device;
      in_namespace_[static_cast<std::size_t>(i)] = scopes.back().at_namespace;
      if (opens(i))
        scopes.push_back({scopes.back().device || (text(i) == "{" && is_body_for_device(begin, i)),
                          scopes.back().at_namespace && is_namespace_head(begin, i)});
      if (text(i) == "(" || text(i) == "[") ++round;
      if (text(i) == ")" || text(i) == "]") --round;
      const bool after_access = text(i) == ":" && (text(i - 1) == "public" || text(i - 1) == "private" ||
                                                   text(i - 1) == "protected");
      if (text(i) == "{" || text(i) == "}" || (text(i) == ";" && round <= 0) || after_access) begin = i + 1;
      if (text(i) == "{" || text(i) == "}") round = 0;
    }
  }
  /// Whether the { at `open`, in a declaration from `begin` on, is the body of a function or lambda with
  /// __device__ or __global__.
  bool is_body_for_device(int begin, int open) const {
    if (!token(open).user) return false;
    for (int i = open - 1; i >= begin; --i) {
      if (text(i) == "__device__" || text(i) == "__global__") return true;
      if (text(i) == "{" || text(i) == ";" || text(i) == "=") return false;
      const bool is_operator = text(i) == "]" && text(partner(i) - 1) == "operator";
      if (text(i) == "]" && text(i - 1) != "]" && !is_operator) return false;  // a lambda's head ends here
      if (closes(i)) i = partner(i);
    }
    return false;
  }

  /// Functions of host code need not be traced: marks those at namespace scope.
  void leave_host_code_alone() {
    for (int i = 0; i < count(); ++i) {
      const int begin = begins_[static_cast<std::size_t>(i)];
      if (text(i) == "{" && text(i - 1) == ")" && token(i).user && at_namespace_scope(i) &&
          is_host_function(begin, i))
        edit(after_head(begin)).before += kUntraced;
    }
  }
  bool is_namespace_head(int begin, int open) const {
    if (text(open) != "{") return false;
    for (int i = begin; i < open; ++i)
      if (text(i) == "namespace") return true;
    return text(begin) == "extern" && token(begin + 1).kind == TokenKind::kText && begin + 2 == open;
  }
  bool is_host_function(int begin, int open) const {
    for (int i = begin; i < open; ++i) {
      const std::string_view t = text(i);
      if (t == "(") return true;
      if (t == "__device__" || t == "__global__" || t == "constexpr" || t == "=") return false;
    }
    return false;
  }
  /// The first token of a declaration behind `template <...>` and `extern "C"`.
  int after_head(int begin) const {
    while (text(begin) == "template" && text(begin + 1) == "<") {
      const int close = closing_angle(begin + 1);
      if (close < 0) refuse(begin, "this template is not understood");
      begin = close + 1;
    }
    return text(begin) == "extern" && token(begin + 1).kind == TokenKind::kText ? begin + 2 : begin;
  }

  // --- Kernels ---

  void find_kernels() {
    for (int i = 0; i < count(); ++i) {
      if (text(i) != "__global__" || !token(i).user) continue;
      const int begin = begins_[static_cast<std::size_t>(i)];
      int open = i + 1;  // of the parameters
      for (; open < count() && text(open) != "("; ++open)
        if (text(open) == ";" || text(open) == "{") break;
      while (text(open) == "(" &&
             (text(open - 1) == "__launch_bounds__" || text(open - 1) == "__attribute__" ||
              text(open - 1) == "__cluster_dims__" || text(open - 1) == "__maxnreg__")) {
        open = partner(open) + 1;
        while (open < count() && text(open) != "(" && text(open) != ";" && text(open) != "{") ++open;
      }
      if (text(open) != "(" || !is_word(open - 1)) continue;  // also `k<float>(`, a specialisation
      Kernel kernel = {0, 0, open, partner(open), 0};
      const int head = text(begin) == "static" || text(begin) == "extern" ? begin + 1 : begin;
      if (text(head) == "template") {
        if (text(head + 1) != "<") continue;  // an explicit instantiation
        kernel.template_begin = head + 1;
        kernel.template_end = closing_angle(head + 1);
        if (kernel.template_end < 0) refuse(head, "this template is not understood");
      }
      kernel.end = kernel.close + 1;
      while (text(kernel.end) != ";" && text(kernel.end) != "{" && kernel.end < count()) ++kernel.end;
      if (kernel.end == count()) refuse(i, "the kernel has neither a body nor a semicolon");
      if (text(kernel.end) == "{") kernel.end = partner(kernel.end);
      kernels_[std::string(text(open - 1))].push_back(kernel);
    }
  }

  struct Parameter {
    std::string name, declaration;
    bool is_pack = false;
  };

  /// Whether a range has more than qualifiers, so that a word after it is a parameter's name.
  bool has_type(int begin, int end) const {
    for (int i = begin; i < end; ++i)
      if (text(i) != "const" && text(i) != "volatile" && text(i) != "struct" && text(i) != "enum")
        return true;
    return false;
  }

  /// A parameter of a function or of a template; one without a name gets `unnamed`.
  Parameter parameter(Range range, const std::string& unnamed) const {
    const auto [begin, end] = range;
    int value = begin;  // of the default
    while (value < end && text(value) != "=") value = opens(value) ? partner(value) + 1 : value + 1;
    bool is_pack = false;
    for (int i = begin; i < value; ++i) is_pack = is_pack || text(i) == "...";
    for (int i = begin; i + 2 < value; ++i)
      if (text(i) == "(" &&
          (text(i + 1) == "*" || text(i + 1) == "&"))  // of a pointer to a function, an array
        return {std::string(text(partner(i) - 1)), translated(begin, end), is_pack};
    int name = value - 1;
    while (name > begin && text(name) == "]") name = partner(name) - 1;
    if (is_word(name) && text(name - 1) != "::" && has_type(begin, name) && !kTypeWords.contains(text(name)))
      return {std::string(text(name)), translated(begin, end), is_pack};
    return {unnamed,
            translated(begin, value) + " " + unnamed + (value < end ? " " + translated(value, end) : ""),
            is_pack};
  }

  std::vector<Parameter> parameters(int begin, int end, const std::string& unnamed) const {
    std::vector<Parameter> found;
    if (end == begin + 1 && text(begin) == "void") return found;
    for (const Range& range : split(begin, end))
      found.push_back(parameter(range, fmt::format("{}{}", unnamed, found.size())));
    return found;
  }

  static std::string joined(const std::vector<Parameter>& parameters, bool names) {
    std::string text;
    for (const Parameter& each : parameters)
      text +=
          (text.empty() ? "" : ", ") + (names ? each.name + (each.is_pack ? "..." : "") : each.declaration);
    return text;
  }

  /// The name of the function that starts a kernel.
  static std::string starter(std::string_view kernel) { return fmt::format("program_start_{}", kernel); }

  /// Adds that function for each overload of a kernel, behind its first declaration.
  void add_starters(const std::string& name, const std::vector<Kernel>& declarations) {
    std::set<std::string> seen;
    for (const Kernel& kernel : declarations) {
      const std::vector<Parameter> given = parameters(kernel.open + 1, kernel.close, "program_argument");
      std::string key = kernel.template_end ? "template" : "";
      for (const Parameter& each : given) {
        std::string type = each.declaration.substr(0, each.declaration.find(" = "));
        if (type.ends_with(" " + each.name)) type.resize(type.size() - each.name.size());
        key += type + ",";
      }
      if (!seen.insert(key).second) continue;
      std::string head, arguments;
      if (kernel.template_end) {
        const std::vector<Parameter> types =
            parameters(kernel.template_begin + 1, kernel.template_end, "program_type");
        if (types.empty()) continue;  // a specialisation: the template's serves
        head = "template <" + joined(types, false) + "> ";
        arguments = "<" + joined(types, true) + ">";
      }
      const std::string list = joined(given, false), names = joined(given, true);
      edit(kernel.end).after += fmt::format(
          " {}static inline void {}(::program::Configuration program_configuration{}{}) {{ "
          "::program::start(program_configuration, {}{}{}{}); }}",
          head, starter(name), list.empty() ? "" : ", ", list, name, arguments, names.empty() ? "" : ", ",
          names);
    }
  }

  // --- Words ---

  void translate_word(int i) {
    const std::string_view word = text(i);
    set_constant(i);
    if (word == "__shared__") return translate_shared(i);
    if (word == "__device__" || word == "__constant__" || word == "__managed__") return translate_space(i);
    if (word == "asm" || word == "__asm__") return translate_ptx(i);
    if (word == "__align__") return align(i);
    if ((word == "__launch_bounds__" || word == "__maxnreg__" || word == "__cluster_dims__") &&
        text(i + 1) == "(")
      return remove(i, partner(i + 1) + 1);
    if (const auto keyword = kKeywords.find(word); keyword != kKeywords.end())
      return replace(i, keyword->second);
    if (kernels_.contains(std::string(word))) note_address(i);
    if (is_name_part(i - 1)) return;
    if (const auto index = kIndices.find(word); index != kIndices.end() && in_device_code(i))
      return replace(i, index->second);
    if (text(i + 1) != "(") return;
    const bool is_declared =
        is_word(i - 1) && text(i - 1) != "return" && text(i - 1) != "else" && text(i - 1) != "do";
    if (word == "clock" && !is_declared && in_device_code(i)) return replace(i, "::program::clock");
    if (kOfDevice.contains(word) && !is_declared) return replace(i, fmt::format("::cpu::{}", word));
    if ((word == "exit" || word == "abort") && !is_declared) return replace(i, fmt::format("::{}", word));
    if (kAllocations.contains(word)) name_allocation(i);
    if (word == "cudaLaunchKernel" || word == "cudaLaunchCooperativeKernel") keep_type_of_kernel(i);
  }

  /// __align__(n), or an alignas(n) where C++ has none.
  void align(int i) {
    replace(i, "__attribute__((aligned");
    edit(partner(i + 1)).after += "))";
  }

  void set_constant(int i) {
    const std::string* const value = constants_.value(text(i));
    if (!value || text(i + 1) != "=" || token(i + 2).kind != TokenKind::kNumber) return;
    if (!is_word(i - 1) && text(i - 1) != ",") return;
    require_held(i, *value);
    replace(i + 2, *value);
    constants_.note_used(text(i));
  }

  /// \throws UsageError where the variable at `i` is an integer that cannot be that number
  void require_held(int i, const std::string& value) const {
    const auto type = kIntegers.find(text(i - 1));
    if (type == kIntegers.end()) return;
    bool has_sign = type->second.has_sign;
    for (int j = i - 1; kIntegers.contains(text(j)); --j) has_sign = has_sign && text(j) != "unsigned";
    const double most = std::exp2(type->second.bits - has_sign), least = has_sign ? -most : 0;
    const bool is_whole =
        value.find_first_of("xX") != std::string::npos || value.find_first_of(".eEfF") == std::string::npos;
    const double number = std::strtod(value.c_str(), nullptr);
    if (!is_whole || number < least || number >= most)
      refuse(i, fmt::format("--set {}={}: the variable is a whole number from {:.0f} to {:.0f}", text(i),
                            value, least, most - 1));
  }

  /// `extern __shared__ T name[];` and other arrays in shared memory.
  void translate_shared(int i) {
    int begin = begins_[static_cast<std::size_t>(i)];
    int end = i;
    while (text(end) != ";" && end < count()) ++end;
    bool is_extern = false;
    for (int j = begin; j < end; ++j) is_extern = is_extern || text(j) == "extern";
    if (!is_extern) {
      for (int j = begin; j < i; ++j)
        if (text(j) == "static") replace(j, "");
      if (text(i + 1) == "alignas") align(i + 1);
      return replace(i, kShared);
    }
    int bracket = i;
    while (bracket < end && !(text(bracket) == "[" && text(bracket + 1) == "]")) ++bracket;
    if (bracket == end)
      refuse(i, "extern __shared__ needs an array without a size: extern __shared__ float name[]");
    const std::string name(text(bracket - 1)), more = translated(bracket + 2, end);
    std::string type;
    for (int j = begin; j < bracket - 1; ++j) {
      if (text(j) == "__align__" || text(j) == "alignas")
        j = partner(j + 1);
      else if (text(j) != "extern" && text(j) != "__shared__" && text(j) != "static")
        type += (type.empty() ? "" : " ") + std::string(text(j));
    }
    remove(begin, end);
    const std::string pointer = more.empty() ? type + "*" : fmt::format("{} (*){}", type, more);
    const std::string memory = fmt::format("reinterpret_cast<{}>(::cpu::dynamic_shared_memory())", pointer);
    if (in_device_code(i))
      return replace(begin, (more.empty() ? fmt::format("{}* const {}", type, name)
                                          : fmt::format("{} (* const {}){}", type, name, more)) +
                                fmt::format(" = ({})::cpu::dynamic_shared_memory()", pointer));
    // At namespace scope, where the block's memory is not known yet: each use becomes an expression.
    for (int j = end; j < count(); ++j)
      if (text(j) == name && is_word(j) && in_device_code(j) && !is_name_part(j - 1))
        replace(j, fmt::format("(({})::cpu::dynamic_shared_memory())", pointer));
  }

  bool is_space(int i) const {
    return text(i) == "__device__" || text(i) == "__constant__" || text(i) == "__managed__";
  }

  /// __device__, __constant__ and __managed__: of a function, nothing; of a variable, its place.
  void translate_space(int i) {
    const int begin = begins_[static_cast<std::size_t>(i)];
    replace(i, "");
    if (in_device_code(i)) return;
    int end = i;
    bool is_constant = false, is_managed = false, is_const = false;
    for (int j = begin; j < count() && text(j) != "(" && text(j) != "=" && text(j) != ";" && text(j) != "[" &&
                        text(j) != "{";
         ++j) {
      if (text(j) == "operator") return;  // a function such as operator+=
      is_constant = is_constant || text(j) == "__constant__";
      is_managed = is_managed || text(j) == "__managed__";
      is_const = is_const || text(j) == "const" || text(j) == "constexpr";
      end = j + 1;
      if (text(j) == "__align__" || text(j) == "__attribute__" || text(j) == "alignas")
        end = j = partner(j + 1);
    }
    const bool is_variable = text(end) == "=" || text(end) == ";" || text(end) == "[" || text(end) == "{";
    bool is_first = true;  // of the words in `__device__ __managed__`
    for (int j = begin; j < i; ++j) is_first = is_first && !is_space(j);
    if (!is_variable || i >= end || !is_first || is_const || text(begin) == "extern") return;
    replace(i, is_constant ? kConstantVariable : is_managed ? kManagedVariable : kDeviceVariable);
    if (!is_constant && at_namespace_scope(i)) name_variables(end - 1);
  }

  /// Tells the device of the variables of a declaration, the first of which has its name at `first`.
  void name_variables(int first) {
    int semicolon = first;
    while (text(semicolon) != ";" && semicolon < count())
      semicolon = opens(semicolon) ? partner(semicolon) + 1 : semicolon + 1;
    if (semicolon == count()) refuse(first, "this declaration does not end");
    for (const auto& [begin, end] : split(first, semicolon)) {
      int name = begin;
      while (name < end && text(name + 1) != "=" && text(name + 1) != "[" && text(name + 1) != "{" &&
             name + 1 < end)
        ++name;
      edit(semicolon).after +=
          fmt::format(" static const ::program::Variable program_variable_{0}(\"{0}\", {0});", text(name));
    }
  }

  /// `asm("mov.u32 %0, %%laneid;" : "=r"(x))` becomes a function of its operands that is called at once:
  /// `[&](auto&& o0) { ... }((x))`.
  void translate_ptx(int i) {
    if (!in_device_code(i)) return;
    int open = i + 1;
    while (text(open) == "volatile" || text(open) == "__volatile__") ++open;
    if (text(open) != "(") return;
    int end = open + 1;  // of the instructions
    std::string instructions;
    for (; token(end).kind == TokenKind::kText; ++end) instructions += unquoted(text(end));
    const std::vector<int> constraints = constraints_of(end, partner(open));
    const PtxStatements ptx = ptx_statements(instructions, static_cast<int>(constraints.size()));
    if (!ptx.unknown.empty()) return refuse_ptx(i, open, ptx.unknown);
    std::string parameters;
    for (std::size_t k = 0; k < constraints.size(); ++k)
      parameters += fmt::format("{}auto&& o{}", k == 0 ? "" : ", ", k);
    remove(i + 1, open);
    replace(i, fmt::format("[&]({}) __attribute__((always_inline)) {{ {}}}", parameters, ptx.code));
    keep_operands(open + 1, partner(open), constraints);
  }

  void refuse_ptx(int i, int open, const std::string& instruction) {
    std::ostringstream what;
    what << std::quoted("inline PTX: " + instruction.substr(0, 60));
    const int line = token(i).line;
    remove_text(i, partner(open) + 1);
    replace(i, fmt::format("::program::refuse({}, \"{}\", {})", what.str(), *token(i).file, line));
  }

  /// Where the constraints of the operands are, such as "=r", after the instructions of an asm statement.
  std::vector<int> constraints_of(int begin, int end) const {
    std::vector<int> found;
    int section = 0;
    for (int i = begin; i < end; ++i) {
      if (text(i) == ":") ++section;
      if (text(i) == "::") section += 2;
      if (token(i).kind == TokenKind::kText && section < 3) found.push_back(i);
      if (opens(i)) i = partner(i);
    }
    return found;
  }

  /// Leaves the operands of an asm statement, with commas between them.
  void keep_operands(int begin, int end, const std::vector<int>& constraints) {
    int from = begin;
    for (const int constraint : constraints) {
      remove_text(from, constraint + 1);
      if (constraint != constraints[0]) replace(constraint, ",");
      from = partner(constraint + 1) + 1;
    }
    remove_text(from, end);
  }

  /// Removes tokens, but no line.
  void remove_text(int begin, int end) {
    for (int i = begin; i < end; ++i)
      replace(i,
              std::string(static_cast<std::size_t>(std::count(text(i).begin(), text(i).end(), '\n')), '\n'));
  }

  /// cudaLaunchKernel((void*)kernel, ...): without the cast, the kernel says what its parameters are.
  void keep_type_of_kernel(int i) {
    if (text(i + 2) != "(") return;
    const int close = partner(i + 2), begin = text(i + 3) == "const" ? i + 4 : i + 3;
    if (text(begin) == "void" && text(begin + 1) == "*" && close == begin + 2) remove(i + 2, close + 1);
  }

  /// `(void*)kernel` keeps the kernel's parameters in mind, for graphs and cudaLaunchKernel().
  void note_address(int i) {
    int begin = i;  // of `space::kernel`
    while (text(begin - 1) == "::") begin -= is_word(begin - 2) ? 2 : 1;
    int open = begin - 4;
    if (text(open) == "const") --open;
    if (text(open) != "(" || text(begin - 3) != "void" || text(begin - 2) != "*" || text(begin - 1) != ")")
      return;
    if (edit(open).instead) return;  // an argument of cudaLaunchKernel()
    remove(open + 1, begin - 1);
    replace(open + 1, "::program::KernelAddress");
  }

  /// `cudaMalloc((void**)&x, bytes)` becomes `cudaMalloc(&x, bytes, "x")`.
  void name_allocation(int i) {
    const int close = partner(i + 1);
    const std::vector<Range> arguments = split(i + 2, close);
    if (arguments.size() < 2) return;
    auto [begin, end] = arguments[0];
    if (text(begin) == "(" && text(begin + 1) == "void" && text(begin + 2) == "*") {
      const int after = partner(begin) + 1;
      remove(begin, after);
      begin = after;
    }
    std::string name;
    for (int j = text(begin) == "&" ? begin + 1 : begin; j < end; ++j) name += text(j);
    std::ostringstream quoted;
    quoted << std::quoted(name.substr(0, 40));
    edit(arguments[1].second - 1).after += ", " + quoted.str();
  }

  // --- Launches ---

  bool is_launch(int i) const {
    return text(i) == "<" && text(i + 1) == "<" && text(i + 2) == "<" && touches_next(i) &&
           touches_next(i + 1);
  }
  bool ends_configuration(int i) const {
    return text(i) == ">" && text(i + 1) == ">" && text(i + 2) == ">" && touches_next(i) &&
           touches_next(i + 1);
  }

  void translate_launch(int i) {
    int end = i + 3;
    while (!ends_configuration(end)) {
      if (end >= count() || text(end) == ";" || closes(end)) refuse(i, "<<< without >>>");
      end = opens(end) ? partner(end) + 1 : end + 1;
    }
    const int open = end + 3;
    if (text(open) != "(") refuse(i, "no ( behind >>>");
    const bool has_arguments = partner(open) > open + 1;
    int begin = i - 1;         // of what is launched
    if (text(begin) == ")") {  // (kernel), as macros write it
      const int other = partner(begin);
      bool is_name = false;
      for (int j = other + 1; j < begin; ++j) is_name = is_name || kernels_.contains(std::string(text(j)));
      if (is_name && (is_word(begin - 1) || text(begin - 1) == ">")) {
        replace(begin, "");
        replace(other, "");
        --begin;
      }
    }
    if (text(begin) == ">") {
      int depth = 0;
      for (;; --begin) {
        if (begin < 0) refuse(i, "what is launched here is not understood");
        if (closes(begin))
          begin = partner(begin);
        else if (text(begin) == ">")
          ++depth;
        else if (text(begin) == "<" && --depth == 0)
          break;
      }
      --begin;
    }
    const int name = begin;
    if (closes(begin)) begin = partner(begin);
    while (begin > 0 && closes(begin)) begin = partner(begin);
    if (!is_word(begin) && is_word(begin - 1) && opens(begin)) --begin;
    while (is_name_part(begin - 1)) begin -= is_word(begin - 2) ? 2 : 1;
    remove(i, i + 3);
    remove(end, end + 3);
    if (kernels_.contains(std::string(text(name)))) {
      replace(name, starter(text(name)));
      replace(i, "(::program::Configuration(");
      replace(end, has_arguments ? ")," : ")");
      replace(open, "");
      return;
    }
    edit(begin).before += "(::program::by_pointer(";
    replace(i, ", ::program::Configuration(");
    replace(end, "))");
    edit(partner(open)).after += ")";
  }

  std::vector<Token> all_;
  Constants& constants_;
  std::vector<std::size_t> places_;  // in all_, of the tokens that are not blank
  std::vector<Edit> edits_;
  std::vector<int> partners_;  // of each bracket, its other one
  std::vector<int> begins_;    // of the declaration or statement that holds a token
  std::vector<bool> in_device_, in_namespace_;
  std::map<std::string, std::vector<Kernel>> kernels_;
};

}  // namespace

void Constants::require_all_used() const {
  for (const auto& [name, value] : values_)
    if (!used_.contains(name))
      throw UsageError(
          fmt::format("error: --set {}={}: no variable {} starts with a number, and no source defines "
                      "such a macro",
                      name, value, name));
}

std::string translated(std::string_view preprocessed, Constants& constants) {
  return Translator(tokens_of(preprocessed), constants).text();
}

}  // namespace workbook

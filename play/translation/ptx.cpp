#include "play/translation/ptx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <vector>

namespace workbook {
namespace {

using Words = std::vector<std::string>;
using Code = std::optional<std::string>;  // nothing: not known

const std::map<std::string, std::string> kTypes = {{"b8", "unsigned char"},
                                                   {"u8", "unsigned char"},
                                                   {"s8", "signed char"},
                                                   {"b16", "unsigned short"},
                                                   {"u16", "unsigned short"},
                                                   {"s16", "short"},
                                                   {"b32", "unsigned"},
                                                   {"u32", "unsigned"},
                                                   {"s32", "int"},
                                                   {"b64", "unsigned long long"},
                                                   {"u64", "unsigned long long"},
                                                   {"s64", "long long"},
                                                   {"f32", "float"},
                                                   {"f64", "double"},
                                                   {"pred", "bool"}};

/// Special registers; those of the clock go on by 1000 with each call, as clock() does.
const std::map<std::string, std::string> kRegisters = {{"laneid", "::cpu::lane_index()"},
                                                       {"warpid", "::program::warp_index()"},
                                                       {"smid", "::program::multiprocessor_index()"},
                                                       {"nsmid", "::cpu::multiprocessors()"},
                                                       {"clock", "::program::clock()"},
                                                       {"clock64", "::program::clock()"},
                                                       {"globaltimer", "::program::clock()"},
                                                       {"globaltimer_lo", "::program::clock()"},
                                                       {"lanemask_eq", "(1u << ::cpu::lane_index())"},
                                                       {"lanemask_lt", "((1u << ::cpu::lane_index()) - 1)"},
                                                       {"lanemask_le", "((2u << ::cpu::lane_index()) - 1)"},
                                                       {"lanemask_gt", "(-2u << ::cpu::lane_index())"},
                                                       {"lanemask_ge", "(-1u << ::cpu::lane_index())"}};

/// Instructions without operands that say where they go, by all their words.
const std::map<std::string, std::string> kCalls = {
    {"bar.sync 0", "::cpu::__syncthreads();"},
    {"barrier.sync 0", "::cpu::__syncthreads();"},
    {"cp.async.commit_group", "::cpu::pipeline_commit();"},
    {"cp.async.wait_all", "::cpu::pipeline_commit(); ::cpu::pipeline_wait(0);"},
    {"trap", "::cpu::__trap();"}};

/// Instructions that compute: {0} is the type of the operands, {1} and so on are their values.
const std::map<std::string, std::string> kFormulas = {{"add", "({1} + {2})"},
                                                      {"sub", "({1} - {2})"},
                                                      {"mul", "({1} * {2})"},
                                                      {"mul.lo", "({1} * {2})"},
                                                      {"mul.hi", "::cpu::__umulhi({1}, {2})"},
                                                      {"mad.lo", "({1} * {2} + {3})"},
                                                      {"fma", "::program::ptx::fma({1}, {2}, {3})"},
                                                      {"min", "::cpu::min({1}, {2})"},
                                                      {"max", "::cpu::max({1}, {2})"},
                                                      {"shl", "::program::ptx::shl({1}, {2})"},
                                                      {"shr", "::program::ptx::shr({1}, {2})"},
                                                      {"and", "({1} & {2})"},
                                                      {"or", "({1} | {2})"},
                                                      {"xor", "({1} ^ {2})"},
                                                      {"not", "(~{1})"},
                                                      {"neg", "(-{1})"},
                                                      {"ex2.approx", "::cpu::approximate_exp2({1})"},
                                                      {"lg2.approx", "::cpu::__log2f({1})"},
                                                      {"rcp.approx", "::cpu::__fdividef(1.0f, {1})"},
                                                      {"sqrt.approx", "::cpu::__fsqrt_rn({1})"},
                                                      {"rsqrt.approx", "::cpu::rsqrtf({1})"},
                                                      {"sin.approx", "::cpu::__sinf({1})"},
                                                      {"cos.approx", "::cpu::__cosf({1})"},
                                                      {"tanh.approx", "::cpu::__tanhf({1})"},
                                                      {"popc", "::cpu::__popc({1})"},
                                                      {"brev", "::cpu::__brev({1})"},
                                                      {"prmt", "::cpu::__byte_perm({1}, {2}, {3})"},
                                                      {"activemask", "::cpu::__activemask()"}};

const std::map<std::string, std::string> kComparisons = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                                         {"le", "<="}, {"gt", ">"},  {"ge", ">="}};

const std::map<std::string, std::string> kAtomics = {
    {"add", "atomicAdd"}, {"min", "atomicMin"}, {"max", "atomicMax"},   {"and", "atomicAnd"},
    {"or", "atomicOr"},   {"xor", "atomicXor"}, {"exch", "atomicExch"}, {"cas", "atomicCAS"}};

/// By their scope, which membar calls "gl" where fence calls it "gpu".
const std::map<std::string, std::string> kFences = {{"cta", "::cpu::__threadfence_block();"},
                                                    {"gl", "::cpu::__threadfence();"},
                                                    {"gpu", "::cpu::__threadfence();"},
                                                    {"sys", "::cpu::__threadfence_system();"}};

/// Numbers of matrices: the fragment's, and its C++ type with how many of them a register holds.
struct Number {
  std::string name, type;
  int in_register;
};
const std::map<std::string, Number> kNumbers = {
    {"f16", {"kHalf", "unsigned", 2}},  {"bf16", {"kBfloat16", "unsigned", 2}},
    {"tf32", {"kTf32", "unsigned", 1}}, {"f32", {"kFloat", "float", 1}},
    {"s8", {"kInt8", "unsigned", 4}},   {"u8", {"kUint8", "unsigned", 4}},
    {"s32", {"kInt32", "int", 1}}};

template <class Value>
Code found(const std::map<std::string, Value>& table, const std::string& name) {
  const auto entry = table.find(name);
  return entry == table.end() ? Code() : Code(entry->second);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

/// Parts between separators that stand outside of brackets.
Words parts(std::string_view text, char separator) {
  Words found;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == separator && depth == 0)
      found.push_back(trimmed(part)), part.clear();
    else
      part += c;
  }
  if (!trimmed(part).empty()) found.push_back(trimmed(part));
  return found;
}

class Translation {
 public:
  explicit Translation(int operands) : operands_(operands) {}

  Code statement(std::string text) {
    static const std::regex declares(R"(^\.reg\s+\.(\w+)\s+([\w\s,]+)$)"),
        guarded(R"(^@(!?)(\w+)\s+([^]+)$)");
    std::smatch match;
    if (std::regex_match(text, match, declares)) return declaration(match[1], parts(match[2].str(), ','));
    std::string condition;
    if (std::regex_match(text, match, guarded)) {
      const Code value = number(match[2], "bool");
      if (!value) return {};
      condition = fmt::format("if ({}{}) ", match[1].str(), *value);
      text = std::string(match[3]);
    }
    const Code code = instruction(text);
    return code ? Code(condition + "{ " + *code + " }") : Code();
  }

 private:
  // --- Operands ---

  Code declaration(const std::string& type, const Words& names) {
    const Code cpp = found(kTypes, type);
    std::string code;
    for (const std::string& name : names) {
      registers_.insert(name);
      if (cpp) code += fmt::format("{} of_{}{{}}; ", *cpp, name);
    }
    return cpp ? Code(code) : Code();
  }

  /// An operand that can be assigned to.
  Code place(const std::string& operand) const {
    static const std::regex numbered(R"(^%(\d+)$)");
    std::smatch match;
    if (std::regex_match(operand, match, numbered) && std::stoi(match[1]) < operands_)
      return "o" + match[1].str();
    return registers_.contains(operand) ? Code("of_" + operand) : Code();
  }

  /// The value of an operand.
  Code number(const std::string& operand, const std::string& type) const {
    static const std::regex special(R"(^%%?([a-z_]\w*)$)"), literal(R"(^-?(0[xX][0-9a-fA-F]+|\d+)U?$)"),
        bits(R"(^0[fF]([0-9a-fA-F]{8})$)");
    std::smatch match;
    if (const Code at = place(operand)) return fmt::format("::program::ptx::get<{}>({})", type, *at);
    if (std::regex_match(operand, match, special)) return found(kRegisters, match[1]);
    if (std::regex_match(operand, match, bits))
      return fmt::format("::program::ptx::get<{}>(0x{}u)", type, match[1].str());
    if (std::regex_match(operand, literal)) return fmt::format("static_cast<{}>({})", type, operand);
    return {};
  }

  /// `[%1 + 16]`, of shared memory or by a generic address.
  Code address(const std::string& operand, bool shared) const {
    static const std::regex form(R"(^\[\s*([%\w]+)\s*(?:\+\s*(-?\w+)\s*)?\]$)");
    std::smatch match;
    if (!std::regex_match(operand, match, form)) return {};
    const Code base = place(match[1]);
    const Code more = match[2].matched ? number(match[2], "long long") : Code("0");
    if (!base || !more) return {};
    return fmt::format("::program::ptx::{}({}, {})", shared ? "shared" : "generic", *base, *more);
  }

  /// `{%0, %1}`, or one operand without brackets, with a comma before each.
  template <class Each>
  Code listed(const std::string& operand, const Each& each) const {
    std::string code;
    const bool several = operand.starts_with("{") && operand.ends_with("}");
    for (const std::string& one :
         several ? parts(operand.substr(1, operand.size() - 2), ',') : Words{operand}) {
      const Code at = each(one);
      if (!at) return {};
      code += ", " + *at;
    }
    return code;
  }
  Code places(const std::string& operand) const {
    return listed(operand, [&](const std::string& one) { return place(one); });
  }
  Code numbers(const std::string& operand, const std::string& type) const {
    return listed(operand, [&](const std::string& one) { return number(one, type); });
  }

  static std::string put(const std::string& to, const std::string& value) {
    return fmt::format("::program::ptx::put({}, {});", to, value);
  }

  // --- Instructions ---

  Code instruction(const std::string& text) const {
    if (const Code call = found(kCalls, text)) return call;
    const auto blank = std::min(text.find_first_of(" \t\r\n"), text.size());
    const Words opcode = parts(text.substr(0, blank), '.');
    const Words operands = parts(text.substr(blank), ',');
    if (opcode.empty()) return {};
    const std::string& name = opcode[0];
    if ((name == "fence" || name == "membar") && operands.empty()) return fence(opcode);
    if (name == "prefetch" || name == "prefetchu" || name == "nanosleep") return "";
    if (operands.empty()) return {};
    if (name == "cp") return copy(opcode, operands);
    if (name == "ld" || name == "st") return access(opcode, operands);
    if (name == "red" || name == "atom") return atomic(opcode, operands);
    if (name == "ldmatrix") return load_matrix(opcode, operands);
    if (name == "mma") return product(opcode, operands);
    if (name == "mov") return move(opcode.back(), operands);
    if (name == "cvta" && operands.size() == 2) return to_address(opcode, operands);
    if (name == "cvt" && operands.size() >= 2) return conversion(opcode, operands);
    if (name == "setp" && operands.size() == 3) return comparison(opcode, operands);
    if (name == "selp" && operands.size() == 4) return selection(opcode.back(), operands);
    return formula(opcode, operands);
  }

  static bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  static Code fence_of(const Words& opcode) {
    for (const auto& [scope, call] : kFences)
      if (has(opcode, scope)) return call;
    return {};
  }

  static Code fence(const Words& opcode) {
    if (opcode[0] == "membar") return opcode.size() == 2 ? fence_of(opcode) : Code();
    return opcode.size() == 3 && (opcode[1] == "acq_rel" || opcode[1] == "sc") ? fence_of(opcode) : Code();
  }

  /// cp.async, which becomes a copy of the pipeline.
  Code copy(const Words& opcode, const Words& operands) const {
    if (opcode.size() < 3 || opcode[1] != "async") return {};
    if (opcode[2] == "wait_group") {
      const Code left = number(operands[0], "unsigned long");
      return left ? Code(fmt::format("::cpu::pipeline_wait({});", *left)) : Code();
    }
    if ((opcode[2] != "ca" && opcode[2] != "cg") || operands.size() < 3 || operands.size() > 4 ||
        has(opcode, "L2::cache_hint"))  // its last operand is a policy
      return {};
    const Code to = address(operands[0], true), from = address(operands[1], false);
    const Code bytes = number(operands[2], "unsigned"),
               read = operands.size() == 4 ? number(operands[3], "unsigned") : bytes;
    if (!to || !from || !bytes || !read) return {};
    return fmt::format("::cpu::pipeline_copy({}, {}, {}, {} - {});", *to, *from, *bytes, *bytes, *read);
  }

  static bool is_shared(const Words& opcode) { return has(opcode, "shared") || has(opcode, "shared::cta"); }

  Code access(const Words& opcode, const Words& operands) const {
    for (const char* other : {"const", "param", "local", "mmio", "shared::cluster", "v8"})
      if (has(opcode, other)) return {};
    const bool loads = opcode[0] == "ld", shared = is_shared(opcode);
    const Code type = found(kTypes, opcode.back());
    if (!type || operands.size() != 2) return {};
    const Code at = address(operands[loads ? 1 : 0], shared);
    const std::string& values = operands[loads ? 0 : 1];
    const Code registers = loads ? places(values) : numbers(values, *type);
    if (!at || !registers) return {};
    const bool acquires = has(opcode, "acquire"), releases = has(opcode, "release");
    const bool strong = acquires || releases || has(opcode, "relaxed") || has(opcode, "volatile");
    const std::string call = loads ? (strong ? fmt::format("strong_load<{}, {}>", acquires, *type)
                                             : fmt::format("load<{}>", *type))
                                   : fmt::format("{}store<{}>", strong ? "strong_" : "", *type);
    const Code before = releases ? fence_of(opcode) : Code("");
    if (!before) return {};
    return fmt::format("{}::program::ptx::{}({}{});", *before, call, *at, *registers);
  }

  Code atomic(const Words& opcode, const Words& operands) const {
    const bool returns = opcode[0] == "atom";
    const Words given(operands.begin() + (returns ? 1 : 0), operands.end());
    const Code type = found(kTypes, opcode.back());
    const Code function = opcode.size() > 2 ? found(kAtomics, opcode[opcode.size() - 2]) : Code();
    if (!type || !function || given.size() < 2) return {};
    const std::string call = "::cpu::" + *function + (has(opcode, "sys") ? "_system" : "");
    const Code at = address(given[0], is_shared(opcode));
    const Code first = number(given[1], *type),
               second = given.size() > 2 ? number(given[2], *type) : Code("");
    if (!at || !first || !second) return {};
    const bool both = has(opcode, "acq_rel");
    const Code before = both || has(opcode, "release") ? fence_of(opcode) : Code("");
    const Code after = both || has(opcode, "acquire") ? fence_of(opcode) : Code("");
    const std::string value = fmt::format("{}(static_cast<{}*>({}), {}{}{})", call, *type, *at, *first,
                                          second->empty() ? "" : ", ", *second);
    const Code to = returns ? place(operands[0]) : Code("");
    if (!before || !after || !to) return {};
    return *before + (returns ? put(*to, value) : value + ";") + *after;
  }

  Code load_matrix(const Words& opcode, const Words& operands) const {
    if (!has(opcode, "m8n8") || !has(opcode, "b16") || !is_shared(opcode) || operands.size() != 2) return {};
    const Code to = places(operands[0]), at = address(operands[1], true);
    if (!to || !at) return {};
    return fmt::format("::program::ptx::ldmatrix({}, {}{});", has(opcode, "trans"), *at, *to);
  }

  /// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
  Code product(const Words& opcode, const Words& operands) const {
    static const std::regex shape(R"(m16n8k(\d+))");
    std::smatch match;
    const bool saturates = has(opcode, "satfinite");
    if (operands.size() != 4 || opcode.size() != (saturates ? 11u : 10u) || opcode[1] != "sync" ||
        !std::regex_match(opcode[3], match, shape) || opcode[4] != "row" || opcode[5] != "col")
      return {};
    const int k = std::stoi(match[1]);
    const char* names[] = {"d", "a", "b", "c"};
    const int elements[] = {4, k / 2, k / 4, 4};
    std::string code, fragments;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto entry = kNumbers.find(opcode[opcode.size() - 4 + i]);
      if (entry == kNumbers.end() || !is_depth(opcode[opcode.size() - 3], k)) return {};
      const Number& number = entry->second;
      const Code from = i == 0 ? Code(", 0") : numbers(operands[i], number.type);
      if (!from) return {};
      const std::string count = std::to_string(elements[i] / number.in_register);
      code += fmt::format("{} {}[{}] = {{{}}}; ", number.type, names[i], count, from->substr(2));
      fragments += ", ::cpu::FragmentNumber::" + number.name;
    }
    const Code to = places(operands[0]);
    if (!to) return {};
    return code + fmt::format(
                      "::program::ptx::mma<16, 8, {}{}>(d, a, b, c, {}); "
                      "::program::ptx::put_all(d{});",
                      k, fragments, saturates, *to);
  }

  /// Whether there is an instruction for operands of that type with k as their depth.
  static bool is_depth(const std::string& type, int k) {
    if (type == "f16" || type == "bf16") return k == 8 || k == 16;
    if (type == "tf32") return k == 4 || k == 8;
    return (type == "s8" || type == "u8") && (k == 16 || k == 32);
  }

  Code move(const std::string& of, const Words& operands) const {
    const Code type = found(kTypes, of);
    if (!type || operands.size() != 2) return {};
    const std::string half = of == "b64" ? "unsigned" : "unsigned short";
    if (operands[1].starts_with("{")) {  // two registers into one
      const Code to = place(operands[0]), both = numbers(operands[1], half);
      if (!to || !both) return {};
      return put(*to, fmt::format("::program::ptx::Pair<{}>{{{}}}", half, both->substr(2)));
    }
    if (operands[0].starts_with("{")) {
      const Code both = places(operands[0]), from = number(operands[1], *type);
      if (!both || !from) return {};
      return fmt::format("::program::ptx::split<{}>({}{});", half, *from, *both);
    }
    const Code to = place(operands[0]), from = number(operands[1], *type);
    return to && from ? Code(put(*to, *from)) : Code();
  }

  /// cvta.to.shared.u64: from a generic address.
  Code to_address(const Words& opcode, const Words& operands) const {
    const Code to = place(operands[0]), from = number(operands[1], "void*");
    if (!to || !from || opcode.size() != 4 || opcode[1] != "to") return {};
    if (opcode[2] == "global") return put(*to, *from);
    if (opcode[2] != "shared") return {};
    return put(*to, fmt::format("::cpu::shared_offset({})", *from));
  }

  Code conversion(const Words& opcode, const Words& operands) const {
    const std::string how = fmt::format("{}", fmt::join(opcode.begin() + 1, opcode.end(), "."));
    const Code to = place(operands[0]), f = number(operands[1], "float");
    if (!to || !f) return {};
    if (how == "rna.tf32.f32") return put(*to, fmt::format("::cpu::nvcuda::wmma::__float_to_tf32({})", *f));
    if (operands.size() == 3 && (how == "rn.bf16x2.f32" || how == "rn.f16x2.f32")) {
      const Code low = number(operands[2], "float");
      const char* function = how == "rn.f16x2.f32" ? "__floats2half2_rn" : "__floats2bfloat162_rn";
      return low ? Code(put(*to, fmt::format("::cpu::{}({}, {}).bits()", function, *low, *f))) : Code();
    }
    const bool whole = opcode.size() == 3 && opcode[1][0] != 'f' && opcode[2][0] != 'f';
    const Code into = found(kTypes, opcode[1]), type = whole ? found(kTypes, opcode[2]) : Code();
    if (!into || !type) return {};
    return put(*to, fmt::format("static_cast<{}>({})", *into, *number(operands[1], *type)));
  }

  Code comparison(const Words& opcode, const Words& operands) const {
    const Code type = found(kTypes, opcode.back()), sign = found(kComparisons, opcode[1]);
    if (!type || !sign || opcode.size() != 3) return {};
    const Code to = place(operands[0]), a = number(operands[1], *type), b = number(operands[2], *type);
    return to && a && b ? Code(put(*to, fmt::format("{} {} {}", *a, *sign, *b))) : Code();
  }

  Code selection(const std::string& of, const Words& operands) const {
    const Code type = found(kTypes, of), to = place(operands[0]), which = number(operands[3], "bool");
    if (!type || !to || !which) return {};
    const Code a = number(operands[1], *type), b = number(operands[2], *type);
    return a && b ? Code(put(*to, fmt::format("{} ? {} : {}", *which, *a, *b))) : Code();
  }

  Code wide_product(const std::string& of, const std::string& to, const Words& operands) const {
    if ((of != "u32" && of != "s32") || operands.size() != 3) return {};
    const std::string type = kTypes.at(of), wide = of == "u32" ? "unsigned long long" : "long long";
    const Code a = number(operands[1], type), b = number(operands[2], type);
    return a && b ? Code(put(to, fmt::format("static_cast<{}>({}) * {}", wide, *a, *b))) : Code();
  }

  Code formula(const Words& opcode, const Words& operands) const {
    std::string name = opcode[0];
    for (std::size_t i = 1; i + 1 < opcode.size(); ++i)
      if (opcode[i] != "ftz" && opcode[i] != "rn") name += "." + opcode[i];
    const Code type = found(kTypes, opcode.back()), to = place(operands[0]);
    if (!type || !to) return {};
    if (name == "mul.wide") return wide_product(opcode.back(), *to, operands);
    const auto pattern = kFormulas.find(name);
    if (pattern == kFormulas.end()) return {};
    std::vector<std::string> values = {*type};
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const Code value = number(operands[i], *type);
      if (!value) return {};
      values.push_back(*value);
    }
    std::string text = pattern->second;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string hole = fmt::format("{{{}}}", i);
      for (auto at = text.find(hole); at != text.npos; at = text.find(hole, at + values[i].size()))
        text.replace(at, hole.size(), values[i]);
    }
    if (text.find('{') != text.npos) return {};  // too few operands
    return put(*to, fmt::format("static_cast<{}>({})", *type, text));
  }

  int operands_;
  std::set<std::string> registers_;
};

}  // namespace

PtxStatements ptx_statements(std::string_view text, int operands) {
  static const std::regex comment(R"(//[^\n]*|/\*[^]*?\*/)");
  const std::string plain = std::regex_replace(std::string(text), comment, " ");
  Translation translation(operands);
  PtxStatements result;
  // A bracket at the start of a statement opens or closes a scope.
  std::string statement;
  for (const char c : plain + ";") {
    const bool begins = trimmed(statement).empty();
    if (begins && (c == '{' || c == '}')) continue;
    if (c != ';') {
      statement += c;
      continue;
    }
    if (begins) continue;
    const Code code = translation.statement(trimmed(statement));
    if (!code) return {"", std::regex_replace(trimmed(statement), std::regex(R"(\s+)"), " ")};
    result.code += *code + " ";
    statement.clear();
  }
  return result;
}

}  // namespace workbook

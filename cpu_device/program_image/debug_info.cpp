#include "cpu_device/program_image/debug_info.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "cpu_device/program_image/source_line.hpp"
#include "cpu_device/program_image/symbols.hpp"

namespace cpu {
namespace dwarf {
namespace {

using Bytes = std::string_view;

/// The program's file in memory, for as long as it runs.
Bytes program_file() {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status;
  void* const begin = fstat(file, &status) == 0 ? mmap(nullptr, static_cast<std::size_t>(status.st_size),
                                                       PROT_READ, MAP_PRIVATE, file, 0)
                                                : MAP_FAILED;
  close(file);
  if (begin == MAP_FAILED) return {};
  return {static_cast<const char*>(begin), static_cast<std::size_t>(status.st_size)};
}

/// Reads one number after another. Past the end, all are 0.
class Reader {
 public:
  Reader(Bytes bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  std::size_t at() const { return at_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  void skip(std::size_t bytes) {
    at_ = bytes > bytes_.size() - std::min(at_, bytes_.size()) ? bytes_.size() : at_ + bytes;
  }

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    if (at_ + size <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, size);  // little-endian
    skip(size);
    return value;
  }
  /// LEB128. The sign of a negative number is lost: nothing that is read here is negative.
  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !at_end(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(number(1));
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) break;
    }
    return value;
  }
  Bytes text() {
    if (at_end()) return {};
    const std::size_t end = std::min(bytes_.find('\0', at_), bytes_.size());
    const Bytes found = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

 private:
  Bytes bytes_;
  std::size_t at_;
};

// DWARF Debugging Information Format, version 4, section 7: the numbers of what is read here.
enum Tag : unsigned {
  kClass = 0x02,
  kLexicalBlock = 0x0b,
  kStructure = 0x13,
  kUnion = 0x17,
  kInlined = 0x1d,
  kCatch = 0x25,
  kSubprogram = 0x2e,
  kTry = 0x32,
  kCall = 0x4109  // DW_TAG_GNU_call_site
};
enum Attribute : unsigned {
  kName = 0x03,
  kLineProgram = 0x10,  // DW_AT_stmt_list
  kLowAddress = 0x11,
  kHighAddress = 0x12,
  kOrigin = 0x31,  // DW_AT_abstract_origin
  kArtificial = 0x34,
  kFile = 0x3a,
  kLine = 0x3b,
  kSpecification = 0x47,
  kRanges = 0x55
};

struct Abbreviation {
  unsigned tag = 0;
  bool has_children = false;
  struct Field {
    unsigned attribute, form;
  };
  std::vector<Field> fields;
};
using Abbreviations = std::unordered_map<std::uint64_t, Abbreviation>;

/// The value of an attribute: a number, an address, an offset, or a text.
struct Value {
  std::uint64_t number = 0;
  Bytes text;
};

struct Sections {
  Bytes info, abbreviations, lines, strings, ranges;
};

Sections sections_of(Bytes file) {
  Sections found;
  const auto structure = [&]<class T>(T value, std::size_t offset) {
    if (offset + sizeof value <= file.size()) std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
  };
  const auto header = structure(ElfW(Ehdr){}, 0);
  const auto section = [&](unsigned i) {
    return structure(ElfW(Shdr){}, header.e_shoff + i * sizeof(ElfW(Shdr)));
  };
  const auto names = section(header.e_shstrndx);
  const std::pair<Bytes, Bytes*> wanted[] = {{".debug_info", &found.info},
                                             {".debug_abbrev", &found.abbreviations},
                                             {".debug_line", &found.lines},
                                             {".debug_str", &found.strings},
                                             {".debug_ranges", &found.ranges}};
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto one = section(i);
    if (one.sh_type == SHT_NOBITS || one.sh_flags & SHF_COMPRESSED) continue;
    if (one.sh_offset + one.sh_size > file.size()) continue;
    const Bytes name = Reader(file, names.sh_offset + one.sh_name).text();
    for (const auto& [wanted_name, bytes] : wanted)
      if (name == wanted_name) *bytes = file.substr(one.sh_offset, one.sh_size);
  }
  return found;
}

/// A debugging information entry: an item of the tree that describes a unit.
struct Entry {
  std::size_t offset;  // in the section
  int parent;          // its index; -1 of the unit's own
  unsigned tag;
  Bytes name;
  std::size_t origin = 0;  // the offset of the entry that says more
  std::uint64_t low_address = 0;
  unsigned file = 0, line = 0;
  bool is_artificial = false;
};

/// A compilation unit: what was compiled from one source file.
class Unit {
 public:
  /// The unit whose header is at `offset`.
  Unit(const Sections& sections, std::size_t offset) : sections_(sections), offset_(offset) {
    Reader header(sections.info, offset);
    const std::uint64_t length = header.number(4);
    is_known_ = length < 0xfffffff0u && header.number(2) == 4;  // DWARF 4 of 32 bits
    end_ = offset + 4 + length;
    if (!is_known_) return;
    read_abbreviations(header.number(4));
    address_bytes_ = header.number(1);
    first_ = header.at();
  }

  bool is_known() const { return is_known_; }
  std::size_t end() const { return end_; }
  const std::vector<std::string>& files() const { return files_; }

  /// Whether code of the unit is at that address.
  bool has_code_at(std::uint64_t address) const {
    Reader reader(sections_.info, first_);
    std::uint64_t low = 0, high = 0, ranges = 0;
    bool has_ranges = false, high_is_size = false;
    for (const auto& [attribute, form] : fields_at(reader).fields) {
      const Value value = read(reader, form);
      if (attribute == kLowAddress) low = value.number;
      if (attribute == kHighAddress) high = value.number, high_is_size = form != 0x01;
      if (attribute == kRanges) ranges = value.number, has_ranges = true;
    }
    if (!has_ranges) return address >= low && address < (high_is_size ? low + high : high);
    Reader list(sections_.ranges, ranges);
    for (std::uint64_t base = low; !list.at_end();) {
      const std::uint64_t begin = list.number(address_bytes_), end = list.number(address_bytes_);
      if (begin == 0 && end == 0) break;
      if (begin == ~std::uint64_t{0})
        base = end;
      else if (address - base >= begin && address - base < end)
        return true;
    }
    return false;
  }

  /// The whole tree, in the order of offsets.
  const std::vector<Entry>& read_entries() {
    Reader reader(sections_.info, first_);
    std::uint64_t line_program = 0;
    int parent = -1;
    while (reader.at() < end_) {
      const std::size_t at = reader.at();
      const Abbreviation& abbreviation = fields_at(reader);
      if (abbreviation.tag == 0) {  // the end of the parent's children
        if (parent < 0) break;
        parent = entries_[static_cast<std::size_t>(parent)].parent;
        if (parent < 0) break;
        continue;
      }
      Entry& entry = entries_.emplace_back(Entry{at, parent, abbreviation.tag, {}});
      for (const auto& [attribute, form] : abbreviation.fields) {
        const Value value = read(reader, form);
        if (attribute == kName) entry.name = value.text;
        if (attribute == kOrigin || attribute == kSpecification) entry.origin = value.number;
        if (attribute == kLowAddress) entry.low_address = value.number;
        if (attribute == kFile) entry.file = static_cast<unsigned>(value.number);
        if (attribute == kLine) entry.line = static_cast<unsigned>(value.number);
        if (attribute == kArtificial) entry.is_artificial = true;
        if (attribute == kLineProgram) line_program = value.number;
      }
      if (abbreviation.has_children) parent = static_cast<int>(entries_.size()) - 1;
    }
    read_files(line_program);
    return entries_;
  }

 private:
  void read_abbreviations(std::size_t offset) {
    Reader reader(sections_.abbreviations, offset);
    while (const std::uint64_t code = reader.leb()) {
      Abbreviation& one = abbreviations_[code];
      one.tag = static_cast<unsigned>(reader.leb());
      one.has_children = reader.number(1) != 0;
      for (;;) {
        const auto attribute = static_cast<unsigned>(reader.leb()),
                   form = static_cast<unsigned>(reader.leb());
        if (attribute == 0 && form == 0) break;
        one.fields.push_back({attribute, form});
      }
    }
  }

  const Abbreviation& fields_at(Reader& reader) const {
    static const Abbreviation none;
    const auto found = abbreviations_.find(reader.leb());
    return found == abbreviations_.end() ? none : found->second;
  }

  /// The value of a form: section 7.5.4. One of an unknown form ends the unit.
  Value read(Reader& reader, unsigned form) const {
    switch (form) {
      case 0x01:  // address
        return {reader.number(address_bytes_), {}};
      case 0x03:  // block2
        reader.skip(reader.number(2));
        return {};
      case 0x04:  // block4
        reader.skip(reader.number(4));
        return {};
      case 0x0a:  // block1
        reader.skip(reader.number(1));
        return {};
      case 0x09:  // block
      case 0x18:  // exprloc
        reader.skip(reader.leb());
        return {};
      case 0x05:  // data2
        return {reader.number(2), {}};
      case 0x06:  // data4
      case 0x17:  // sec_offset
        return {reader.number(4), {}};
      case 0x07:  // data8
      case 0x20:  // ref_sig8
        return {reader.number(8), {}};
      case 0x0b:  // data1
      case 0x0c:  // flag
        return {reader.number(1), {}};
      case 0x08:  // string
        return {0, reader.text()};
      case 0x0e:  // strp
        return {0, Reader(sections_.strings, reader.number(4)).text()};
      case 0x0d:  // sdata
      case 0x0f:  // udata
        return {reader.leb(), {}};
      case 0x10:  // ref_addr
        return {reader.number(4), {}};
      case 0x11:  // ref1
        return {offset_ + reader.number(1), {}};
      case 0x12:  // ref2
        return {offset_ + reader.number(2), {}};
      case 0x13:  // ref4
        return {offset_ + reader.number(4), {}};
      case 0x14:  // ref8
        return {offset_ + reader.number(8), {}};
      case 0x15:  // ref_udata
        return {offset_ + reader.leb(), {}};
      case 0x19:  // flag_present
        return {1, {}};
      default:
        reader.skip(SIZE_MAX);
        return {};
    }
  }

  /// The names of files, which entries know by number: section 6.2.4.
  void read_files(std::size_t offset) {
    files_.assign(1, "");  // they count from 1
    Reader reader(sections_.lines, offset);
    reader.number(4);
    const std::uint64_t version = reader.number(2);
    if (version < 2 || version > 4) return;
    reader.number(4);
    reader.skip(version == 4 ? 5 : 4);
    const std::uint64_t opcodes = reader.number(1);
    reader.skip(opcodes - 1);
    std::vector<std::string> folders = {""};
    for (Bytes folder = reader.text(); !folder.empty(); folder = reader.text())
      folders.push_back(std::string(folder) + (folder.ends_with('/') ? "" : "/"));
    for (Bytes name = reader.text(); !name.empty(); name = reader.text()) {
      const std::uint64_t folder = reader.leb();
      reader.leb();
      reader.leb();
      const bool is_whole = name.starts_with('/') || folder >= folders.size();
      files_.push_back(tidy_name((is_whole ? "" : folders[folder]) + std::string(name)));
    }
  }

  const Sections& sections_;
  std::size_t offset_, end_ = 0, first_ = 0, address_bytes_ = 8;
  bool is_known_ = false;
  Abbreviations abbreviations_;
  std::vector<Entry> entries_;
  std::vector<std::string> files_;
};

/// The functions of one unit.
class Functions {
 public:
  explicit Functions(Unit& unit) : unit_(unit), entries_(unit.read_entries()) {
    children_.resize(entries_.size());
    for (std::size_t i = 1; i < entries_.size(); ++i)
      children_[static_cast<std::size_t>(entries_[i].parent)].push_back(i);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].tag == kSubprogram && entries_[i].low_address) compiled_[root(i)].push_back(i);
  }

  std::unique_ptr<CompiledFunction> at(std::uint64_t address) const {
    for (const auto& [root, entries] : compiled_)
      for (const std::size_t entry : entries)
        if (entries_[entry].low_address == address) return compiled(entry);
    return nullptr;
  }

 private:
  std::unique_ptr<CompiledFunction> compiled(std::size_t entry) const {
    auto result = std::make_unique<CompiledFunction>();
    result->function = described(entry);
    std::set<std::size_t> seen = {root(entry)};
    std::vector<std::size_t> open = {entry};
    while (!open.empty()) {
      const std::size_t parent = open.back();
      open.pop_back();
      for (const std::size_t child : children_[parent]) {
        const unsigned tag = entries_[child].tag;
        if (tag != kInlined && tag != kCall && tag != kLexicalBlock && tag != kTry && tag != kCatch) continue;
        open.push_back(child);
        if ((tag != kInlined && tag != kCall) || !entries_[child].origin) continue;
        const std::size_t callee = root(child);
        if (entries_[callee].tag != kSubprogram || !seen.insert(callee).second) continue;
        result->callees.push_back(described(child));
        if (const auto own = compiled_.find(callee); own != compiled_.end())
          open.insert(open.end(), own->second.begin(), own->second.end());
      }
    }
    return result;
  }

  /// The index of the entry at that offset of the section.
  std::size_t index_of(std::size_t offset) const {
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), offset,
                                        [](const Entry& entry, std::size_t at) { return entry.offset < at; });
    return found != entries_.end() && found->offset == offset
               ? static_cast<std::size_t>(found - entries_.begin())
               : 0;
  }

  /// The entry, the one that it refers to, and so on.
  std::vector<std::size_t> chain(std::size_t entry) const {
    std::vector<std::size_t> found = {entry};
    constexpr std::size_t kMostLinks = 8;
    while (entries_[found.back()].origin && found.size() < kMostLinks)
      found.push_back(index_of(entries_[found.back()].origin));
    return found;
  }
  /// The entry of the declaration.
  std::size_t root(std::size_t entry) const { return chain(entry).back(); }

  SourcePlace place(unsigned file, unsigned line) const {
    return {file < unit_.files().size() ? unit_.files()[file] : "", static_cast<int>(line)};
  }

  SourceFunction described(std::size_t entry) const {
    SourceFunction function;
    const std::size_t last = root(entry);
    function.name = entries_[last].name;
    if (!function.name.starts_with("operator") || function.name.starts_with("operator()<"))
      function.name = function.name.substr(0, function.name.find('<'));
    const auto parent = static_cast<std::size_t>(std::max(entries_[last].parent, 0));
    const unsigned scope = entries_[parent].tag;
    function.is_member = scope == kClass || scope == kStructure || scope == kUnion;
    const Bytes parent_name = entries_[parent].name;
    function.is_lambda = function.is_member && function.name == "operator()" &&
                         (parent_name.empty() || parent_name.starts_with("<lambda"));
    function.is_implicit = entries_[last].is_artificial && !function.is_lambda;
    if (function.is_lambda) {
      function.places = {place(entries_[parent].file, entries_[parent].line)};
      function.enclosing = enclosing(parent);
      return function;
    }
    unsigned file = 0;  // of the declaration, where the definition names no other
    const std::vector<std::size_t> links = chain(entry);
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
      const Entry& one = entries_[*link];
      if (one.tag != kSubprogram || !one.line) continue;
      if (one.file) file = one.file;
      function.places.push_back(place(file, one.line));
    }
    return function;
  }

  /// The function that a class stands in.
  std::shared_ptr<SourceFunction> enclosing(std::size_t entry) const {
    for (int at = entries_[entry].parent; at > 0; at = entries_[static_cast<std::size_t>(at)].parent)
      if (const unsigned tag = entries_[static_cast<std::size_t>(at)].tag;
          tag == kSubprogram || tag == kInlined)
        return std::make_shared<SourceFunction>(described(static_cast<std::size_t>(at)));
    return nullptr;
  }

  const Unit& unit_;
  const std::vector<Entry>& entries_;
  std::vector<std::vector<std::size_t>> children_;
  std::map<std::size_t, std::vector<std::size_t>> compiled_;  // by root: the entries that have code
};

/// All units of the program that can be read.
std::vector<std::unique_ptr<Unit>> all_units() {
  static const Sections sections = sections_of(program_file());
  std::vector<std::unique_ptr<Unit>> units;
  for (std::size_t offset = 0; offset < sections.info.size();) {
    auto unit = std::make_unique<Unit>(sections, offset);
    if (unit->end() <= offset) break;
    offset = unit->end();
    if (unit->is_known()) units.push_back(std::move(unit));
  }
  return units;
}

/// The functions of the unit that has code at that address of the file, or nullptr.
const Functions* functions_at(std::uint64_t address) {
  static const std::vector<std::unique_ptr<Unit>> units = all_units();
  static std::map<const Unit*, std::unique_ptr<Functions>> known;
  for (const auto& unit : units) {
    if (!unit->has_code_at(address)) continue;
    auto& functions = known[unit.get()];
    if (!functions) functions = std::make_unique<Functions>(*unit);
    return functions.get();
  }
  return nullptr;
}

}  // namespace
}  // namespace dwarf

std::unique_ptr<CompiledFunction> compiled_function(const void* address) {
  const std::uint64_t in_file = reinterpret_cast<std::uintptr_t>(address) - load_base();
  const dwarf::Functions* functions = dwarf::functions_at(in_file);
  return functions ? functions->at(in_file) : nullptr;
}

}  // namespace cpu

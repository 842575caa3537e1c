#include "cpu_device/program_image/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "system/read_file.hpp"

namespace cpu {
namespace {

struct Symbol {
  std::string name;  // mangled
  std::uintptr_t begin;
  std::size_t size;
};

struct Symbols {
  std::vector<Symbol> functions;      // by address in memory
  std::vector<Symbol> thread_locals;  // by offset in the thread's segment
};

template <class T>
T structure_at(const std::string& file, std::size_t offset) {
  T value;
  std::memcpy(&value, &file.at(offset), sizeof value);
  return value;
}

/// A program without a symbol table has no symbols.
Symbols read_symbols() {
  const std::string file = workbook::read_file("/proc/self/exe", SIZE_MAX).text;
  Symbols found;
  const auto header = structure_at<ElfW(Ehdr)>(file, 0);
  const auto section = [&](unsigned i) {
    return structure_at<ElfW(Shdr)>(file, header.e_shoff + i * sizeof(ElfW(Shdr)));
  };
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const auto names = section(table.sh_link);
    for (std::size_t at = 0; at < table.sh_size; at += sizeof(ElfW(Sym))) {
      const auto symbol = structure_at<ElfW(Sym)>(file, table.sh_offset + at);
      const unsigned type = symbol.st_info & 0xf;
      if (symbol.st_size == 0 || (type != STT_FUNC && type != STT_TLS)) continue;
      const char* name = &file.at(names.sh_offset + symbol.st_name);
      if (type == STT_FUNC) {
        found.functions.push_back({name, load_base() + symbol.st_value, symbol.st_size});
      } else {
        found.thread_locals.push_back({name, symbol.st_value, symbol.st_size});
      }
    }
  }
  return found;
}

const Symbols& symbols() {
  static const Symbols instance = read_symbols();
  return instance;
}

const Symbol* symbol_at(const std::vector<Symbol>& symbols, std::uintptr_t address) {
  for (const Symbol& symbol : symbols)
    if (address - symbol.begin < symbol.size) return &symbol;
  return nullptr;
}

/// Without namespaces, function and anything else before the last name.
std::string short_name(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string full = text ? text : mangled;
  std::free(text);
  const auto colon = full.rfind("::");
  return colon == std::string::npos ? full : full.substr(colon + 2);
}

}  // namespace

std::uintptr_t load_base() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;  // the program itself comes first
      },
      &base);
  return base;
}

Region function_region(std::uintptr_t address) {
  const Symbol* function = symbol_at(symbols().functions, address);
  return function ? Region{function->begin, function->size} : Region{0, SIZE_MAX};
}

bool is_in_function(std::uintptr_t address) { return symbol_at(symbols().functions, address) != nullptr; }

ThreadLocalVariable thread_local_variable(std::size_t offset) {
  const Symbol* variable = symbol_at(symbols().thread_locals, offset);
  if (!variable) return {"shared memory", offset};
  return {short_name(variable->name), offset - variable->begin};
}

std::size_t static_shared_bytes(const void* kernel) {
  const Symbol* symbol = symbol_at(symbols().functions, reinterpret_cast<std::uintptr_t>(kernel));
  if (!symbol) return 0;
  // The kernel `_Z...` declares the variables `_ZZ...E<name>` (Itanium C++ ABI, "Scope Encoding").
  const std::string prefix = "_ZZ" + symbol->name.substr(2) + "E";
  std::size_t bytes = 0;
  for (const Symbol& variable : symbols().thread_locals)
    if (variable.name.starts_with(prefix)) bytes += variable.size;
  return bytes;
}

}  // namespace cpu

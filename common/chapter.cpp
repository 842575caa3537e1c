#include "chapter.hpp"

#include <stdexcept>
#include <string>

#include "run_stage.hpp"

namespace workbook {

float* Data::floats(const char* name) const {
  for (const NamedArray& array : *static_cast<const NamedArrays*>(arrays))
    if (array.name == std::string_view(name)) return static_cast<float*>(array.data);
  throw std::logic_error("the chapter has no array named " + std::string(name));
}

long long sector_bytes(long long count) {
  constexpr long long kFloatsPerSector = 8;
  return (count + kFloatsPerSector - 1) / kFloatsPerSector * 32;
}

namespace {

/// A well-mixed 32-bit number from a counter: the finalizer of SplitMix64 (S. Vigna, public domain).
unsigned mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<unsigned>((x ^ (x >> 31)) >> 32);
}

}  // namespace

void fill_uniform(float* data, long long count, float low, float high, unsigned seed) {
  const unsigned long long stream = static_cast<unsigned long long>(seed) << 40;
  for (long long i = 0; i < count; ++i) {
    const float unit = static_cast<float>(mixed(stream + static_cast<unsigned long long>(i)) >> 8) * 0x1p-24f;
    data[i] = low + (high - low) * unit;
  }
}

}  // namespace workbook

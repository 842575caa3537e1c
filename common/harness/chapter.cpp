#include "chapter.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "harness/problem.hpp"

namespace workbook {

int element_bytes(Type type) {
  switch (type) {
    case Type::kFloat32:
    case Type::kUint32:
      return 4;
    case Type::kFloat64:
      return 8;
    case Type::kFloat16:
    case Type::kBFloat16:
      return 2;
    case Type::kInt8:
      return 1;
  }
  throw std::logic_error("a type without a size");
}

bool is_integer(Type type) { return type == Type::kInt8 || type == Type::kUint32; }

int gpus_of(const Chapter& chapter, const Shape& shape) { return chapter.gpus ? chapter.gpus(shape) : 1; }

void* Data::elements(const Array& array, int gpu) const {
  for (const NamedArray& one : *static_cast<const NamedArrays*>(arrays))
    if (one.name == array.name && one.type == array.type) return one.of_gpu(gpu);
  throw std::logic_error("the chapter has no array of that type named " + std::string(array.name));
}

Traffic operator+(const Traffic& a, const Traffic& b) {
  return {a.read_bytes + b.read_bytes,           a.write_bytes + b.write_bytes,
          a.repeated_bytes + b.repeated_bytes,   a.merged_bytes + b.merged_bytes,
          a.peer_read_bytes + b.peer_read_bytes, a.peer_write_bytes + b.peer_write_bytes};
}

long long sector_bytes(long long count, int bytes_each) { return (count * bytes_each + 31) / 32 * 32; }

long long row_sector_bytes(const Shape& shape, int bytes_each, int width) {
  const long long columns = shape.dims[1];
  long long sectors = 0;
  for (long long r = 0; r < shape.dims[0]; ++r)
    for (long long c = 0; c < columns; c += 32 * width) {
      const long long end = std::min(c + 32 * width, columns);
      sectors += ((r * columns + end) * bytes_each - 1) / 32 - (r * columns + c) * bytes_each / 32 + 1;
    }
  return 32 * sectors;
}

namespace {

/// A pseudo-random 32-bit number from a counter: the finalizer of SplitMix64 (S. Vigna, public domain).
unsigned mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<unsigned>((x ^ (x >> 31)) >> 32);
}

}  // namespace

void fill_uniform(float* data, long long count, float low, float high, unsigned seed) {
  const unsigned long long stream = static_cast<unsigned long long>(seed) << 40;
  constexpr long long kPart = 1 << 16;
  on_all_cores((count + kPart - 1) / kPart, [&](long long part) {
    for (long long i = part * kPart; i < std::min((part + 1) * kPart, count); ++i) {
      const float unit =
          static_cast<float>(mixed(stream + static_cast<unsigned long long>(i)) >> 8) * 0x1p-24f;
      data[i] = low + (high - low) * unit;
    }
  });
}

void fill_whole(float* data, long long count, int most, unsigned seed) {
  const float reach = static_cast<float>(most) + 0.49f;
  fill_uniform(data, count, -reach, reach, seed);
  std::transform(data, data + count, data, [](float value) { return std::rint(value); });
}

}  // namespace workbook

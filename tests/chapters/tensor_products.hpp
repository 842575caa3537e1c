/// \file
/// Checks of the tensor-core kernels that hold on every device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "harness/backends/backend.hpp"
#include "kernels/tensor_cases.hpp"

inline std::string text_of(const TensorCase& c) {
  const auto layout = [](bool by_columns) { return by_columns ? " columns" : " rows"; };
  return std::string(c.number) + " " + std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
         std::to_string(c.k) + layout(c.a_by_columns) + layout(c.b_by_columns) + layout(c.out_by_columns) +
         (c.half_accumulator ? ", half accumulator" : "");
}

/// One number of a type as bits, and its value.
struct Encoded {
  std::uint32_t bits;
  double value;
};

inline double half_value(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  const double magnitude = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// A number of either sign between 2^-4 and 8, every bit of its fraction random. What TF32 is made of is a
/// float: its value is that float rounded to 10 bits, halves away from zero.
inline Encoded random_number(const std::string& number, std::mt19937& random) {
  const std::uint32_t sign = random() % 2, exponent = random() % 7, fraction = random();
  if (number == "half") {
    const std::uint32_t bits = sign << 15 | (exponent + 11) << 10 | (fraction & 0x3ff);
    return {bits, half_value(bits)};
  }
  const std::uint32_t bits = sign << 31 | (exponent + 123) << 23 | (fraction & 0x7fffff);
  const auto value = [](std::uint32_t word) { return static_cast<double>(std::bit_cast<float>(word)); };
  if (number == "bfloat16") return {bits >> 16, value(bits & 0xffff0000u)};
  return {bits, value((bits + 0x1000u) & ~0x1fffu)};
}

/// A matrix in memory, rows (or columns) `stride` elements apart.
struct Matrix {
  int rows, columns, stride;
  bool by_columns;
  int element_bytes;
  std::vector<unsigned char> bytes{};

  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(by_columns ? column * stride + row : row * stride + column);
  }
  std::size_t size() const {
    return static_cast<std::size_t>(by_columns ? columns : rows) * static_cast<std::size_t>(stride) *
           static_cast<std::size_t>(element_bytes);
  }
  void set(int row, int column, std::uint32_t bits) {
    bytes.resize(size());
    for (int b = 0; b < element_bytes; ++b)
      bytes[index(row, column) * static_cast<std::size_t>(element_bytes) + static_cast<std::size_t>(b)] =
          static_cast<unsigned char>(bits >> 8 * b);
  }
  std::uint32_t bits(int row, int column) const {
    std::uint32_t word = 0;
    for (int b = 0; b < element_bytes; ++b)
      word |= std::uint32_t{bytes[index(row, column) * static_cast<std::size_t>(element_bytes) +
                                  static_cast<std::size_t>(b)]}
              << 8 * b;
    return word;
  }
};

/// A matrix with `extra` elements between its rows (or columns).
inline Matrix matrix(int rows, int columns, bool by_columns, int element_bytes, int extra) {
  return {rows, columns, (by_columns ? rows : columns) + extra, by_columns, element_bytes};
}

/// A matrix on a device.
class DeviceMatrix {
 public:
  DeviceMatrix(workbook::Backend& backend, const Matrix& m)
      : backend_(backend),
        bytes_(m.size()),
        data_(backend.allocate(bytes_, 0, "matrix", static_cast<std::size_t>(m.element_bytes))) {
    backend.fill(data_, 0, bytes_);
    if (!m.bytes.empty()) backend.upload(data_, m.bytes.data(), bytes_);
  }
  ~DeviceMatrix() { backend_.release(data_); }
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  void* data() const { return data_; }
  void read(Matrix& m) const {
    m.bytes.resize(bytes_);
    backend_.download(m.bytes.data(), data_, bytes_);
  }

 private:
  workbook::Backend& backend_;
  std::size_t bytes_;
  void* data_;
};

/// Random matrices multiplied on the device, against double. In float32, k products are within
/// (k + 1) * 2^-23 of the sum of their absolute values (wmma.hpp); a half accumulator is rounded to 2^-11 of
/// that for each step of the product and what the GPU may round inside it.
inline void check_product(workbook::Backend& backend, const TensorCase& c) {
  INFO(text_of(c));
  constexpr int tiles = 3;
  const int depth = tiles * c.k, input_bytes = std::string(c.number) == "tf32" ? 4 : 2;
  const int sum_bytes = c.half_accumulator ? 2 : 4;
  Matrix a = matrix(c.m, depth, c.a_by_columns, input_bytes, 16);
  Matrix b = matrix(depth, c.n, c.b_by_columns, input_bytes, 32);
  Matrix out = matrix(c.m, c.n, c.out_by_columns, sum_bytes, 8);
  std::mt19937 random(7);
  std::vector<std::vector<double>> values_a(static_cast<std::size_t>(c.m)),
      values_b(static_cast<std::size_t>(c.n));
  for (int row = 0; row < c.m; ++row)
    for (int k = 0; k < depth; ++k) {
      const Encoded x = random_number(c.number, random);
      a.set(row, k, x.bits);
      values_a[static_cast<std::size_t>(row)].push_back(x.value);
    }
  for (int column = 0; column < c.n; ++column)
    for (int k = 0; k < depth; ++k) {
      const Encoded x = random_number(c.number, random);
      b.set(k, column, x.bits);
      values_b[static_cast<std::size_t>(column)].push_back(x.value);
    }

  const DeviceMatrix device_a(backend, a), device_b(backend, b), device_out(backend, out);
  backend.run([&] {
    c.product(device_a.data(), device_b.data(), device_out.data(), tiles, a.stride, b.stride, out.stride);
  });
  device_out.read(out);

  double worst = 0;  // error as a share of what is allowed
  for (int row = 0; row < c.m; ++row)
    for (int column = 0; column < c.n; ++column) {
      double exact = 0, magnitude = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(depth); ++k) {
        const double term =
            values_a[static_cast<std::size_t>(row)][k] * values_b[static_cast<std::size_t>(column)][k];
        exact += term;
        magnitude += std::fabs(term);
      }
      const std::uint32_t bits = out.bits(row, column);
      const double got = c.half_accumulator ? half_value(bits) : std::bit_cast<float>(bits);
      const double share = c.half_accumulator ? 2 * tiles * 0x1p-11 : (depth + 1) * 0x1p-23;
      const double error = std::fabs(got - exact) / (share * magnitude);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  CHECK(worst <= 1.0);
}

constexpr int kMostElements = 16;  ///< of a lane's fragment

/// 64 * row + column of every element of every lane's fragment, kMostElements a lane.
using Places = std::vector<float>;

inline Places places(workbook::Backend& backend, void (*run)(const void*, const void*, float*), int rows,
                     int columns, bool by_columns, const std::string& number) {
  const int bytes = number == "half" || number == "bfloat16" ? 2 : 4;
  Matrix of_rows = matrix(rows, columns, by_columns, bytes, 0), of_columns = of_rows;
  const auto encoded = [&](int value) {  // small whole numbers, which all types have
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (number == "bfloat16") return bits >> 16;
    if (number != "half" || value == 0) return bits;
    return ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3ff);
  };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      of_rows.set(row, column, encoded(row));
      of_columns.set(row, column, encoded(column));
    }
  Matrix out = matrix(32, kMostElements, false, 4, 0);
  const DeviceMatrix device_rows(backend, of_rows), device_columns(backend, of_columns),
      device_out(backend, out);
  backend.run(
      [&] { run(device_rows.data(), device_columns.data(), static_cast<float*>(device_out.data())); });
  device_out.read(out);
  Places found;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < kMostElements; ++i) found.push_back(std::bit_cast<float>(out.bits(lane, i)));
  return found;
}

inline Places places_a(workbook::Backend& backend, const TensorCase& c) {
  return places(backend, c.places_a, c.m, c.k, c.a_by_columns, c.number);
}
inline Places places_b(workbook::Backend& backend, const TensorCase& c) {
  return places(backend, c.places_b, c.k, c.n, c.b_by_columns, c.number);
}
inline Places places_out(workbook::Backend& backend, const TensorCase& c) {
  return places(backend, c.places_out, c.m, c.n, c.out_by_columns, c.half_accumulator ? "half" : "float");
}

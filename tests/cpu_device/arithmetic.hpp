/// \file
/// The table of arithmetic operations, evaluated on one device or another.
#pragma once

#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/backends/backend.hpp"
#include "kernels/arithmetic.hpp"
#include "tests/cpu_device/exact.hpp"

using Words = std::vector<unsigned>;

/// The bits of `evaluate(number, ...)` for all elements of `a`, `b` and `c`.
template <class Evaluate>
Words evaluated(workbook::Backend& backend, Evaluate evaluate, int number, const Words& a, const Words& b,
                const Words& c) {
  const std::size_t bytes = a.size() * sizeof(unsigned);
  unsigned* arrays[4];
  for (unsigned*& array : arrays)
    array = static_cast<unsigned*>(backend.allocate(bytes, 0, "operand", sizeof(unsigned)));
  backend.upload(arrays[0], a.data(), bytes);
  backend.upload(arrays[1], b.data(), bytes);
  backend.upload(arrays[2], c.data(), bytes);
  backend.run(
      [&] { evaluate(number, arrays[0], arrays[1], arrays[2], arrays[3], static_cast<int>(a.size())); });
  Words out(a.size());
  backend.download(out.data(), arrays[3], bytes);
  for (unsigned* array : arrays) backend.release(array);
  return out;
}

/// The number of the row with that expression and type of operands.
inline int operation(const std::string& type, const std::string& expression) {
  const auto table = cpu::test_kernels::operations();
  for (int i = 0; i < table.count; ++i)
    if (table.first[i].expression == expression && table.first[i].type == type) return table.first[i].number;
  throw std::logic_error("no row of the table is " + expression + " of " + type);
}

using cpu::test_kernels::Bound;
using cpu::test_kernels::Kind;
using cpu::test_kernels::Operation;

/// The exact result of an approximation in float that the CPU device approximates, too; null for others.
inline double (*exact_function(const std::string& expression))(double, double) {
  struct Row {
    const char* expression;
    double (*value)(double, double);
  };
  static const Row rows[] = {{"rsqrtf(a)", [](double a, double) { return 1 / std::sqrt(a); }},
                             {"rsqrt(a)", [](double a, double) { return 1 / std::sqrt(a); }},
                             {"__expf(a)", [](double a, double) { return std::exp(a); }},
                             {"__exp10f(a)", [](double a, double) { return std::pow(10, a); }},
                             {"__logf(a)", [](double a, double) { return std::log(a); }},
                             {"__log2f(a)", [](double a, double) { return std::log2(a); }},
                             {"__log10f(a)", [](double a, double) { return std::log10(a); }},
                             {"__sinf(a)", [](double a, double) { return std::sin(a); }},
                             {"__cosf(a)", [](double a, double) { return std::cos(a); }},
                             {"sine_and_cosine(a).x", [](double a, double) { return std::sin(a); }},
                             {"sine_and_cosine(a).y", [](double a, double) { return std::cos(a); }},
                             {"__tanhf(a)", [](double a, double) { return std::tanh(a); }},
                             {"__fdividef(a, b)", [](double a, double b) { return a / b; }}};
  for (const Row& row : rows)
    if (row.expression == expression) return row.value;
  return nullptr;
}

/// The results that a device must give for a row, or come near to: the exact ones where exact_function() has
/// the row's approximation, else those of the CPU device.
inline Words results_to_meet(workbook::Backend& cpu, const Operation& row, const Words& a, const Words& b,
                             const Words& c) {
  const auto exact = exact_function(row.expression);
  if (!exact) return evaluated(cpu, cpu::test_kernels::evaluate, row.number, a, b, c);
  Words results;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double result = exact(std::bit_cast<float>(a[i]), std::bit_cast<float>(b[i]));
    results.push_back(std::isnan(result) ? 0x7fffffffu : std::bit_cast<unsigned>(static_cast<float>(result)));
  }
  return results;
}

struct Operands {
  Words a, b, c;
};
inline bool is_pair(Kind kind) { return kind == Kind::kHalf2 || kind == Kind::kBfloat162; }
inline Format16 format(Kind kind) {
  return kind == Kind::kHalf || kind == Kind::kHalf2 ? Format16::half() : Format16::bfloat16();
}

struct Value {
  double value;
  double unit;  ///< in the last place
};
inline Value value(Kind kind, unsigned bits) {
  if (kind == Kind::kFloat) {
    const float x = std::bit_cast<float>(bits);
    return {x, std::ldexp(1.0, std::max(std::ilogb(x), -126) - 23)};
  }
  const Format16 f = format(kind);
  const double x = f.float_value(bits & 0xffff);
  return {x, std::ldexp(1.0, std::max(std::ilogb(x), 1 - f.bias) - f.fraction_bits)};
}

/// Whether a GPU's result of an approximation is as near as it must be.
inline bool near_enough(Kind kind, unsigned on_cpu, unsigned on_gpu, const Bound& bound) {
  if (on_cpu == on_gpu || std::isinf(bound.units)) return true;
  const Value cpu = value(kind, on_cpu), gpu = value(kind, on_gpu);
  if (std::isnan(cpu.value) || std::isnan(gpu.value)) return std::isnan(cpu.value) && std::isnan(gpu.value);
  if (std::isinf(cpu.value) || std::isinf(gpu.value)) {  // the other must be about the largest number
    const double other = std::isinf(cpu.value) ? gpu.value : cpu.value;
    const double most = kind == Kind::kFloat ? 0x1p128 : format(kind).value(format(kind).infinity());
    const double unit = std::isinf(cpu.value) ? gpu.unit : cpu.unit;
    return most - std::fabs(other) <= (bound.units + 1) * unit && (cpu.value > 0) == (gpu.value > 0);
  }
  const double allowed = std::max(bound.absolute, bound.units * std::max(cpu.unit, gpu.unit));
  return std::fabs(cpu.value - gpu.value) <= allowed;
}

inline bool agrees(const Operation& row, const Operands& in, std::size_t i, unsigned on_cpu,
                   unsigned on_gpu) {
  if (!row.bound) return on_cpu == on_gpu;
  const auto bound = row.bound(std::bit_cast<float>(in.a[i]), std::bit_cast<float>(in.b[i]));
  if (!is_pair(row.operands)) return near_enough(row.operands, on_cpu, on_gpu, bound);
  return near_enough(row.operands, on_cpu & 0xffff, on_gpu & 0xffff, bound) &&
         near_enough(row.operands, on_cpu >> 16, on_gpu >> 16, bound);
}

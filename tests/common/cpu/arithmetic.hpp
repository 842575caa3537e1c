/// \file
/// The table of arithmetic operations, evaluated on one device or another.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/backend.hpp"
#include "kernels/arithmetic.hpp"

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

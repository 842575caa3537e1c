// Every arithmetic operation of the dialect on the CPU device and on a GPU, with the same operands: the same
// bits, or for an approximation as near as the table says. Without a GPU the tests are reported as skipped.
#include <bit>
#include <cmath>
#include <random>
#include <sstream>

#include "catch.hpp"
#include "common/gpu/gpu_or_skip.hpp"
#include "tests/cpu_device/arithmetic.hpp"
#include "tests/cpu_device/exact.hpp"

namespace gpu::test_kernels {
void evaluate(int number, const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n);
}

namespace {

/// Awkward operands: float, 16 bits and integers.
Words awkward(Kind kind) {
  Words words;
  if (kind == Kind::kFloat) {
    for (const float x : {0.0f, 0x1p-149f, 0x1p-127f, 0x1p-126f, 0x1p-25f, 0x1.002p0f, 0.5f,
                          1.0f, 1.5f,      2.5f,      65504.0f,  65519.0f, 65520.0f,   65536.0f,
                          3e9f, 5e9f,      3e38f,     0.1f,      9.0f,     INFINITY,   NAN})
      for (const float y : {x, -x}) words.push_back(std::bit_cast<unsigned>(y));
  } else if (kind == Kind::kInt) {
    words = {0, 1, 2, 0xffffffff, 0x7fffffff, 0x80000000, 2049, 2051, 65519, 65520, 16777217, 0x80ff017f};
  } else {
    const unsigned inf = format(kind).infinity(), one = 0x3c00;
    for (const unsigned x : {0u, 1u, 2u, 3u, 0x3ffu, 0x400u, 0x401u, 0x7fu, 0x80u, 0x81u, one, one + 1,
                             0x3f80u, 0x3f81u, inf - 1, inf, inf + 1, 0x7fffu})
      for (const unsigned y : {x, x | 0x8000}) words.push_back(y);
  }
  return words;
}

/// All pairs of the awkward ones, any bits, and, for approximations, numbers of everyday size.
Operands operands(Kind kind) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> everyday(-12.0f, 12.0f);
  Operands all;
  const Words words = awkward(kind);
  const auto any = [&] { return words[random() % words.size()]; };
  for (const unsigned x : words)
    for (const unsigned y : words) {
      all.a.push_back(x);
      all.b.push_back(y);
      all.c.push_back(any());
    }
  for (int i = 0; i < 1 << 16; ++i)
    for (Words* words : {&all.a, &all.b, &all.c}) words->push_back(random());
  for (int i = 0; i < 1 << 16 && kind == Kind::kFloat; ++i)
    for (Words* words : {&all.a, &all.b, &all.c}) words->push_back(std::bit_cast<unsigned>(everyday(random)));
  if (is_pair(kind))
    for (Words* words : {&all.a, &all.b, &all.c})
      for (unsigned& word : *words) word = word << 16 | (word & 0xffff);
  if (kind == Kind::kHalf || kind == Kind::kBfloat16) {
    for (unsigned i = 0; i < 1 << 16; ++i) all.a[words.size() * words.size() + i] = i;  // every number
    for (Words* words : {&all.a, &all.b, &all.c})
      for (unsigned& word : *words) word &= 0xffff;
  }
  return all;
}

void check_rows(bool approximations) {
  const auto gpu = gpu_or_skip();
  if (std::stod(gpu->info().compute_capability) < 8) {
    std::cout << "SKIPPED: bfloat16 needs compute capability 8.0" << std::endl;
    std::exit(kSkipped);
  }
  const auto cpu = workbook::make_cpu_backend();
  const auto table = cpu::test_kernels::operations();
  for (int r = 0; r < table.count; ++r) {
    const Operation& row = table.first[r];
    if ((row.bound != nullptr) != approximations) continue;
    const Operands in = operands(row.operands);
    const Words on_cpu = results_to_meet(*cpu, row, in.a, in.b, in.c);
    const Words on_gpu = evaluated(*gpu, gpu::test_kernels::evaluate, row.number, in.a, in.b, in.c);
    std::ostringstream text;
    text << row.expression << " of " << row.type << std::hex;
    int wrong = 0;
    for (std::size_t i = 0; i < on_cpu.size(); ++i) {
      if (agrees(row, in, i, on_cpu[i], on_gpu[i])) continue;
      if (++wrong <= 5)
        text << "\n  a " << in.a[i] << ", b " << in.b[i] << ", c " << in.c[i] << ": CPU device " << on_cpu[i]
             << ", GPU " << on_gpu[i];
    }
    INFO(text.str());
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("gpu: arithmetic that rounds in a stated way gives the same bits on both devices") {
  check_rows(false);
}

TEST_CASE("gpu: approximations stay within the documented bounds") { check_rows(true); }

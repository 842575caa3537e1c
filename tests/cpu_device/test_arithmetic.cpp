// Arithmetic of the dialect on the CPU device, against exact arithmetic of the tests' own.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "catch.hpp"
#include "tests/cpu_device/arithmetic.hpp"
#include "tests/cpu_device/exact.hpp"

namespace test_arithmetic {
namespace {

struct Arithmetic {
  std::unique_ptr<workbook::Backend> backend = workbook::make_cpu_backend();
  std::mt19937 random{42};

  Words results(const std::string& type, const std::string& expression, const Words& a, const Words& b,
                const Words& c) {
    return evaluated(*backend, cpu::test_kernels::evaluate, operation(type, expression), a, b, c);
  }
  Words results(const std::string& type, const std::string& expression, const Words& a, const Words& b) {
    return results(type, expression, a, b, a);
  }
  Words results(const std::string& type, const std::string& expression, const Words& a) {
    return results(type, expression, a, a, a);
  }
  /// The result of an operation on one float, or on two.
  float of_float(const std::string& expression, float a, float b = 0) {
    return std::bit_cast<float>(bits_of_float(expression, a, b));
  }
  unsigned bits_of_float(const std::string& expression, float a, float b = 0) {
    return results("float", expression, {std::bit_cast<unsigned>(a)}, {std::bit_cast<unsigned>(b)})[0];
  }
  int of_int(const std::string& expression, int a, int b = 0, int c = 0) {
    return static_cast<int>(results("int", expression, {static_cast<unsigned>(a)}, {static_cast<unsigned>(b)},
                                    {static_cast<unsigned>(c)})[0]);
  }
};

struct NumberType {
  const char* name;
  const char* pair;
  const char* from_float;  // the conversion's name without the way it rounds
  Format16 format;
};
const NumberType kNumbers[] = {{"__half", "__half2", "__float2half", Format16::half()},
                               {"__nv_bfloat16", "__nv_bfloat162", "__float2bfloat16", Format16::bfloat16()}};

Words all_numbers() {
  Words words(1 << 16);
  for (unsigned i = 0; i < words.size(); ++i) words[i] = i;
  return words;
}

/// Numbers whose sums and products meet at every distance: all signs, exponents and fractions, and
/// neighbours of powers of 2 more often than chance would have it.
Words mixed_numbers(std::mt19937& random, std::size_t count, const Format16& format) {
  Words words(count);
  for (unsigned& word : words) {
    word = random() & 0xffff;
    if (random() % 4 == 0) word = (word >> format.fraction_bits << format.fraction_bits) + random() % 5 - 2;
    word &= 0xffff;
  }
  return words;
}

}  // namespace

TEST_CASE_METHOD(Arithmetic, "dialect: __half2float and __bfloat162float, of all 65536 numbers") {
  for (const auto& [type, expression, format] :
       {std::tuple{"__half", "__half2float(a)", Format16::half()},
        std::tuple{"__nv_bfloat16", "__bfloat162float(a)", Format16::bfloat16()}}) {
    const Words out = results(type, expression, all_numbers());
    for (unsigned i = 0; i < out.size(); ++i) {
      const float value = std::bit_cast<float>(out[i]);
      const auto expected = static_cast<float>(format.float_value(i));
      REQUIRE((std::isnan(expected) ? std::isnan(value) : out[i] == std::bit_cast<unsigned>(expected)));
    }
  }
}

TEST_CASE_METHOD(Arithmetic,
                 "dialect: __float2half, __float2bfloat16 and their _rn, _rz, _rd, _ru: ties, neighbours of "
                 "ties, overflow, subnormals") {
  for (const NumberType& number : kNumbers) {
    const Format16& format = number.format;
    // Every number, every middle between two, and the floats next to those.
    Words floats;
    for (unsigned m = 0; m < format.infinity(); ++m)
      for (const double value : {format.value(m), (format.value(m) + format.value(m + 1)) / 2}) {
        const auto at = static_cast<float>(value);
        for (const float near : {at, std::nextafterf(at, INFINITY), std::nextafterf(at, -INFINITY)})
          for (const float one : {near, -near}) floats.push_back(std::bit_cast<unsigned>(one));
      }
    for (int i = 0; i < 100000; ++i) floats.push_back(random());

    const std::string name = number.from_float;
    const Words plain = results("float", name + "(a)", floats),
                nearest = results("float", name + "_rn(a)", floats),
                zero = results("float", name + "_rz(a)", floats),
                down = results("float", name + "_rd(a)", floats),
                up = results("float", name + "_ru(a)", floats);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const float in = std::bit_cast<float>(floats[i]);
      INFO(number.name << " of " << in);
      REQUIRE(plain[i] == nearest[i]);
      if (std::isnan(in)) {
        for (const Words* out : {&nearest, &zero, &down, &up}) REQUIRE((*out)[i] == 0x7fff);
        continue;
      }
      if (std::isinf(in)) {
        for (const Words* out : {&nearest, &zero, &down, &up})
          REQUIRE((*out)[i] == (format.infinity() | (in < 0 ? 0x8000u : 0u)));
        continue;
      }
      REQUIRE(format.is_nearest(nearest[i], Exact::of(in)));
      // Down and up enclose the number, and are neighbours unless it is one itself.
      REQUIRE(format.float_value(down[i]) <= in);
      REQUIRE(format.float_value(up[i]) >= in);
      const bool representable = format.float_value(nearest[i]) == in;
      if (representable) REQUIRE((down[i] == nearest[i] && up[i] == nearest[i]));
      if (!representable)
        REQUIRE(std::abs(static_cast<int>(down[i] & 0x7fff) - static_cast<int>(up[i] & 0x7fff)) == 1);
      REQUIRE(zero[i] == (std::signbit(in) ? up[i] : down[i]));
      REQUIRE((nearest[i] == up[i] || nearest[i] == down[i]));
      REQUIRE((nearest[i] >= 0x8000) == std::signbit(in));
    }
  }
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: __hadd, __hsub, __hmul, __hdiv, __hfma, hsqrt of __half and __nv_bfloat16 round once") {
  constexpr std::size_t count = 200000;
  for (const NumberType& number : kNumbers) {
    const Format16& format = number.format;
    const Words a = mixed_numbers(random, count, format), b = mixed_numbers(random, count, format);
    Words c = mixed_numbers(random, count, format);
    // Sums of a product and a number much smaller, or near its opposite.
    const Words products = results(number.name, "__hmul(a, b)", a, b);
    for (std::size_t i = 0; i < count; i += 2) c[i] = (products[i] ^ 0x8000u) + random() % 3 - 1;
    for (unsigned& word : c) word &= 0xffff;

    const Words sum = results(number.name, "__hadd(a, b)", a, b),
                difference = results(number.name, "__hsub(a, b)", a, b),
                quotient = results(number.name, "__hdiv(a, b)", a, b),
                fused = results(number.name, "__hfma(a, b, c)", a, b, c),
                root = results(number.name, "hsqrt(a)", a);
    int checked = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = format.float_value(a[i]), y = format.float_value(b[i]), z = format.float_value(c[i]);
      INFO(number.name << ": " << x << ", " << y << ", " << z);
      if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) {  // double has the same rules
        const auto same = [&](unsigned bits, double value) {
          if (std::isnan(value)) return bits == 0x7fff;
          return !std::isinf(value) || format.float_value(bits) == value;
        };
        REQUIRE(same(sum[i], x + y));
        REQUIRE(same(products[i], x * y));
        REQUIRE(same(quotient[i], x / y));
        REQUIRE(same(fused[i], x * y + z));
        continue;
      }
      const Exact ex = Exact::of(x), ey = Exact::of(y), ez = Exact::of(z), minus = Exact::of(-y);
      if (fits(ex, ey)) {
        REQUIRE(format.is_nearest(sum[i], ex + ey));
        REQUIRE(format.is_nearest(difference[i], ex + minus));
      }
      REQUIRE(format.is_nearest(products[i], ex * ey));
      if (y != 0) REQUIRE(format.is_nearest(quotient[i], y < 0 ? ex * Exact{-1, 0} : ex, ey.magnitude()));
      if (fits(ex * ey, ez)) {
        REQUIRE(format.is_nearest(fused[i], ex * ey + ez));
        ++checked;
      }
      if (x < 0) REQUIRE(root[i] == 0x7fff);
      if (x > 0) {
        const Exact below = format.middle(root[i] - 1), above = format.middle(root[i]);
        REQUIRE(compare(ex, below * below) > 0);
        REQUIRE(compare(ex, above * above) < 0);
      }
    }
    CHECK(checked > static_cast<int>(count / 2));
  }
}

TEST_CASE_METHOD(Arithmetic, "dialect: __hfma of numbers that two roundings would get wrong") {
  // 1.5 * (1 + 2^-10) = 1.5 + 2^-10 + 2^-11, a middle; the smallest subnormal decides.
  const Words a = {0x3e00, 0x3e00, 0x3e00}, b = {0x3c01, 0x3c01, 0x3c01}, c = {0x0000, 0x0001, 0x8001};
  CHECK(results("__half", "__hfma(a, b, c)", a, b, c) == Words{0x3e02, 0x3e02, 0x3e01});
  // 1 + 2^-8 in bfloat16 is a middle, decided by 2^-133, further away than double has bits.
  const Words one = {0x3f80, 0x3f80, 0x3f80}, x = {0x3b80, 0x3b80, 0x3b80};
  CHECK(results("__nv_bfloat16", "__hfma(a, b, c)", x, one, one) == Words{0x3f80, 0x3f80, 0x3f80});
  // (1 + 2^-7)(1 + 2^-1) = 1.5 + 2^-7 + 2^-8, a middle.
  const Words p = {0x3f81, 0x3f81, 0x3f81}, q = {0x3fc0, 0x3fc0, 0x3fc0}, r = {0x0000, 0x0001, 0x8001};
  CHECK(results("__nv_bfloat16", "__hfma(a, b, c)", p, q, r) == Words{0x3fc2, 0x3fc2, 0x3fc1});
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: __hmax, __hmin, __hmax_nan, __hmin_nan, __heq, __hne, __hlt, __hle, __hgt, __hge, __hisnan, "
    "__hisinf, and operators, with NaN and zeros") {
  for (const NumberType& number : kNumbers) {
    const Format16& format = number.format;
    const unsigned inf = format.infinity();
    const Words values = {0, 0x8000, 1, 0x8001, inf, inf | 0x8000, 0x7fff, 0xffff, inf + 1, 0x3c00, 0xbc00};
    Words a, b;
    for (const unsigned x : values)
      for (const unsigned y : values) {
        a.push_back(x);
        b.push_back(y);
      }
    const auto column = [&](const std::string& call) { return results(number.name, call, a, b); };
    const auto flag = [&](const std::string& call) { return column("static_cast<int>(" + call + ")"); };
    const Words most = column("__hmax(a, b)"), least = column("__hmin(a, b)"), inf_a = column("__hisinf(a)"),
                most_nan = column("__hmax_nan(a, b)"), least_nan = column("__hmin_nan(a, b)");
    const Words eq = flag("__heq(a, b)"), ne = flag("__hne(a, b)"), lt = flag("__hlt(a, b)"),
                le = flag("__hle(a, b)"), gt = flag("__hgt(a, b)"), ge = flag("__hge(a, b)"),
                nan = flag("__hisnan(a)"), same = flag("a == b"), differ = flag("a != b");
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double x = format.float_value(a[i]), y = format.float_value(b[i]);
      const bool ordered = !std::isnan(x) && !std::isnan(y);
      INFO(number.name << ": " << x << ", " << y);
      CHECK(eq[i] == (x == y));
      CHECK(ne[i] == (ordered && x != y));
      CHECK(lt[i] == (x < y));
      CHECK(le[i] == (x <= y));
      CHECK(gt[i] == (x > y));
      CHECK(ge[i] == (x >= y));
      CHECK(same[i] == (x == y));
      CHECK(differ[i] == (x != y));
      CHECK(nan[i] == std::isnan(x));
      CHECK(static_cast<int>(inf_a[i]) == (std::isinf(x) ? (x > 0 ? 1 : -1) : 0));
      if (std::isnan(x) && std::isnan(y)) CHECK((most[i] == 0x7fff && least[i] == 0x7fff));
      if (std::isnan(x) && !std::isnan(y)) CHECK((most[i] == b[i] && least[i] == b[i]));
      CHECK(most_nan[i] == (ordered ? most[i] : 0x7fff));
      CHECK(least_nan[i] == (ordered ? least[i] : 0x7fff));
      if (!ordered) continue;
      CHECK(format.value(most[i]) == std::max(format.value(a[i]), format.value(b[i])));
      CHECK(format.value(least[i]) == std::min(format.value(a[i]), format.value(b[i])));
      if (x == 0 && y == 0) {
        CHECK(most[i] == (a[i] & b[i]));
        CHECK(least[i] == (a[i] | b[i]));
      }
    }
  }
}

TEST_CASE_METHOD(Arithmetic, "dialect: operations on __half2 and __nv_bfloat162 are those on each half") {
  const std::pair<const char*, const char*> pairs[] = {{"__hadd2(a, b)", "__hadd(a, b)"},
                                                       {"__hsub2(a, b)", "__hsub(a, b)"},
                                                       {"__hmul2(a, b)", "__hmul(a, b)"},
                                                       {"__h2div(a, b)", "__hdiv(a, b)"},
                                                       {"__hfma2(a, b, c)", "__hfma(a, b, c)"},
                                                       {"__hfma2_relu(a, b, c)", "__hfma_relu(a, b, c)"},
                                                       {"__hmax2(a, b)", "__hmax(a, b)"},
                                                       {"__hmin2(a, b)", "__hmin(a, b)"},
                                                       {"__hmax2_nan(a, b)", "__hmax_nan(a, b)"},
                                                       {"__hmin2_nan(a, b)", "__hmin_nan(a, b)"},
                                                       {"a + b", "a + b"},
                                                       {"a * b", "a * b"},
                                                       {"h2exp(a)", "hexp(a)"},
                                                       {"h2exp2(a)", "hexp2(a)"},
                                                       {"h2log(a)", "hlog(a)"},
                                                       {"h2log2(a)", "hlog2(a)"},
                                                       {"h2sqrt(a)", "hsqrt(a)"},
                                                       {"h2rsqrt(a)", "hrsqrt(a)"},
                                                       {"h2rcp(a)", "hrcp(a)"},
                                                       {"h2tanh(a)", "htanh(a)"},
                                                       {"h2rint(a)", "hrint(a)"}};
  constexpr std::size_t count = 2000;
  for (const NumberType& number : kNumbers) {
    Words low[3], high[3], both[3];
    for (int operand = 0; operand < 3; ++operand) {
      low[operand] = mixed_numbers(random, count, number.format);
      high[operand] = mixed_numbers(random, count, number.format);
      for (std::size_t i = 0; i < count; ++i)
        both[operand].push_back(low[operand][i] | high[operand][i] << 16);
    }
    for (const auto& [pair, one] : pairs) {
      INFO(number.pair << " " << pair);
      const Words of_low = results(number.name, one, low[0], low[1], low[2]),
                  of_high = results(number.name, one, high[0], high[1], high[2]);
      Words expected;
      for (std::size_t i = 0; i < count; ++i) expected.push_back(of_low[i] | of_high[i] << 16);
      CHECK(results(number.pair, pair, both[0], both[1], both[2]) == expected);
    }
  }
}

TEST_CASE_METHOD(Arithmetic,
                 "dialect: hexp, hexp2, hlog, hlog2, hrsqrt, hrcp, htanh, of all numbers, to half a unit") {
  struct Function {
    const char* expression;
    double (*value)(double);
  };
  const Function functions[] = {{"hexp(a)", std::exp},
                                {"hexp2(a)", std::exp2},
                                {"hlog(a)", std::log},
                                {"hlog2(a)", std::log2},
                                {"htanh(a)", std::tanh},
                                {"hrcp(a)", [](double x) { return 1 / x; }},
                                {"hrsqrt(a)", [](double x) { return 1 / std::sqrt(x); }}};
  for (const NumberType& number : kNumbers)
    for (const Function& function : functions) {
      const Words out = results(number.name, function.expression, all_numbers());
      for (unsigned i = 0; i < out.size(); ++i) {
        const double expected = function.value(number.format.float_value(i));
        INFO(number.name << " " << function.expression << " of " << number.format.float_value(i));
        if (std::isnan(expected)) REQUIRE(out[i] == 0x7fff);
        if (std::isinf(expected)) REQUIRE(number.format.float_value(out[i]) == expected);
        if (std::isfinite(expected)) REQUIRE(number.format.is_nearest(out[i], Exact::of(expected)));
      }
    }
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: conversions between __half, __nv_bfloat16 and integers: rounding, saturation, NaN") {
  const Words halfs = {0x3800, 0x3e00, 0x4100, 0xb800,
                       0xbe00, 0x7c00, 0xfc00, 0x7e00};  // .5 1.5 2.5 -.5 -1.5
  CHECK(results("__half", "__half2int_rn(a)", halfs) ==
        Words{0, 2, 2, 0, 0xfffffffe, 0x7fffffff, 0x80000000, 0});
  CHECK(results("__half", "__half2int_rz(a)", halfs) ==
        Words{0, 1, 2, 0, 0xffffffff, 0x7fffffff, 0x80000000, 0});
  CHECK(results("__half", "__half2int_rd(a)", halfs) ==
        Words{0, 1, 2, 0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000, 0});
  CHECK(results("__half", "__half2int_ru(a)", halfs) ==
        Words{1, 2, 3, 0, 0xffffffff, 0x7fffffff, 0x80000000, 0});
  CHECK(results("__half", "__half2uint_rn(a)", halfs) == Words{0, 2, 2, 0, 0, 0xffffffff, 0, 0});
  CHECK(results("__half", "static_cast<int>(static_cast<signed char>(a))",
                {0x5c00, 0xdc00, 0x7e00, 0x5640}) == Words{127, 0xffffff80, 0, 100});
  CHECK(results("__half", "static_cast<int>(static_cast<bool>(a))", {0, 0x8000, 1, 0x7e00}) ==
        Words{0, 0, 1, 1});
  // 2049 and 2051 are middles; 65520 is the first to overflow.
  CHECK(results("int", "__int2half_rn(a)", {2049, 2051, 65519, 65520, static_cast<unsigned>(-2049)}) ==
        Words{0x6800, 0x6802, 0x7bff, 0x7c00, 0xe800});
  CHECK(results("int", "__int2bfloat16_rn(a)", {257, 259, 0x7fffffff}) == Words{0x4380, 0x4382, 0x4f00});
  CHECK(results("__nv_bfloat16", "__half(a)", {0x3f80, 0x7f00, 0x7fc0}) == Words{0x3c00, 0x7c00, 0x7fff});
  CHECK(results("__half", "__nv_bfloat16(a)", {0x3c00, 0x3c04, 0x3c0c}) == Words{0x3f80, 0x3f80, 0x3f82});
  // Double to half in one rounding: the float of 1 + 2^-11 + 2^-30 would be a middle.
  CHECK(bits_of_float("__double2half(static_cast<double>(a) * 1.000000001)", 1.0f + 0x1p-11f) == 0x3c01);
}

TEST_CASE_METHOD(Arithmetic,
                 "dialect: __fadd_rn, __fsub_rn, __fmul_rn, __fdiv_rn, __fmaf_rn, __fsqrt_rn, __frcp_rn, "
                 "__frsqrt_rn round once") {
  CHECK(of_float("__fadd_rn(a, b)", 1.0f, 0x1p-24f) == 1.0f);
  CHECK(of_float("__fsub_rn(a, b)", 1.0f, 0x1.8p-25f) == 1.0f - 0x1p-24f);
  CHECK(of_float("__fmul_rn(a, b)", 0x1.000002p0f, 0x1.000002p0f) == 0x1.000004p0f);
  CHECK(of_float("__fdiv_rn(a, b)", 1.0f, 3.0f) == 0x1.555556p-2f);
  CHECK(of_float("__fsqrt_rn(a)", 2.0f) == 0x1.6a09e6p0f);
  CHECK(of_float("__frcp_rn(a)", 3.0f) == 0x1.555556p-2f);
  CHECK(of_float("__frsqrt_rn(a)", 2.0f) == 0x1.6a09e6p-1f);
  // The product's last bit, 2^-46, is what is left.
  const Words x = {std::bit_cast<unsigned>(0x1.000002p0f)}, minus = {std::bit_cast<unsigned>(-0x1.000004p0f)};
  CHECK(std::bit_cast<float>(results("float", "__fmaf_rn(a, b, c)", x, x, minus)[0]) == 0x1p-46f);
}

TEST_CASE_METHOD(Arithmetic,
                 "dialect: __expf, __exp10f, __logf, __log2f, __log10f, __sinf, __cosf, __fdividef, __powf, "
                 "rsqrtf, rsqrt, normcdff") {
  struct Function {
    const char* expression;
    double (*value)(double);
  };
  const Function functions[] = {{"__expf(a)", std::exp},
                                {"__exp10f(a)", [](double x) { return std::pow(10, x); }},
                                {"__logf(a)", std::log},
                                {"__log2f(a)", std::log2},
                                {"__log10f(a)", std::log10},
                                {"__sinf(a)", std::sin},
                                {"__cosf(a)", std::cos},
                                {"__fdividef(a, b)", [](double x) { return x / 3; }},
                                {"fdividef(a, b)", [](double x) { return x / 3; }},
                                {"rsqrt(a)", [](double x) { return 1 / std::sqrt(x); }},
                                {"rsqrtf(a)", [](double x) { return 1 / std::sqrt(x); }},
                                {"normcdff(a)", [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }}};
  for (const Function& function : functions)
    for (const float x : {0.3f, 0.7f, 1.0f, 1.9f, 3.1f}) {
      INFO(function.expression << " of " << x);
      CHECK_THAT(of_float(function.expression, x, 3.0f), Catch::Matchers::WithinRel(function.value(x), 1e-5));
    }
  CHECK_THAT(of_float("__powf(a, b)", 3.0f, 4.0f), Catch::Matchers::WithinULP(81.0f, 8));
  CHECK(std::isinf(of_float("rsqrtf(a)", 0.0f)));
  CHECK(std::isnan(of_float("__logf(a)", -1.0f)));
}

TEST_CASE_METHOD(Arithmetic, "dialect: approximations are not exact, and stay within the documented bounds") {
  constexpr std::size_t kCount = 20000;
  std::uniform_real_distribution<float> everyday(-12.0f, 12.0f), positive(0.0f, 12.0f);
  const auto table = cpu::test_kernels::operations();
  int rows = 0;
  for (int r = 0; r < table.count; ++r) {
    const Operation& row = table.first[r];
    if (!exact_function(row.expression)) continue;
    ++rows;
    Operands in;
    for (Words* words : {&in.a, &in.b, &in.c})
      for (std::size_t i = 0; i < kCount; ++i) {
        const float x = i < kCount / 3 ? everyday(random) : positive(random);
        words->push_back(i < 2 * kCount / 3 ? std::bit_cast<unsigned>(x) : random());  // any bits at last
      }
    const Words exact = results_to_meet(*backend, row, in.a, in.b, in.c),
                got = evaluated(*backend, cpu::test_kernels::evaluate, row.number, in.a, in.b, in.c);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      equal += exact[i] == got[i];
      INFO(row.expression << " of " << std::bit_cast<float>(in.a[i]) << ", " << std::bit_cast<float>(in.b[i])
                          << ": " << std::bit_cast<float>(got[i]) << ", exactly "
                          << std::bit_cast<float>(exact[i]));
      REQUIRE(agrees(row, in, i, exact[i], got[i]));
    }
    INFO(row.expression << ": " << equal << " of " << kCount << " are exact");
    CHECK(equal < kCount * 19 / 20);
    CHECK(equal > kCount / 100);
  }
  CHECK(rows == 13);
  // As a GPU has them: a divisor whose reciprocal is subnormal, a negative base, and powers of 2.
  CHECK(of_float("__fdividef(a, b)", 1e38f, 2e38f) == 0.0f);
  CHECK(std::isnan(of_float("__fdividef(a, b)", INFINITY, 2e38f)));
  CHECK(of_float("__fdividef(a, b)", 3.0f, 4.0f) == 0.75f);
  CHECK(std::isnan(of_float("__powf(a, b)", -2.0f, 2.0f)));
  CHECK(of_float("__expf(a)", 0.0f) == 1.0f);
  CHECK(of_float("__log2f(a)", 8.0f) == 3.0f);
  CHECK(of_float("rsqrtf(a)", 0.25f) == 2.0f);
  CHECK(of_float("__cosf(a)", 0.0f) == 1.0f);
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: expf, exp2f, logf, log2f, erff, tanhf, sqrtf, powf, sinf, cosf, fabsf, fmaxf, fminf, "
    "rintf, roundf, floorf, ceilf, truncf, isnan, isinf, isfinite") {
  CHECK_THAT(of_float("expf(a)", 1.0f), Catch::Matchers::WithinULP(2.7182817f, 1));
  CHECK(of_float("exp2f(a)", 10.0f) == 1024.0f);
  CHECK_THAT(of_float("logf(a)", 10.0f), Catch::Matchers::WithinULP(2.3025851f, 1));
  CHECK(of_float("log2f(a)", 1024.0f) == 10.0f);
  CHECK_THAT(of_float("erff(a)", 0.5f), Catch::Matchers::WithinULP(0.52049988f, 1));
  CHECK_THAT(of_float("tanhf(a)", 0.5f), Catch::Matchers::WithinULP(0.46211716f, 1));
  CHECK(of_float("powf(a, b)", 3.0f, 4.0f) == 81.0f);
  CHECK_THAT(of_float("sinf(a)", 1.0f), Catch::Matchers::WithinULP(0.84147098f, 1));
  CHECK_THAT(of_float("cosf(a)", 1.0f), Catch::Matchers::WithinULP(0.54030231f, 1));
  CHECK(of_float("sqrtf(a)", 9.0f) == 3.0f);
  CHECK(of_float("fabsf(a)", -2.0f) == 2.0f);
  CHECK(of_float("fmaxf(a, b) + 0.0f", NAN, 2.0f) == 2.0f);
  CHECK(of_float("fminf(a, b) + 0.0f", 1.0f, NAN) == 1.0f);
  CHECK(of_float("max(a, b) + 0.0f", NAN, 2.0f) == 2.0f);
  CHECK(of_float("static_cast<float>(max(a, static_cast<double>(b))) + 0.0f", 1.0f, 2.0f) == 2.0f);
  CHECK(of_float("static_cast<float>(min(static_cast<double>(a), b)) + 0.0f", 1.0f, 2.0f) == 1.0f);
  CHECK(of_float("rintf(a)", 2.5f) == 2.0f);
  CHECK(of_float("roundf(a)", 2.5f) == 3.0f);
  CHECK(of_float("floorf(a)", -0.5f) == -1.0f);
  CHECK(of_float("ceilf(a)", 0.5f) == 1.0f);
  CHECK(of_float("truncf(a)", -1.5f) == -1.0f);
  CHECK(bits_of_float("static_cast<int>(isnan(a))", NAN) == 1);
  CHECK(bits_of_float("static_cast<int>(isnan(a))", INFINITY) == 0);
  CHECK(bits_of_float("static_cast<int>(isinf(a))", INFINITY) == 1);
  CHECK(bits_of_float("static_cast<int>(isfinite(a))", -INFINITY) == 0);
  CHECK(bits_of_float("static_cast<int>(isfinite(a))", 1.0f) == 1);
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: __float2int_rn, _rz, _rd, _ru and __float2uint_rn, _rz, _rd, _ru saturate, and take NaN to 0") {
  const auto bits = [&](const char* way, float x) { return bits_of_float(std::string(way) + "(a)", x); };
  CHECK(bits("__float2int_rd", -1.5f) == static_cast<unsigned>(-2));
  CHECK(bits("__float2int_ru", -1.5f) == static_cast<unsigned>(-1));
  CHECK(bits("__float2int_ru", 3e9f) == 0x7fffffff);
  CHECK(bits("__float2uint_rn", 2.5f) == 2);
  CHECK(bits("__float2uint_rn", 3e9f) == 3000000000u);
  CHECK(bits("__float2uint_rn", 5e9f) == 0xffffffff);
  CHECK(bits("__float2uint_rn", -1.0f) == 0);
  CHECK(bits("__float2uint_rz", NAN) == 0);
  CHECK(bits("__float2uint_rd", 1.9f) == 1);
  CHECK(bits("__float2uint_ru", 1.1f) == 2);
  CHECK(of_float("__saturatef(a)", 1.5f) == 1.0f);
  CHECK(of_float("__saturatef(a)", -1.0f) == 0.0f);
  CHECK(of_float("__saturatef(a)", NAN) == 0.0f);
  CHECK(of_float("__saturatef(a)", 0.25f) == 0.25f);
}

TEST_CASE_METHOD(Arithmetic,
                 "dialect: __int2float_rn, __uint2float_rn, __float_as_int, __int_as_float, __float_as_uint, "
                 "__uint_as_float, __half_as_ushort, __ushort_as_half and their kin") {
  CHECK(std::bit_cast<float>(of_int("__int2float_rn(a)", 16777217)) == 16777216.0f);
  CHECK(std::bit_cast<float>(of_int("__uint2float_rn(static_cast<unsigned>(a))", -1)) == 4294967296.0f);
  CHECK(of_float("__int_as_float(__float_as_int(a))", 1.5f) == 1.5f);
  CHECK(of_float("__uint_as_float(__float_as_uint(a))", -1.5f) == -1.5f);
  CHECK(results("__half", "__ushort_as_half(__half_as_ushort(a))", {0x1234}) == Words{0x1234});
  CHECK(results("__half", "static_cast<int>(__half_as_short(a))", {0x8001}) == Words{0xffff8001});
  CHECK(results("__nv_bfloat16", "__ushort_as_bfloat16(__bfloat16_as_ushort(a))", {0xabcd}) == Words{0xabcd});
}

TEST_CASE_METHOD(Arithmetic, "dialect: __double_as_longlong and __longlong_as_double") {
  const std::string upper = "static_cast<int>(__double_as_longlong(static_cast<double>(a)) >> 32)";
  CHECK(of_int(upper, 1) == 0x3ff00000);
  CHECK(of_int(upper, -3) == static_cast<int>(0xc0080000));
  const std::string lower = "static_cast<int>(__double_as_longlong(1.0 + static_cast<unsigned>(a)))";
  for (const int a : {0, 1, 0x12345678, -1})
    CHECK(of_int(lower, a) == static_cast<int>(std::bit_cast<long long>(1.0 + static_cast<unsigned>(a))));
  // 2^52 plus an integer: the integer is the end of the fraction.
  const std::string from_bits =
      "static_cast<int>(__longlong_as_double((1075ll << 52) + (a & 0x7fffffff)) - 0x1p52)";
  for (const int a : {0, 1, 0x12345678, 0x7fffffff}) CHECK(of_int(from_bits, a) == a);
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: __floats2half2_rn, __halves2half2, __low2half, __high2float, __lows2half2 and their kin") {
  const unsigned x = std::bit_cast<unsigned>(1.0f), y = std::bit_cast<unsigned>(-2.0f);
  CHECK(results("float", "__floats2half2_rn(a, b)", {x}, {y}) == Words{0xc0003c00});
  CHECK(results("float", "__float22half2_rn(make_float2(a, b))", {x}, {y}) == Words{0xc0003c00});
  CHECK(results("float", "__float2half2_rn(a)", {x}) == Words{0x3c003c00});
  CHECK(results("float", "__floats2bfloat162_rn(a, b)", {x}, {y}) == Words{0xc0003f80});
  CHECK(results("__half", "__halves2half2(a, b)", {1}, {2}) == Words{0x20001});
  CHECK(results("__half2", "__low2half(a)", {0x20001}) == Words{1});
  CHECK(results("__half2", "__high2half(a)", {0x20001}) == Words{2});
  CHECK(results("__half2", "__low2half2(a)", {0x20001}) == Words{0x10001});
  CHECK(results("__half2", "__high2half2(a)", {0x20001}) == Words{0x20002});
  CHECK(results("__half2", "__lows2half2(a, b)", {0x20001}, {0x40003}) == Words{0x30001});
  CHECK(results("__half2", "__highs2half2(a, b)", {0x20001}, {0x40003}) == Words{0x40002});
  CHECK(results("__half2", "__lowhigh2highlow(a)", {0x20001}) == Words{0x10002});
  CHECK(results("__half2", "__low2float(a)", {0xc0003c00}) == Words{x});
  CHECK(results("__half2", "__high2float(a)", {0xc0003c00}) == Words{y});
  CHECK(results("__half2", "__half22float2(a).y", {0xc0003c00}) == Words{y});
  CHECK(results("__half2", "__hgt2(a, b)", {0x3c003c00}, {0x40000000}) == Words{0x00003c00});
  CHECK(results("__half2", "static_cast<int>(__hbgt2(a, b))", {0x3c003c00}, {0x40000000}) == Words{0});
  CHECK(results("__half2", "__hisnan2(a)", {0x7e003c00}) == Words{0x3c000000});
}

TEST_CASE_METHOD(
    Arithmetic,
    "dialect: __popc, __clz, __clzll, __ffs, __ffsll, __brev, __umulhi, __mulhi, __byte_perm, __dp4a, "
    "__vminu2, __vmaxu2, min and max of integers") {
  CHECK(of_int("__popc(static_cast<unsigned>(a))", 0xff0f) == 12);
  CHECK(of_int("__clz(a)", 1) == 31);
  CHECK(of_int("__clz(a)", 0) == 32);
  CHECK(of_int("__ffs(a)", 8) == 4);
  CHECK(of_int("__ffs(a)", 0) == 0);
  CHECK(of_int("__brev(static_cast<unsigned>(a))", 1) == std::numeric_limits<int>::min());
  CHECK(of_int("__umulhi(static_cast<unsigned>(a), static_cast<unsigned>(b))", -1, 16) == 15);
  CHECK(of_int("__dp4a(a, b, c)", 0x7f80ff01, 0x02030405, 100) == 100 + 127 * 2 - 128 * 3 - 4 + 5);
  CHECK(of_int("__vminu2(static_cast<unsigned>(a), static_cast<unsigned>(b))", 0x7000fff0, 0x8000000f) ==
        0x7000000f);
  CHECK(of_int("__vmaxu2(static_cast<unsigned>(a), static_cast<unsigned>(b))", 0x7001fff0, 0x7000000f) ==
        0x7001fff0);
  CHECK(of_int("min(a, b)", -1, 1) == -1);
  CHECK(of_int("min(a, static_cast<unsigned>(b))", -1, 1) == 1);  // as unsigned
  CHECK(of_int("max(static_cast<unsigned>(a), b)", 1, -1) == -1);
  CHECK(of_int("max(static_cast<short>(a), 3)", 0x10002) == 3);
  CHECK(of_int("static_cast<int>(min(static_cast<long long>(a), static_cast<unsigned long long>(b)))", -1,
               5) == 5);
  CHECK(of_int("__clzll(static_cast<long long>(a))", 1) == 63);
  CHECK(of_int("__clzll(static_cast<long long>(a))", 0) == 64);
  CHECK(of_int("__ffsll(static_cast<long long>(a) << 20)", 8) == 24);
  CHECK(of_int("__mulhi(a, b)", -1, 16) == -1);
  const std::string bytes =
      "__byte_perm(static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(c))";
  CHECK(of_int(bytes, 0x33221100, 0x77665544, 0x7531) == 0x77553311);
  CHECK(of_int(bytes, 0x33228100, 0x77665544, 0x9980) == static_cast<int>(0x81810000));  // as on an H200
}

}  // namespace test_arithmetic

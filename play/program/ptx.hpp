/// \file
/// Inline PTX in programs: what the statements that play/translation/ptx.hpp makes of it call. An instruction
/// of a GPU becomes what the CPU device has for it, so that its accesses are counted and checked.
#pragma once

#include "cpu_device/dialect/cuda.hpp"
#include "cpu_device/dialect/vector_types.hpp"

namespace program::ptx {

// --- Registers, which have a size but no type ---

/// The value of a register as a number of that type.
template <class To, class From>
[[gnu::always_inline]] inline To get(const From& from) {
  if constexpr (sizeof(To) == sizeof(From))
    return __builtin_bit_cast(To, from);
  else
    return static_cast<To>(from);
}

template <class To, class From, size_t Count>
[[gnu::always_inline]] inline To get(const From (&from)[Count]) {
  return get<To>(&from[0]);
}

template <class To, class From>
[[gnu::always_inline]] inline void put(To& to, const From& from) {
  to = get<To>(from);
}

/// mov with two registers in brackets.
template <class Word>
struct Pair {
  Word low, high;
};
template <class Word, class Whole, class Low, class High>
[[gnu::always_inline]] inline void split(const Whole& whole, Low& low, High& high) {
  const auto pair = get<Pair<Word>>(whole);
  put(low, pair.low);
  put(high, pair.high);
}

// --- Arithmetic ---

[[gnu::always_inline]] inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
[[gnu::always_inline]] inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// By the number of bits or more, nothing of an unsigned number is left.
template <class Word>
[[gnu::always_inline]] inline Word shl(Word a, Word bits) {
  return static_cast<unsigned>(bits) < 8 * sizeof(Word) ? a << bits : 0;
}
template <class Word>
[[gnu::always_inline]] inline Word shr(Word a, Word bits) {
  constexpr unsigned kLast = 8 * sizeof(Word) - 1;
  const unsigned all = static_cast<unsigned>(bits);
  return all <= kLast ? a >> all : a < 0 ? Word(-1) : Word(0);
}

// --- Memory ---

template <class Address>
[[gnu::always_inline]] inline void* generic(const Address& address, long long offset) {
  return get<char*>(address) + offset;
}
/// Of shared memory, whose addresses may have 32 bits.
template <class Address>
[[gnu::always_inline]] inline void* shared(const Address& address, long long offset) {
  const auto all = get<unsigned long long>(address) + static_cast<unsigned long long>(offset);
  return ::cpu::at_shared_offset(static_cast<unsigned>(all));
}

template <class Word, class... To>
[[gnu::always_inline]] inline void put_all(const Word* words, To&... to) {
  int i = 0;
  (put(to, words[i++]), ...);
}

/// A type of so many bytes that is loaded at once.
template <size_t Bytes>
struct Access {
  using Type = typename ::cpu::detail::BitsOf<Bytes>::type;
};
template <>
struct Access<1> {
  using Type = unsigned char;
};

template <class Word, int Count>
struct Words {
  Word word[Count];
};

/// ld: one access for all elements.
template <class Word, class... To>
[[gnu::always_inline]] inline void load(const void* from, To&... to) {
  constexpr int kCount = sizeof...(To);
  using Type = typename Access<sizeof(Word) * kCount>::Type;
  const auto words = __builtin_bit_cast(Words<Word, kCount>, *static_cast<const Type*>(from));
  put_all(words.word, to...);
}

template <class Word, class... From>
[[gnu::always_inline]] inline void store(void* to, const From&... from) {
  constexpr int kCount = sizeof...(From);
  using Type = typename Access<sizeof(Word) * kCount>::Type;
  const Words<Word, kCount> words = {{get<Word>(from)...}};
  *static_cast<Type*>(to) = __builtin_bit_cast(Type, words);
}

/// ld.volatile, ld.relaxed and ld.acquire.
template <bool Acquires, class Word, class... To>
[[gnu::always_inline]] inline void strong_load(const void* from, To&... to) {
  Word words[sizeof...(To)];
  ::cpu::strong_load(words, from, sizeof words, Acquires);
  put_all(words, to...);
}

/// st.volatile and st.relaxed.
template <class Word, class... From>
[[gnu::always_inline]] inline void strong_store(void* to, const From&... from) {
  const Word words[] = {get<Word>(from)...};
  ::cpu::strong_store(to, words, sizeof words);
}

// --- Matrices ---

template <class... To>
[[gnu::always_inline]] inline void ldmatrix(bool transposed, const void* row, To&... to) {
  unsigned matrices[sizeof...(To)];
  ::cpu::load_matrices(matrices, sizeof...(To), transposed, row);
  put_all(matrices, to...);
}

/// mma.sync.aligned.mMnNkK.row.col: `d` to `c` are a lane's registers.
template <int M, int N, int K, ::cpu::FragmentNumber D, ::cpu::FragmentNumber A, ::cpu::FragmentNumber B,
          ::cpu::FragmentNumber C>
[[gnu::always_inline]] inline void mma(void* d, void* a, void* b, void* c, bool saturates) {
  using Use = ::cpu::FragmentUse;
  ::cpu::warp_multiply({Use::kAccumulator, D, M, N, K, M * N / 32, d}, {Use::kA, A, M, N, K, M * K / 32, a},
                       {Use::kB, B, M, N, K, K * N / 32, b}, {Use::kAccumulator, C, M, N, K, M * N / 32, c},
                       saturates);
}

}  // namespace program::ptx

[[gnu::always_inline]] inline size_t __cvta_generic_to_shared(const void* address) {
  return ::cpu::shared_offset(address);
}
[[gnu::always_inline]] inline void* __cvta_shared_to_generic(size_t offset) {
  return ::cpu::at_shared_offset(offset);
}
[[gnu::always_inline]] inline size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<size_t>(address);
}

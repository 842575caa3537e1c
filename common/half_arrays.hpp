/// \file
/// The types of 16 bits as elements of a chapter's arrays. Each device has its own.
#pragma once
#include <type_traits>

#include "chapter.hpp"
#include "device.hpp"

namespace DEVICE {

using Float16Element = __half;
using BFloat16Element = __nv_bfloat16;

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float>;
template <class T>
constexpr bool kIsFloat16 = std::is_same_v<T, __half>;

/// The name of an array of Ts: the first, second or third where T is float, __half or __nv_bfloat16.
template <class T>
constexpr const char* name_of(const char* float32, const char* float16, const char* bfloat16) {
  return kIsFloat<T> ? float32 : kIsFloat16<T> ? float16 : bfloat16;
}

}  // namespace DEVICE

template <>
inline constexpr workbook::Type workbook::kTypeOf<DEVICE::Float16Element> = workbook::Type::kFloat16;
template <>
inline constexpr workbook::Type workbook::kTypeOf<DEVICE::BFloat16Element> = workbook::Type::kBFloat16;

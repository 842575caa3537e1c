/// \file
/// The arrays of a run by name, for tests, which do not include a chapter's own headers: those are kernels.
#pragma once
#include "chapter.hpp"

inline void* elements_named(const workbook::Data& data, const char* name, workbook::Type type) {
  return data.elements({name, type, workbook::Role::kInput, nullptr});
}

inline float* floats(const workbook::Data& data, const char* name) {
  return static_cast<float*>(elements_named(data, name, workbook::Type::kFloat32));
}

/// \file
/// Shapes of any number of dimensions, for tests of all chapters.
#pragma once
#include <algorithm>

#include "harness/options.hpp"

/// The three sizes of `ragged`, as a shape of the chapter: with fewer dimensions its first ones; with five,
/// behind two heads of q that share one of k and v. A chapter of several GPUs has two.
inline workbook::Shape shape_of(const workbook::Chapter& chapter, const int (&ragged)[3]) {
  if (chapter.gpus) return {{2, ragged[0], 8 * ragged[1]}};  // rows of whole vectors
  const int count = workbook::rank(chapter.dims);
  workbook::Shape shape = {{1, 1, 1, 1, 1}};
  if (count == 5) shape.dims[0] = 2;
  std::copy_n(ragged, std::min(count, 3), shape.dims + (count == 5 ? 2 : 0));
  return shape;
}

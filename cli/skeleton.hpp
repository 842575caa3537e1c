/// \file
/// A solution file holds the skeleton of its exercise too: between `// BEGIN SOLUTION` and `// SKELETON`
/// stands what the reader is to write, from there to `// END SOLUTION`, behind `// `, what the skeleton has
/// in its place.
#pragma once

#include <string>

namespace workbook {

/// What the reader begins with. \throws MachineError when the markers are not in order
std::string skeleton_of(const std::string& solution);

/// The solution without markers and skeleton. \throws MachineError when the markers are not in order
std::string plain_solution_of(const std::string& solution);

}  // namespace workbook

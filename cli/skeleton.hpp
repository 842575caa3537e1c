/// \file
/// A solution file also contains the skeleton of its exercise: between `// BEGIN SOLUTION` and `// SKELETON`
/// is what the reader has to write, and from there to `// END SOLUTION`, as comments, what the skeleton has
/// in its place. In Python the markers begin with `#`.
#pragma once

#include <string>

namespace workbook {

/// The file that the reader starts with. \throws MachineError when the markers are not in order
std::string skeleton_of(const std::string& solution);

/// The solution without the markers and the skeleton. \throws MachineError when the markers are not in order
std::string plain_solution_of(const std::string& solution);

}  // namespace workbook

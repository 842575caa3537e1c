/// \file
/// Content decides what is built. Ninja compares times, which say nothing where a file was copied with its
/// old time, moved, unpacked from an archive, or where the clock went back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace workbook {

/// What keep_build_true() has found.
struct BuildInputs {
  /// Outputs of Ninja's that were deleted, because a file that they were made from has other content now.
  std::vector<std::string> outdated;
  /// Inputs whose time was in the future. They have got the present one: Ninja would build them each time.
  std::vector<std::string> from_future;
};

/// Makes the next build make again what was made from something else than what is there now, whatever the
/// times say. Call it before a build and after it, and hold the build's lock.
///
/// The files that Ninja has seen a compiler read (build/.ninja_deps) are compared with what is known of them
/// by a hash, which is computed again when time, size or inode differ. Their names are looked up in all
/// folders that are searched for headers, for one that appears later and is found first. An output is deleted
/// where one of its files differs or has changed during the build, or if its own time is in the future. The
/// hashes stand in build/inputs.
///
/// Does nothing where Ninja has not built yet. \throws std::runtime_error where the build or a file that it
/// was made from cannot be read, or the build not written, or is of another version of Ninja's format than 4,
/// that of Ninja 1.9 to 1.13
BuildInputs keep_build_true(const std::filesystem::path& build);

/// A sentence on the inputs whose times were changed; empty where there are none.
std::string said_of_times(const BuildInputs& inputs);

}  // namespace workbook

// Replacing a file: whole or not at all.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "catch.hpp"
#include "judge/judge.hpp"
#include "system/errors.hpp"
#include "system/exit_status.hpp"
#include "system/files.hpp"

namespace test_files {
namespace {

namespace fs = std::filesystem;
using workbook::file_text;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("workbook-files-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  long count() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

}  // namespace

TEST_CASE("a file in UTF-16 is named as such") {
  const Folder folder;
  const auto fault = [&](const std::string& text) {
    workbook::replace_file(folder.path / "x.cu", text);
    return workbook::encoding_fault(folder.path / "x.cu", "x.cu");
  };
  const std::string sentence =
      "x.cu is not UTF-8 text (it begins with a UTF-16 byte order mark): save it as UTF-8.";
  CHECK(fault(std::string("\xff\xfe/\0", 4)) == sentence);
  CHECK(fault(std::string("\xfe\xff\0/", 4)) == sentence);
  for (const char* readable : {"", "// x", "\xef\xbb\xbf// x", "\xff"}) CHECK(fault(readable).empty());
}

TEST_CASE("a file is there, is not there, or its name cannot be looked up") {
  const Folder folder;
  CHECK(workbook::file_exists(folder.path));
  CHECK_FALSE(workbook::file_exists(folder.path / "x"));
  CHECK_THROWS_AS(workbook::file_exists(folder.path / std::string(300, 'x')), workbook::MachineError);
}

TEST_CASE("a folder is made, or it is said why not") {
  const Folder folder;
  const fs::path made = folder.path / "a" / "b";
  CHECK(workbook::make_folder(made) == std::nullopt);
  CHECK(workbook::make_folder(made) == std::nullopt);
  workbook::replace_file(made / "file", "");
  CHECK(workbook::make_folder(made / "file") == "Not a directory");
  CHECK(workbook::make_folder(made / std::string(300, 'x')) == "File name too long");
}

TEST_CASE("a file keeps its old content until the new one is complete") {
  const Folder folder;
  const fs::path path = folder.path / "x.json";
  workbook::replace_file(path, "old");
  CHECK(file_text(path) == "old");
  {
    workbook::OutputFile file(path);
    CHECK(file_text(path) == "old");
    file.finish("new");
    CHECK(file_text(path) == "new");
  }
  { const workbook::OutputFile never_finished(path); }
  CHECK(file_text(path) == "new");
  CHECK(folder.count() == 1);  // and nothing is left beside it
}

TEST_CASE("the file that a symbolic link points to is replaced, not the link") {
  const Folder folder;
  const fs::path target = folder.path / "target", link = folder.path / "link";
  workbook::replace_file(target, "old");
  fs::create_symlink("target", link);
  workbook::replace_file(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(file_text(target) == "new");
  CHECK(folder.count() == 2);
}

TEST_CASE("only regular files are read and replaced, and they are not too large") {
  const Folder folder;
  const fs::path path = folder.path / "x";
  const auto problem = [&](const char* text) {
    CHECK_THROWS_WITH(file_text(path), path.string() + " cannot be read (" + text + ")");
  };
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  problem("it is a pipe, not a file");
  CHECK_THROWS_WITH(workbook::replace_file(path, ""), ContainsSubstring("it is not a regular file"));
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  problem("it is a device, not a file");
  CHECK_THROWS_WITH(workbook::replace_file(path, ""), ContainsSubstring("it is not a regular file"));
  fs::remove(path);
  fs::create_directory(path);
  problem("it is a folder, not a file");
  fs::remove(path);
  std::ofstream(path) << "x";
  fs::resize_file(path, workbook::kMostFileBytes);
  CHECK(file_text(path).size() == workbook::kMostFileBytes);
  fs::resize_file(path, workbook::kMostFileBytes + 1);
  problem("it has more than 16 MiB, which is the most");
}

TEST_CASE("a file that cannot be read or written is an error of the machine") {
  const Folder folder;
  const fs::path missing = folder.path / "none" / "x.json";
  CHECK_THROWS_AS(file_text(missing), workbook::MachineError);
  CHECK_THROWS_AS(workbook::OutputFile(missing), workbook::MachineError);
  CHECK_THROWS_WITH(workbook::replace_file(missing, ""),
                    missing.string() + " cannot be written (No such file or directory)");
  // A folder cannot be replaced by a file.
  const fs::path inner = folder.path / "folder";
  fs::create_directories(inner / "not_empty");
  CHECK_THROWS_AS(workbook::replace_file(inner, ""), workbook::MachineError);
  CHECK(folder.count() == 1);
}

TEST_CASE("a verdict that cannot be written is an error of the machine") {
  const bool has_steps = std::getenv("WORKBOOK_STEPS") != nullptr;
  const workbook::Version versions[] = {{"reader", [] { return workbook::Answer(); }}};
  workbook::Exercise exercise = {};
  exercise.learnt = exercise.lesson = "";
  const auto status = [&](const char* version) {
    const char* const argv[] = {"check", version, "/none/such/verdict.json"};
    return workbook::judge_exercise(3, argv, exercise, versions, 1);
  };
  CHECK(status("reader") == workbook::kMachineLacks);
  CHECK(status("nobody") == workbook::kBadUsage);
  if (!has_steps) unsetenv("WORKBOOK_STEPS");  // judge_exercise has set it
}

}  // namespace test_files

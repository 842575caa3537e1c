#include "system/build_inputs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "system/read_file.hpp"

namespace workbook {
namespace {

namespace fs = std::filesystem;

using Nanoseconds = std::int64_t;
constexpr Nanoseconds kSecond = 1'000'000'000;

Nanoseconds nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

Nanoseconds now() {
  timespec time = {};
  clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

/// Clocks of network file systems differ by a little.
bool is_in_future(Nanoseconds time) { return time > now() + 2 * kSecond; }

/// The text of a file of the build's; empty where it is not there
std::string text_of(const fs::path& path) { return read_file(path, std::size_t{1} << 30).text; }

// --- What Ninja knows ---

/// Paths, each once, as numbers.
class Paths {
 public:
  explicit Paths(fs::path folder) : folder_(std::move(folder)) {}

  /// \param path absolute, or relative to the folder
  int number(const std::string& path) {
    const std::string whole = (folder_ / path).lexically_normal().string();
    const auto [at, is_new] = numbers_.try_emplace(whole, static_cast<int>(paths_.size()));
    if (is_new) paths_.push_back(whole);
    return at->second;
  }
  const std::string& operator[](int number) const { return paths_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(paths_.size()); }

 private:
  fs::path folder_;
  std::vector<std::string> paths_;
  std::unordered_map<std::string, int> numbers_;
};

/// What each output was made from: output, inputs.
using Dependencies = std::map<int, std::vector<int>>;

/// The log of what compilers have read, which consists of records. The four bytes before each hold its size
/// and, in the highest bit, whether it says what an output was made from; otherwise it is a path, padded with
/// zeros, and a checksum. (Ninja, src/deps_log.h)
Dependencies read_dependencies(const fs::path& log, Paths& paths) {
  const std::string text = text_of(log);
  constexpr char kMark[] = "# ninjadeps\n";
  constexpr std::size_t kWord = 4, kHeader = sizeof kMark - 1 + kWord;
  constexpr std::uint32_t kIsOutput = 1u << 31, kVersion = 4;
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, text.data() + at, kWord);
    return value;
  };
  Dependencies all;
  if (text.size() < kHeader) return all;
  if (!text.starts_with(kMark) || word(kHeader - kWord) != kVersion)
    throw std::runtime_error(log.string() + " is of a version of Ninja that is not known; 1.9 to 1.13 are");
  std::vector<int> numbers;
  for (std::size_t at = kHeader; at + kWord <= text.size();) {
    const std::size_t size = word(at) & ~kIsOutput, begin = at + kWord, end = begin + size;
    if (end > text.size() || size < 2 * kWord) break;  // the end of it was not written
    if (word(at) & kIsOutput) {
      std::vector<int>& inputs = all[numbers.at(word(begin))];
      inputs.clear();  // the last record of an output counts
      for (std::size_t i = begin + 3 * kWord; i < end; i += kWord) inputs.push_back(numbers.at(word(i)));
    } else {
      const std::string path = text.substr(begin, size - kWord);
      numbers.push_back(paths.number(path.c_str()));  // to the first zero
    }
    at = end;
  }
  return all;
}

/// All outputs of commands: the fourth of the columns of .ninja_log.
std::vector<std::string> read_outputs(const fs::path& log) {
  std::istringstream file(text_of(log));
  std::set<std::string> outputs;
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    std::string column;
    for (int i = 0; i < 4; ++i) std::getline(columns, column, '\t');
    if (columns) outputs.insert(column);
  }
  return {outputs.begin(), outputs.end()};
}

/// What build.ninja says: the folders that are searched for headers, the files that CMake has read, and the
/// lists of inputs of commands that Ninja does not take into its log.
struct BuildFile {
  std::set<std::string> folders;
  std::vector<std::string> inputs, lists;
};

void add_folders(const std::string& options, std::set<std::string>& folders) {
  for (const std::string option : {"-I", "-isystem ", "-iquote"})
    for (auto at = options.find(option); at != std::string::npos; at = options.find(option, at + 1)) {
      const auto begin = options.find_first_not_of("\" ", at + option.size());
      const auto end = options.find_first_of("\"\n", begin);
      std::string folder = options.substr(begin, end - begin);
      // A quotation mark is before the option or after it.
      if (at == 0 || options[at - 1] != '"') folder = folder.substr(0, folder.find(' '));
      folders.insert(folder);
    }
}

/// The words of a line of build.ninja, in which a dollar sign is before blanks, colons and dollar signs of
/// names.
std::vector<std::string> names_in(const std::string& line) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '$' && i + 1 < line.size())
      words.back() += line[++i];
    else if (line[i] == ' ')
      words.emplace_back();
    else
      words.back() += line[i];
  std::erase(words, "");
  return words;
}

BuildFile read_build_file(const fs::path& build) {
  const std::string folders = "  INCLUDES = ", list = "  depfile = ", own = "build build.ninja:";
  BuildFile found;
  std::istringstream file(text_of(build / "build.ninja"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(folders)) add_folders(line, found.folders);
    if (line.starts_with(list + "/")) found.lists.push_back(names_in(line.substr(list.size()))[0]);
    if (!line.starts_with(own)) continue;
    for (const std::string& word : names_in(line.substr(own.size())))
      if (word != "|" && word != "||" && word != "RERUN_CMAKE")
        found.inputs.push_back((build / word).string());
  }
  // The files for `play` are preprocessed with options of their own (play/CMakeLists.txt).
  std::error_code error;
  for (fs::directory_iterator entry(build, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".options") add_folders(text_of(entry->path()), found.folders);
  return found;
}

/// Adds what a compiler has written for Make: "OUTPUT: INPUT INPUT ...", in which a backslash is before
/// blanks of names and at the ends of lines.
void add_list(const fs::path& list, Paths& paths, Dependencies& dependencies) {
  const std::string text = text_of(list);
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == '\\' && i + 1 < text.size();
    if (is_escaped && text[i + 1] != '\n')
      words.back() += text[++i];
    else if (is_escaped || text[i] == ' ' || text[i] == '\n')
      words.emplace_back(), i += is_escaped;
    else
      words.back() += text[i];
  }
  std::erase(words, "");
  if (words.empty() || !words[0].ends_with(":")) return;
  std::vector<int>& inputs = dependencies[paths.number(words[0].substr(0, words[0].size() - 1))];
  for (std::size_t i = 1; i < words.size(); ++i) inputs.push_back(paths.number(words[i]));
}

// --- What is known of files ---

struct Known {
  std::uint64_t hash = 0;  // 0: it is not there
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  Nanoseconds modified = 0, changed = 0;  // ctime: no program can set it

  bool is_same_file(const Known& other) const {
    return inode == other.inode && size == other.size && modified == other.modified &&
           changed == other.changed;
  }
};

/// FNV-1a, the same in each build of this program. \throws std::runtime_error for what is there and cannot be
/// read: a compiler would wait for a pipe for ever
std::uint64_t hash_of(const std::string& path) {
  const FileContent content = read_file(path, std::size_t{1} << 30);
  if (!content.problem.empty())
    throw std::runtime_error(path + " cannot be read, and the build needs it (" + content.problem + ")");
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : content.text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

Known without_hash(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {.hash = 0,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified = nanoseconds(status.st_mtim),
          .changed = nanoseconds(status.st_ctim)};
}

/// The file in which all that is known stands: the time when it was written, then the files, and the names
/// that were found in folders that are searched.
struct Memory {
  Nanoseconds written = 0;
  std::unordered_map<std::string, Known> files;
  std::set<std::string> folders, names;  // folders that were looked into, and FOLDER/NAME

  static Memory read(const fs::path& path) {
    Memory memory;
    std::istringstream file(text_of(path));
    std::string kind, name;
    for (Known known; file >> kind;) {
      if (kind == "written") file >> memory.written;
      if (kind == "file") file >> known.hash >> known.inode >> known.size >> known.modified >> known.changed;
      if (kind == "written") continue;
      file.get();
      std::getline(file, name);
      if (kind == "file") memory.files[name] = known;
      if (kind == "folder") memory.folders.insert(name);
      if (kind == "name") memory.names.insert(name);
    }
    return memory;
  }

  void write(const fs::path& path) const {
    const fs::path partial = path.string() + ".partial";
    std::ofstream file(partial);
    file << "written " << now() << "\n";
    for (const auto& [name, known] : files)
      file << "file " << known.hash << " " << known.inode << " " << known.size << " " << known.modified << " "
           << known.changed << " " << name << "\n";
    for (const std::string& name : folders) file << "folder " << name << "\n";
    for (const std::string& name : names) file << "name " << name << "\n";
    file.close();
    if (file && std::rename(partial.c_str(), path.c_str()) == 0) return;
    const std::string why = std::strerror(errno);
    unlink(partial.c_str());
    throw std::runtime_error(path.string() + " cannot be written (" + why + ")");
  }
};

// --- Comparing ---

bool is_inside(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

/// Those that no reader writes into.
bool is_of_system(const std::string& path) { return is_inside(path, "/usr") || is_inside(path, "/lib"); }

class ChangedInputs {
 public:
  explicit ChangedInputs(const fs::path& build)
      : build_(build),
        paths_(build),
        dependencies_(read_dependencies(build / ".ninja_deps", paths_)),
        build_file_(read_build_file(build)),
        file_(build / "inputs"),
        memory_(Memory::read(file_)) {
    for (const std::string& list : build_file_.lists) add_list(list, paths_, dependencies_);
    for (const auto& [output, inputs] : dependencies_)
      for (const int input : inputs) inputs_.insert(input);
  }

  BuildInputs run() {
    delete_outputs_from_future();
    for (const int input : inputs_)
      if (is_other(paths_[input], /*may_be_new=*/true)) others_.insert(input);
    for (const std::string& input : build_file_.inputs)
      if (is_other(input, /*may_be_new=*/false) && !is_inside(input, build_)) configure_again();
    find_new_names();
    delete_outdated();
    forget_files_that_nothing_reads();
    memory_.write(file_);
    return found_;
  }

 private:
  /// Whether the content of a file is not what it was at the last look, or has changed since then for the
  /// first look at it. Learns it.
  bool is_other(const std::string& path, bool may_be_new) {
    Known known = without_hash(path);
    const auto before = memory_.files.find(path);
    const bool is_generated = is_inside(path, build_);
    if (is_in_future(known.modified) && set_present_time(path)) {
      known = without_hash(path);
      if (!is_generated) found_.from_future.push_back(path);
    }
    if (before != memory_.files.end() && before->second.is_same_file(known)) return false;
    known.hash = known.inode ? hash_of(path) : 0;
    const bool is_new = before == memory_.files.end();
    const bool is_other = is_new ? may_be_new && !is_generated && known.changed > memory_.written
                                 : before->second.hash != known.hash;
    memory_.files[path] = known;
    return is_other;
  }

  /// A build.ninja that is older than what CMake has read is made again.
  void configure_again() {
    const timespec long_ago[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    utimensat(AT_FDCWD, (build_ + "/build.ninja").c_str(), long_ago, 0);
  }

  static bool set_present_time(const std::string& path) {
    return utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0;
  }

  void delete_output(const std::string& output) {
    std::error_code error;
    if (!fs::is_regular_file(output, error)) return;
    if (!fs::remove(output, error) && error)
      throw std::runtime_error(output + " cannot be deleted (" + error.message() + ")");
    found_.outdated.push_back(output);
  }

  /// Ninja would not make them again while it is not their time yet.
  void delete_outputs_from_future() {
    for (const std::string& output : read_outputs(build_ + "/.ninja_log"))
      if (const std::string path = (build_ / fs::path(output)).lexically_normal().string();
          is_in_future(without_hash(path).modified) && path != build_ + "/build.ninja")
        delete_output(path);
    if (is_in_future(without_hash(build_ + "/build.ninja").modified))
      set_present_time(build_ + "/build.ninja");
  }

  /// Finds names of inputs in folders in which they were not before, and notes the inputs of that name.
  void find_new_names() {
    std::unordered_map<std::string, std::vector<int>> inputs_of;  // by each part of their paths
    std::set<std::string> folders = build_file_.folders;
    for (const int input : inputs_) {
      const fs::path path = paths_[input];
      for (const fs::path& part : path) inputs_of[part.string()].push_back(input);
      folders.insert(path.parent_path().string());
    }
    std::set<std::string> names, looked;
    for (const std::string& folder : folders) {
      if (folder == build_ || is_inside(folder, build_) || is_of_system(folder + "/")) continue;
      looked.insert(folder);
      const bool was_looked = memory_.folders.count(folder);
      std::error_code error;
      for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().string();
        names.insert(name);  // also those that nothing includes yet
        const auto inputs = inputs_of.find(entry->path().filename().string());
        if (inputs == inputs_of.end() || !was_looked || memory_.names.count(name)) continue;
        for (const int input : inputs->second) hidden_[input].insert(folder);
      }
    }
    memory_.folders = looked;
    memory_.names = names;
  }

  /// Whether an input of that name has appeared where the output's files look for it.
  bool may_find_another(int input, const std::unordered_set<std::string>& folders) const {
    const auto found = hidden_.find(input);
    if (found == hidden_.end()) return false;
    for (const std::string& folder : found->second)
      if (folders.count(folder) || build_file_.folders.count(folder)) return true;
    return false;
  }

  void delete_outdated() {
    if (others_.empty() && hidden_.empty()) return;
    for (const auto& [output, inputs] : dependencies_) {
      if (!without_hash(paths_[output]).inode) continue;
      std::unordered_set<std::string> folders;
      if (!hidden_.empty())
        for (const int input : inputs) folders.insert(fs::path(paths_[input]).parent_path().string());
      for (const int input : inputs)
        if (others_.count(input) || may_find_another(input, folders)) {
          delete_output(paths_[output]);
          break;
        }
    }
  }

  void forget_files_that_nothing_reads() {
    std::unordered_set<std::string> read(build_file_.inputs.begin(), build_file_.inputs.end());
    for (const int input : inputs_) read.insert(paths_[input]);
    std::erase_if(memory_.files, [&](const auto& each) { return !read.count(each.first); });
  }

  const std::string build_;
  Paths paths_;
  Dependencies dependencies_;
  const BuildFile build_file_;
  const fs::path file_;
  Memory memory_;
  std::set<int> inputs_;
  std::unordered_set<int> others_;                         // inputs with other content
  std::unordered_map<int, std::set<std::string>> hidden_;  // inputs, and folders where their names are new
  BuildInputs found_;
};

}  // namespace

BuildInputs keep_build_true(const fs::path& build) {
  struct stat status = {};
  if (stat((build / "build.ninja").c_str(), &status) != 0) return {};
  return ChangedInputs(fs::absolute(build).lexically_normal()).run();
}

std::string said_of_times(const BuildInputs& inputs) {
  const auto& files = inputs.from_future;
  if (files.empty()) return "";
  return "workbook: " + files[0] +
         (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more files" : "") +
         " had a time in the future, and\n          now the present one: is this machine's clock right?\n";
}

}  // namespace workbook

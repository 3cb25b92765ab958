#include "process/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay::adapters {
namespace {

namespace fs = std::filesystem;

// Temporary folders have an ordinary name. A kernel that looks into TMPDIR therefore cannot detect
// the judge by this name.
constexpr std::string_view name_start = "tmp.";
constexpr const char* mark_name = ".owner";
constexpr std::string_view mark_text =
    "The process that holds the lock of this folder removes the folder and everything in it.\n";
/// Time limit for emptying a folder into which another process may still write files.
constexpr std::chrono::minutes patience{1};

[[noreturn]] void fail(const fs::path& folder, const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "the folder " + folder.string() + what);
}

bool is_own(int descriptor, mode_t type) {
  struct stat facts {};
  return fstat(descriptor, &facts) == 0 && (facts.st_mode & S_IFMT) == type &&
         facts.st_uid == geteuid();
}

void mark(const Descriptor& folder, const fs::path& path) {
  Descriptor file(openat(folder.number(), mark_name,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || write(file.number(), mark_text.data(), mark_text.size()) !=
                   static_cast<ssize_t>(mark_text.size()))
    fail(path, " cannot be marked as a folder of Assay");
}

bool is_marked(const Descriptor& folder) {
  const Descriptor file(
      openat(folder.number(), mark_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::array<char, mark_text.size() + 1> text{};
  return file && is_own(file.number(), S_IFREG) &&
         std::string_view(text.data(), static_cast<std::size_t>(std::max<ssize_t>(
                                           read(file.number(), text.data(), text.size()), 0))) ==
             mark_text;
}

/// Removes the attributes of a file or folder (such as immutable) that prevent even root from
/// removing it.
void make_mutable(int opened) {
  int attributes = 0;
  constexpr int fixed = FS_IMMUTABLE_FL | FS_APPEND_FL;
  if (opened < 0 || ioctl(opened, FS_IOC_GETFLAGS, &attributes) != 0 || (attributes & fixed) == 0)
    return;
  attributes &= ~fixed;
  ioctl(opened, FS_IOC_SETFLAGS, &attributes);
}

bool removed(int folder, const char* name) {
  if (unlinkat(folder, name, 0) == 0) return true;
  if (errno != EPERM) return false;
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  make_mutable(Descriptor(openat(folder, name, flags)).number());
  return unlinkat(folder, name, 0) == 0;
}

/// Opens a subfolder and makes it accessible to its owner.
Descriptor entered(int folder, const char* name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const auto opened = [&] { return Descriptor(openat(folder, name, flags)); };
  if (fchmodat(folder, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0) {
    make_mutable(opened().number());
    if (fchmodat(folder, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0) return {};
  }
  return opened();
}

/// Returns names of files in a folder: all of them, or only some of them if there are many.
std::vector<std::string> some_names_in(int folder) {
  constexpr std::size_t most = 10'000;
  std::vector<std::string> names;
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(again < 0 ? nullptr : fdopendir(again),
                                                    closedir);
  if (!entries) return names;
  for (const dirent* entry = nullptr; names.size() < most && (entry = readdir(entries.get()));)
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

/// Empties a folder in which untrusted code ran. The class handles inaccessible folders, and
/// folders that are nested too deep for recursion (too few descriptors, stack overflow).
class Emptying {
 public:
  explicit Emptying(const Descriptor& folder) : folder_(folder.number()) {
    make_mutable(folder_);
    if (fchmod(folder_, S_IRWXU) != 0) return;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (bool some = true; some && std::chrono::steady_clock::now() < deadline;) {
      some = false;
      for (const std::string& name : some_names_in(folder_)) some |= remove(name.c_str());
    }
  }

 private:
  /// Removes the file or subfolder `name`, or at least a part of the subfolder. Returns whether
  /// anything was removed or moved.
  bool remove(const char* name) {
    if (removed(folder_, name)) return true;
    bool some = false;
    if (const Descriptor inner = entered(folder_, name))
      for (const std::string& its : some_names_in(inner.number()))
        some |= removed(inner.number(), its.c_str()) || move_up(inner.number(), its.c_str());
    return unlinkat(folder_, name, AT_REMOVEDIR) == 0 || some;
  }

  /// Moves a nested subfolder up, so that no subfolder is nested more than one level deep.
  bool move_up(int inner, const char* name) {
    const std::string above = ".assay-moved-" + std::to_string(++moved_);
    return entered(inner, name) && renameat(inner, name, folder_, above.c_str()) == 0;
  }

  int folder_;
  std::int64_t moved_ = 0;
};

void remove(const Descriptor& folder, const fs::path& path) {
  if (folder) Emptying{folder};
  rmdir(path.c_str());
}

/// Removes a temporary folder if its owner process has ended. The folder stays locked until it is
/// gone.
void remove_if_abandoned(const fs::path& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder && is_own(folder.number(), S_IFDIR) &&
      flock(folder.number(), LOCK_EX | LOCK_NB) == 0 && is_marked(folder))
    remove(folder, path);
}

void remove_abandoned(const fs::path& below) {
  std::error_code error;
  for (fs::directory_iterator at(below, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(name_start)) remove_if_abandoned(at->path());
}

fs::path temporary_folder() {
  std::error_code error;
  fs::path path = fs::temp_directory_path(error);
  if (error)
    throw std::system_error(
        error,
        "no folder for temporary files (the folder that TMPDIR names; /tmp if TMPDIR is not set)");
  return path;
}

}  // namespace

Folder::Folder() {
  const fs::path below = temporary_folder();
  remove_abandoned(below);
  std::string made = (below / (std::string(name_start) + "XXXXXX")).string();
  if (mkdtemp(made.data()) == nullptr) fail(made, " cannot be made");
  path_ = made;
  try {
    lock_ = Descriptor(open(made.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // Another process that looks for abandoned folders may hold the lock for a moment. It does not
    // remove this folder, because the folder has no owner mark yet.
    if (!lock_ || flock(lock_.number(), LOCK_EX) != 0) fail(path_, " cannot be locked");
    mark(lock_, path_);
  } catch (...) {
    remove(lock_, path_);
    throw;
  }
}

Folder::~Folder() { remove(lock_, path_); }

}  // namespace assay::adapters

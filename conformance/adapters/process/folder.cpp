#include "process/folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace assay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_start = "assay-command-";
constexpr const char* mark_name = ".assay-folder";
constexpr std::string_view mark_text =
    "assay made this folder for the calls of one program; it removes it, and all that lies in "
    "it.\n";

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
    fail(path, " cannot be marked as ours");
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

/// The lock is ours until the folder is gone.
void remove_if_abandoned(const fs::path& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::error_code ignored;
  if (folder && is_own(folder.number(), S_IFDIR) &&
      flock(folder.number(), LOCK_EX | LOCK_NB) == 0 && is_marked(folder))
    fs::remove_all(path, ignored);
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
    throw std::system_error(error, "no folder for temporary files, which TMPDIR names, else /tmp");
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
    // Who looks whether it is abandoned has it for a moment, and finds no mark.
    if (!lock_ || flock(lock_.number(), LOCK_EX) != 0) fail(path_, " cannot be locked");
    mark(lock_, path_);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    throw;
  }
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace assay::adapters

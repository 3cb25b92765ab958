#include "folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>

namespace assay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_start = "assay-command-";

/// The lock of a folder; none where somebody else holds it.
Descriptor lock_of(const fs::path& folder) {
  Descriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (lock && flock(lock.number(), LOCK_EX | LOCK_NB) != 0) lock.close();
  return lock;
}

void remove_abandoned(const fs::path& below) {
  std::error_code error, ignored;
  for (fs::directory_iterator at(below, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(name_start) && lock_of(at->path()))
      fs::remove_all(at->path(), ignored);
}

[[noreturn]] void fail(const std::string& folder, const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "the folder " + folder + what);
}

}  // namespace

Folder::Folder() {
  const fs::path below = fs::temp_directory_path();
  remove_abandoned(below);
  // Under its name it is locked from the beginning.
  std::string hidden = (below / (std::string(".") + name_start + "XXXXXX")).string();
  if (mkdtemp(hidden.data()) == nullptr) fail(hidden, " cannot be made");
  lock_ = lock_of(hidden);
  if (!lock_) fail(hidden, " cannot be locked");
  path_ = below / fs::path(hidden).filename().string().substr(1);
  fs::rename(hidden, path_);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace assay::adapters

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/conformance/results.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::conformance {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw fixtures::StoreError(path.string() + ": cannot " + what + ": " + std::strerror(errno));
}

/// Closes the descriptor and removes the file unless it was renamed.
class Unfinished {
 public:
  explicit Unfinished(std::filesystem::path path)
      : path_(std::move(path)),
        descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path_, "create");
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!renamed_) unlink(path_.c_str());
  }

  void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, "write");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fsync(descriptor_) < 0 && errno != EINVAL) fail(path_, "flush");
  }
  void rename_to(const std::filesystem::path& final_path) {
    if (close(std::exchange(descriptor_, -1)) < 0) fail(path_, "close");
    if (rename(path_.c_str(), final_path.c_str()) < 0) fail(final_path, "rename to it");
    renamed_ = true;
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
  bool renamed_ = false;
};

}  // namespace

void replace_file(const std::filesystem::path& path, std::string_view text) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    throw fixtures::StoreError(path.parent_path().string() +
                               ": cannot create the folder: " + error.message());
  Unfinished file(path.string() + ".part");
  file.write_all(text);
  file.rename_to(path);
}

}  // namespace assay::conformance

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "assay/conformance/results.hpp"
#include "assay/fixtures/destination.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::conformance {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw fixtures::StoreError(path.string() + ": it cannot " + what + ": " + std::strerror(errno));
}

/// A file that is open for writing.
class Descriptor {
 public:
  Descriptor(std::filesystem::path path, int flags)
      : path_(std::move(path)), number_(open(path_.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail(path_, "be opened");
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(number_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, "be written");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fsync(number_) < 0 && errno != EINVAL) fail(path_, "be flushed");
  }
  void close() {
    if (::close(std::exchange(number_, -1)) < 0) fail(path_, "be closed");
  }

 private:
  std::filesystem::path path_;
  int number_;
};

/// Removes the file unless it was renamed.
class Unfinished {
 public:
  explicit Unfinished(std::filesystem::path path)
      : path_(std::move(path)), file_(path_, O_CREAT | O_TRUNC) {}
  ~Unfinished() {
    if (!renamed_) unlink(path_.c_str());
  }

  void write_all(std::string_view text) { file_.write_all(text); }
  void rename_to(const std::filesystem::path& final_path) {
    file_.close();
    if (rename(path_.c_str(), final_path.c_str()) < 0) fail(final_path, "be replaced");
    renamed_ = true;
  }

 private:
  std::filesystem::path path_;
  Descriptor file_;
  bool renamed_ = false;
};

/// A device, a pipe: what has a name and holds no file.
bool is_passage(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && std::filesystem::is_other(status);
}

}  // namespace

void replace_file(const std::filesystem::path& name, std::string_view text) {
  const std::filesystem::path path = fixtures::followed(name);
  if (is_passage(path)) return Descriptor(path, 0).write_all(text);
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

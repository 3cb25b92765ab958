#pragma once

#include <filesystem>
#include <string>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// A private temporary folder; the destructor removes it. If the owner process was killed, the next
/// process that creates such a folder removes the old one: a mark file identifies folders of this
/// class, and a lock shows whether the owner still runs. Errors: std::system_error.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< the system releases it when the process ends in any way
};

}  // namespace assay::adapters

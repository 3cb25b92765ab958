#pragma once

#include <filesystem>
#include <string>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// A folder of its own below the system's folder for such, gone with its owner. One whose owner was
/// killed goes when the next one is made: only what this class made has its mark, and only what is
/// locked has an owner. Errors: std::system_error.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;  ///< ends with the process, however it ends
};

}  // namespace assay::adapters

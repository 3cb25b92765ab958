#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::conformance {

/// The values that an integer field of a case may take.
struct FieldRange {
  std::string_view name;
  std::int64_t first, last;
  std::string_view row = {};  ///< of the documents, that sets the limit; empty: the tool's own
};

/// Throws std::invalid_argument: the field, its value, and what is accepted.
[[noreturn]] void refuse(std::string_view field, const std::string& value,
                         const std::string& accepted);

/// Largest memory that a case with numbers may need, in bytes.
inline constexpr double memory_limit = 16.0 * 1024 * 1024 * 1024;

}  // namespace assay::conformance

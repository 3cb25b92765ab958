#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/fixtures/pack.hpp"
#include "stored/json_members.hpp"

namespace assay::cli {

inline constexpr const char* pack_schema = "assay-pack-1";
inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* recipes_name = "recipes.jsonl";
/// Maximum length of a line of recipes.jsonl (bytes). A recipe describes a case without its
/// tensors.
inline constexpr std::size_t longest_recipe = 3072;

/// Returns the names of the files that the manifest of a pack lists.
inline std::array<std::string, 3> pack_files(fixtures::PackFormat format) {
  const auto [goldens, inputs] = fixtures::array_files(format);
  return {recipes_name, goldens, inputs};
}

/// Returns the file format with this name; nothing for an unknown name.
inline std::optional<fixtures::PackFormat> pack_format(const std::string& word) {
  if (word == "hdf5") return fixtures::PackFormat::hdf5;
  if (word == "npz") return fixtures::PackFormat::npz;
  if (word == "safetensors") return fixtures::PackFormat::safetensors;
  return std::nullopt;
}

/// Parses a JSON text of a pack, which may come from an untrusted source. Errors: UsageError with a
/// message that begins with `where`.
inline nlohmann::ordered_json parse_pack_text(const std::string& text, const std::string& where) {
  try {
    return parse_shallow(text, where);
  } catch (const nlohmann::ordered_json::exception& error) {
    throw UsageError(where + ": " + error.what());
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace assay::cli

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::spec {

/// The names of an enumeration's values as text, in one list for both parsing and printing.
template <class Enum, std::size_t size>
struct Spellings {
  std::array<std::pair<Enum, std::string_view>, size> entries;

  constexpr std::string_view text(Enum value) const {
    for (const auto& [entry, spelling] : entries)
      if (entry == value) return spelling;
    return "?";
  }
  constexpr std::optional<Enum> parse(std::string_view spelling) const {
    for (const auto& [entry, text] : entries)
      if (text == spelling) return entry;
    return std::nullopt;
  }
  /// Returns the accepted values for an error message: "a, b, c".
  std::string choices() const {
    std::string joined;
    for (const auto& [entry, text] : entries) {
      if (!joined.empty()) joined += ", ";
      joined += text;
    }
    return joined;
  }
};

/// Each enumeration E defines the names of its values: `template <> inline constexpr auto
/// spellings_of<E> = Spellings<E, n>{...}`.
template <class Enum>
inline constexpr auto spellings_of = nullptr;

template <class Enum>
concept Spelled = requires(Enum value) {
  spellings_of<Enum>.text(value);
};

/// Returns the name of the value that files, flags and messages use.
template <Spelled Enum>
constexpr std::string_view to_string(Enum value) {
  return spellings_of<Enum>.text(value);
}

}  // namespace assay::spec

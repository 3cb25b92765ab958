#include "flags/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "assay/cli/command.hpp"

namespace assay::cli {
namespace {

constexpr int most_hours = 100'000;
constexpr int most_gib = 1 << 20;

template <class Integer>
Integer parsed(std::string_view flag, const std::string& text, Integer least, Integer most,
               std::string_view or_word = {}) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw UsageError(fmt::format("{} is '{}'; expected an integer in {}..{}{}{}", flag, text, least,
                                 most, or_word.empty() ? "" : " or ", or_word));
  return value;
}

/// Parses a positive number with a unit, such as "4GiB". `units` maps each unit to its factor.
/// Returns the number times the factor; nothing for an invalid text.
std::optional<double> quantity(const std::string& text,
                               const std::map<std::string, double>& units) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto unit = units.find(text.substr(digits));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (unit == units.end() || error != std::errc{} || end != text.data() + digits || !(value > 0))
    return std::nullopt;
  return value * unit->second;
}

}  // namespace

std::int64_t integer_value(std::string_view flag, const std::string& text, std::int64_t least,
                           std::int64_t most) {
  return parsed<std::int64_t>(flag, text, least, most);
}

std::uint64_t seed_value(std::string_view flag, const std::string& text, std::string_view or_word) {
  return parsed<std::uint64_t>(flag, text, 0, std::numeric_limits<std::uint64_t>::max(), or_word);
}

double seconds_value(std::string_view flag, const std::string& text) {
  const auto value = quantity(text, {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}});
  if (!value || *value > most_hours * 3600.0)
    throw UsageError(fmt::format(
        "{} is '{}'; expected a time above 0s, at most {}h, in s, min or h: such as 90s or 5min",
        flag, text, most_hours));
  return *value;
}

std::int64_t bytes_value(std::string_view flag, const std::string& text) {
  const auto value = quantity(text, {{"MiB", 0x1p20}, {"GiB", 0x1p30}});
  if (!value || *value < 0x1p20 || *value > most_gib * 0x1p30)
    throw UsageError(fmt::format(
        "{} is '{}'; expected 1MiB to {}GiB of memory, in MiB or GiB, such as 512MiB or 4GiB", flag,
        text, most_gib));
  return static_cast<std::int64_t>(*value);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace assay::cli

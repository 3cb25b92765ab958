#include "values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "assay/cli/command.hpp"

namespace assay::cli {
namespace {

template <class Integer>
Integer parsed(std::string_view flag, const std::string& text, Integer least, Integer most) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw UsageError(
        fmt::format("{} is '{}', wanted an integer in {}..{}", flag, text, least, most));
  return value;
}

}  // namespace

std::int64_t integer_value(std::string_view flag, const std::string& text, std::int64_t least,
                           std::int64_t most) {
  return parsed<std::int64_t>(flag, text, least, most);
}

std::uint64_t seed_value(std::string_view flag, const std::string& text) {
  return parsed<std::uint64_t>(flag, text, 0, std::numeric_limits<std::uint64_t>::max());
}

double seconds_value(std::string_view flag, const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number = text.substr(0, digits), unit = text.substr(digits);
  double factor = 0;
  if (unit.empty() || unit == "s") factor = 1;
  if (unit == "min") factor = 60;
  if (unit == "h") factor = 3600;
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (factor == 0 || error != std::errc{} || end != number.data() + number.size() || !(value > 0))
    throw UsageError(
        fmt::format("{} is '{}', wanted a positive time such as 90s, 5min or 1h", flag, text));
  return value * factor;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace assay::cli

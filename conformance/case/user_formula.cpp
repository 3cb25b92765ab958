#include "case/user_formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tuple>

namespace assay::conformance {
namespace {

using Items = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::string joined(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : std::string(1, separator)) + part;
  return text;
}

double number_of(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Returns whether the number `text` is simpler than `than`: its text is shorter or, for texts of
/// equal length, its magnitude is smaller. The search always moves to a simpler number, so it ends.
bool is_simpler(const std::string& text, const std::string& than) {
  const double a = number_of(text), b = number_of(than);
  return std::tuple(text.size(), std::abs(a), a < 0) < std::tuple(than.size(), std::abs(b), b < 0);
}

std::vector<std::string> simpler_numbers(const std::string& text) {
  const double x = number_of(text);
  std::vector<std::string> found;
  const auto add = [&](double candidate) {
    const std::string simple = fmt::format("{}", candidate + 0.0);  // no -0
    if (is_simpler(simple, text) && std::ranges::find(found, simple) == found.end())
      found.push_back(simple);
  };
  add(0);
  for (const double sign : {1.0, -1.0}) add(sign), add(2 * sign);
  if (x == 0 || !std::isfinite(x)) return found;
  for (double power = 4; power <= std::abs(x); power *= 4) add(std::copysign(power, x));
  add(std::copysign(std::exp2(std::floor(std::log2(std::abs(x)))), x));
  add(std::trunc(x));
  add(std::round(x * 8) / 8);
  return found;
}

/// An item of an array as text: COUNTxNUMBER or NUMBER.
struct Run {
  std::string count, number;  ///< `count`: with its x, or empty

  explicit Run(const std::string& part) {
    const std::size_t times = part.find('x');
    if (times != part.npos) count = part.substr(0, times + 1);
    number = part.substr(count.size());
  }
  std::int64_t size() const {
    return count.empty() ? 1 : static_cast<std::int64_t>(number_of(count));
  }
};

std::vector<std::string> simpler_arrays(const std::string& text) {
  std::vector<Run> runs;
  std::int64_t size = 0;
  for (const std::string& part : parts_of(text, ',')) size += runs.emplace_back(part).size();
  std::vector<std::string> found;
  const auto add = [&](const std::string& simpler) {
    if (simpler.size() < text.size() && std::ranges::find(found, simpler) == found.end())
      found.push_back(simpler);
  };
  for (const std::string& number : {std::string("0"), std::string("1"), runs.front().number})
    add(fmt::format("{}x{}", size, number));
  for (const std::size_t kept : {runs.size() / 2, runs.size() - 1}) {
    if (kept == 0) continue;
    const std::vector<std::string> parts = parts_of(text, ',');
    // A list needs at least two numbers or a count. A single number would be a parameter.
    if (kept > 1 || !runs.front().count.empty())
      add(joined({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(kept)}, ','));
  }
  for (const double steps : {1.0, 8.0}) {
    std::vector<std::string> rounded;
    for (const Run& run : runs)
      rounded.push_back(run.count +
                        fmt::format("{}", std::round(number_of(run.number) * steps) / steps + 0.0));
    add(joined(rounded, ','));
  }
  return found;
}

bool is_expression(std::string_view name) {
  return name == "score" || name == "keep" || name == "dlse" || name == "gradients";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> items_of_formula(std::string_view variant) {
  Items items;
  if (!is_formula(variant)) return items;
  for (const std::string& item : parts_of(variant.substr(formula_mark.size()), ';')) {
    const std::size_t equals = std::min(item.find('='), item.size());
    items.emplace_back(item.substr(0, equals), item.substr(std::min(equals + 1, item.size())));
  }
  return items;
}

std::string gradients_of_formula(std::string_view variant) {
  for (const auto& [name, value] : items_of_formula(variant))
    if (name == "gradients") return name + "=" + value;
  return "";
}

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> simpler_formulas(std::string_view variant) {
  const Items items = items_of_formula(variant);
  std::vector<std::string> all;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const auto& [name, value] = items[k];
    if (is_expression(name)) continue;
    for (const std::string& simpler :
         is_number(value) ? simpler_numbers(value) : simpler_arrays(value)) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < items.size(); ++i)
        texts.push_back(items[i].first + "=" + (i == k ? simpler : items[i].second));
      all.push_back(std::string(formula_mark) + joined(texts, ';'));
    }
  }
  return all;
}

}  // namespace assay::conformance

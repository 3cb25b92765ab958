#include "assay/spec/regime.hpp"

#include <cmath>
#include <string_view>

namespace assay::spec {
namespace {

constexpr std::size_t longest_name = 64;
constexpr double most_times = 9007199254740992;  // 2^53: a double cannot count further
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
constexpr std::string_view digits = "0123456789";
/// A metric's name must not begin with `error`, because report pages use names like error.dq as
/// search fields.
constexpr std::string_view taken_axis = "error.";

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name || name.starts_with(taken_axis)) return false;
  if (letters.find(name.front()) == std::string_view::npos || name.back() == '.') return false;
  char last = 0;
  bool has_value = false;
  for (const char c : name) {
    if (c == '.') {
      if (last == '.') return false;
      has_value = true;
    } else if (letters.find(c) == std::string_view::npos &&
               digits.find(c) == std::string_view::npos) {
      return false;
    }
    last = c;
  }
  return has_value;
}

}  // namespace

std::string fault_of_regime(const Metric& metric) {
  if (!is_name(metric.name))
    return "expected a name AXIS.VALUE of letters, digits and _, with at most 64 characters, such "
           "as key_tile.tail; the axis must not be 'error'";
  const double times = metric.value;
  if (!(times >= 0 && times <= most_times) || times != std::floor(times))
    return "expected an integer count from 0 to 2^53";
  return {};
}

}  // namespace assay::spec

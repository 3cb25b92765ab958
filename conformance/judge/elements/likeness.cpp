#include "judge/elements/likeness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/spec/at.hpp"

namespace assay::conformance {
namespace {

using spec::at;

/// The search examines about this number of failing rows, evenly spaced.
constexpr std::int64_t most_rows = 64;
/// Minimum number of examined rows that must match, and minimum fraction of the examined rows.
constexpr std::size_t fewest_rows = 2;
constexpr double share_alike = 0.9;
/// Largest number of expected values that the search along one axis may read.
constexpr std::int64_t most_read = std::int64_t{1} << 24;

struct Row {
  std::int64_t number;
  spec::RowPosition at;
  std::vector<double> actual;
};

class Slices {
 public:
  Slices(const Expectation& e, const RowReader& actual);

  Deviation deviation() const;

 private:
  /// Returns whether the row contains the expected values of row `other`, shifted by `shift`
  /// channels.
  bool has(const Row& row, std::int64_t other, std::int64_t shift = 0) const;
  bool is_due(std::int64_t row) const;
  template <class Other>
  bool all_have(const Other& other, std::int64_t shift = 0) const;

  Deviation head_elsewhere() const;
  Deviation row_elsewhere() const;
  Deviation channel_elsewhere() const;

  const Expectation& e_;
  std::vector<Row> rows_;  ///< failing rows whose output is not zero
};

bool fails(const Expectation& e, std::int64_t row, std::span<const double> actual) {
  for (std::int64_t d = 0; d < e.dim(); ++d) {
    const std::size_t k = at(row * e.dim() + d);
    if (!(std::abs(actual[at(d)] - e.value[k]) <= e.tau[k] + e.radius[k])) return true;
  }
  return false;
}

Slices::Slices(const Expectation& e, const RowReader& actual) : e_(e) {
  std::vector<std::int64_t> failing;
  const std::vector<double> all = actual(e.rows);
  const auto row_of = [&](std::int64_t r) {
    return std::span(all).subspan(at(r * e.dim()), at(e.dim()));
  };
  for (std::int64_t r = 0; r < e.row_count(); ++r)
    if (fails(e, r, row_of(r)) && std::ranges::any_of(row_of(r), [](double x) { return x != 0; }))
      failing.push_back(r);
  const std::int64_t step = std::max<std::int64_t>(1, std::ssize(failing) / most_rows);
  for (std::int64_t k = 0; k < std::ssize(failing); k += step) {
    const std::int64_t r = failing[at(k)];
    const auto values = row_of(r);
    rows_.push_back({r, e.extents.position(r), {values.begin(), values.end()}});
  }
}

/// Returns whether the judge would reject zeros in this row. Rows in which zeros would pass are not
/// compared, because they would all match each other.
bool Slices::is_due(std::int64_t row) const {
  for (std::int64_t d = 0; d < e_.dim(); ++d) {
    const std::size_t k = at(row * e_.dim() + d);
    if (std::abs(e_.value[k]) > 4 * e_.tau[k]) return true;
  }
  return false;
}

bool Slices::has(const Row& row, std::int64_t other, std::int64_t shift) const {
  for (std::int64_t d = 0; d < e_.dim(); ++d) {
    if (d + shift < 0 || d + shift >= e_.dim()) continue;
    const std::size_t k = at(other * e_.dim() + d + shift);
    if (!(std::abs(row.actual[at(d)] - e_.value[k]) <= 2 * (e_.tau[k] + e_.radius[k])))
      return false;
  }
  return is_due(other);
}

/// Returns whether nearly all rows contain the expected values of another row. other(row) returns
/// the number of that row, or -1 if there is none.
template <class Other>
bool Slices::all_have(const Other& other, std::int64_t shift) const {
  std::size_t asked = 0, alike = 0;
  for (const Row& row : rows_) {
    const std::int64_t number = other(row);
    if (number < 0 || (shift == 0 && number == row.number)) continue;
    ++asked;
    alike += has(row, number, shift) ? 1 : 0;
  }
  return alike >= fewest_rows &&
         static_cast<double>(alike) >= share_alike * static_cast<double>(asked) &&
         2 * asked >= rows_.size();
}

Deviation Slices::head_elsewhere() const {
  constexpr std::size_t heads_named = 4;
  Deviation deviation{.kind = DeviationKind::heads};
  std::map<std::int64_t, std::vector<const Row*>> by_head;
  for (const Row& row : rows_) by_head[row.at.n].push_back(&row);
  for (const auto& [head, rows] : by_head) {
    std::optional<std::int64_t> found;
    for (std::int64_t n = 0; n < e_.extents.heads && !found; ++n) {
      const auto like = std::ranges::count_if(rows, [&](const Row* row) {
        return n != head && has(*row, e_.extents.row(row->at.b, n, row->at.s));
      });
      if (static_cast<double>(like) >= share_alike * static_cast<double>(rows.size()) &&
          static_cast<std::size_t>(like) >= fewest_rows)
        found = n;
    }
    if (!found) return {};
    if (by_head.size() <= heads_named) deviation.heads.push_back({head, *found});
  }
  return deviation;
}

Deviation Slices::row_elsewhere() const {
  // A shift is tried for all rows only if it fits the first row.
  const Row& first = rows_.front();
  for (std::int64_t s = 0; s < e_.extents.length(first.at.b); ++s) {
    const std::int64_t shift = s - first.at.s;
    if (shift == 0 || !has(first, e_.extents.row(first.at.b, first.at.n, s))) continue;
    const auto shifted = [&](const Row& row) {
      const std::int64_t other = row.at.s + shift;
      return other < 0 || other >= e_.extents.length(row.at.b)
                 ? -1
                 : e_.extents.row(row.at.b, row.at.n, other);
    };
    if (all_have(shifted)) return {.kind = DeviationKind::rows, .shift = shift};
  }
  return {};
}

Deviation Slices::channel_elsewhere() const {
  const auto same = [](const Row& row) { return row.number; };
  for (std::int64_t shift = 1; 2 * shift <= e_.dim(); ++shift)
    for (const std::int64_t signed_shift : {shift, -shift})
      if (all_have(same, signed_shift))
        return {.kind = DeviationKind::channels, .shift = signed_shift};
  return {};
}

Deviation Slices::deviation() const {
  if (rows_.size() < fewest_rows) return {};
  const std::int64_t a_row = std::ssize(rows_) * e_.dim();
  if (e_.extents.heads > 1 && a_row * e_.extents.heads <= most_read)
    if (Deviation found = head_elsewhere(); found.kind != DeviationKind::none) return found;
  if (Deviation found = row_elsewhere(); found.kind != DeviationKind::none) return found;
  return a_row * e_.dim() <= most_read ? channel_elsewhere() : Deviation();
}

/// A quantity that may explain the observed ratio of output to expected value: a field of the case,
/// or the quotient of two fields.
struct Quantity {
  std::string_view name, numerator, denominator;
};

constexpr std::array quantities = {
    Quantity{"scale_value", "scale_value", ""},
    Quantity{"keep_prob", "keep_prob", ""},
    Quantity{"heads_q / heads_kv", "heads_q", "heads_kv"},
};

std::optional<double> field(const CaseReport& report, std::string_view name) {
  if (name.empty()) return 1;
  for (const auto& [own, text] : report.fields)
    if (own == name && !text.empty()) return std::strtod(text.c_str(), nullptr);
  return {};
}

bool is_about(double factor, double value) {
  return std::isfinite(value) && std::abs(value - 1) > 1e-2 &&
         std::abs(factor - value) <= 2e-2 * std::abs(value) &&
         std::abs(factor - value) <= 0.1 * std::abs(value - 1);
}

/// Returns the names of all quantities that equal the factor. There may be several, because several
/// quantities of one case can have the same value.
std::vector<std::string> names_of(double factor, const CaseReport& report) {
  std::vector<std::string> names;
  const auto add_about = [&](double value, std::string name) {
    if (is_about(factor, value)) names.push_back(std::move(name));
  };
  for (const Quantity& one : quantities) {
    const auto above = field(report, one.numerator), below = field(report, one.denominator);
    if (!above || !below || *below == 0) continue;
    const double value = *above / *below;
    add_about(value, std::string(one.name));
    add_about(1 / value, one.denominator.empty()
                             ? fmt::format("1 / {}", one.name)
                             : fmt::format("{} / {}", one.denominator, one.numerator));
    add_about(value * value, fmt::format("({})^2", one.name));
  }
  add_about(std::numbers::log2e, "log2(e)");
  add_about(std::numbers::ln2, "ln(2)");
  return names;
}

}  // namespace

Deviation likeness(const Expectation& e, const RowReader& actual) {
  if (e.row_count() != e.extents.rows() || e.elements() != e.row_count() * e.dim()) return {};
  return Slices(e, actual).deviation();
}

void add_likeness(const Expectation& e, const RowReader& actual, std::vector<Finding>& findings) {
  // Only the first finding of each tensor contains the tensor's failure pattern.
  const auto first = std::ranges::find(findings, e.name, &Finding::tensor);
  if (first == findings.end() || !first->pattern ||
      first->pattern->deviation.kind != DeviationKind::none)
    return;
  first->pattern->deviation = likeness(e, actual);
}

void name_factors(CaseReport& report) {
  for (Finding& finding : report.findings)
    if (finding.pattern && finding.pattern->deviation.kind == DeviationKind::multiple)
      finding.pattern->deviation.quantities = names_of(finding.pattern->deviation.factor, report);
}

}  // namespace assay::conformance

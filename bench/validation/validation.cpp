#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "benchmarks.hpp"
#include "device_numbers.hpp"
#include "validation/rows.hpp"

namespace assay::bench {
namespace {

using Json = nlohmann::ordered_json;

const char* word(Kind kind) {
  switch (kind) {
    case Kind::calibration:
      return "calibration";
    case Kind::hold_out:
      return "hold-out";
    case Kind::bound:
      return "bound";
    default:
      return "context";
  }
}

Json number(const std::optional<double>& value) {
  return value ? Json(std::round(*value * 1e4) / 1e4) : Json();
}

/// The lowest and the highest prediction of a validation row if the assumed numbers of the device
/// vary within their ranges.
struct Range {
  double low, high;
};

class Ranges {
 public:
  explicit Ranges(const std::vector<ValidationRow>& rows) {
    for (const ValidationRow& row : rows)
      ranges_.push_back({row.predicted.value_or(0), row.predicted.value_or(0)});
  }

  void add(const std::vector<ValidationRow>& rows) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double value = rows[k].predicted.value_or(0);
      ranges_[k] = {std::min(ranges_[k].low, value), std::max(ranges_[k].high, value)};
    }
  }

  const Range& of(std::size_t row) const { return ranges_[row]; }

 private:
  std::vector<Range> ranges_;
};

Json line_of(const ValidationRow& row, const Range& range) {
  Json line = {{"row", row.row},
               {"kind", word(row.kind)},
               {"published", row.published},
               {"predicted", number(row.predicted)},
               {"unit", row.unit},
               {"error", number(row.error())}};
  if (row.predicted) line["lowest"] = number(range.low), line["highest"] = number(range.high);
  if (!row.note.empty()) line["note"] = row.note;
  return line;
}

Json line_of(const Conclusion& conclusion, const char* kind) {
  return {{"row", conclusion.statement},
          {"kind", kind},
          {"published", Json()},
          {"predicted", number(conclusion.value)},
          {"unit", ""},
          {"error", Json()},
          {"holds", conclusion.holds}};
}

}  // namespace

void validation(std::ostream& out) {
  const Adjust nothing = [](device::Spec&) {};
  const auto rows = validation_rows(nothing);
  const auto nominal = conclusions(rows, nothing);
  Ranges ranges(rows);
  std::vector<Json> changes;
  for (const Move& move : moves(device::a2())) {
    const auto moved = validation_rows(move.adjust);
    ranges.add(moved);
    const auto here = conclusions(moved, move.adjust);
    for (std::size_t k = 0; k < here.size(); ++k)
      if (here[k].holds != nominal[k].holds) {
        Json line = line_of(here[k], "sensitivity");
        line["where"] = move.what;
        changes.push_back(line);
      }
  }
  for (std::size_t k = 0; k < rows.size(); ++k)
    out << line_of(rows[k], ranges.of(k)).dump() << '\n';
  for (const Conclusion& conclusion : nominal)
    out << line_of(conclusion, "conclusion").dump() << '\n';
  for (const Json& change : changes) out << change.dump() << '\n';
}

}  // namespace assay::bench

#include "judge/elements/controls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/spec/at.hpp"

namespace assay::conformance {
namespace {

/// The factor of the control S: the judge must detect outputs that are 2 % too large.
/// docs/reading.md, docs/forward.md and the page of a case contain this number.
constexpr double control_scale = 1.02;

using spec::at;

/// Returns whether all elements of the row are within their tolerances.
bool all_within(const JudgedRow& row, const Arithmetic& arithmetic) {
  if (row.is_exempt()) return true;
  for (std::size_t k = row.first(); k < row.last(); ++k)
    if (grade(row.e, k, row.value(k), arithmetic) != Grade::within) return false;
  return true;
}

/// Returns whether an element of row r exceeds its tolerance.
bool exceeds_tolerance(const Expectation& e, std::int64_t r) {
  if (e.exempt[at(r)] != 0) return false;
  for (std::size_t k = at(r * e.dim()); k < at((r + 1) * e.dim()); ++k)
    if (std::abs(e.value[k]) > e.tau[k]) return true;
  return false;
}

}  // namespace

void Controls::add_heads(const Expectation& e, const Arithmetic& arithmetic) {
  for (std::int64_t r = 0; r < e.row_count(); ++r) {
    if (e.exempt[at(r)] != 0) continue;
    const std::int64_t number = e.rows[at(r)];
    bool expected = false, seen = false, negation = false;
    for (std::size_t k = at(r * e.dim()); k < at((r + 1) * e.dim()); ++k) {
      if (std::abs(e.value[k]) <= e.floor[k]) continue;
      expected = true;
      seen |= grade(e, k, 0, arithmetic) != Grade::within;
      negation |= grade(e, k, -e.value[k], arithmetic) != Grade::within;
      if (seen && negation) break;
    }
    if (!expected) continue;
    const spec::RowPosition row = e.extents.position(number);
    add({.b = row.b,
         .n = row.n,
         .expected = 1,
         .seen = seen ? 1 : 0,
         .negation = negation,
         .last = seen,
         .last_row = number});
  }
}

void Controls::add(const Head& head) {
  const auto order = [](const Head& h) { return std::pair(h.b, h.n); };
  // Rows are added in order, so the head of a row is nearly always the last head in the list.
  const auto place = heads_.empty() || order(heads_.back()) < order(head) ? heads_.end()
                     : order(heads_.back()) == order(head)
                         ? heads_.end() - 1
                         : std::ranges::lower_bound(heads_, order(head), {}, order);
  if (place == heads_.end() || order(*place) != order(head)) {
    heads_.insert(place, head);
    return;
  }
  place->expected += head.expected, place->seen += head.seen;
  place->negation |= head.negation;
  if (head.last_row >= place->last_row) place->last = head.last, place->last_row = head.last_row;
}

void Controls::add(const Expectation& part, const Arithmetic& arithmetic) {
  add_heads(part, arithmetic);
  for (std::int64_t r = 0; r < part.row_count() && !applicable_; ++r)
    applicable_ = exceeds_tolerance(part, r);
  std::vector<double> scaled(at(part.dim()));
  for (std::int64_t r = 0; r < part.row_count() && scaled_within_; ++r) {
    for (std::size_t d = 0; d < scaled.size(); ++d)
      scaled[d] = part.value[at(r * part.dim()) + d] * control_scale;
    const JudgedRow row{part, r, scaled};
    scaled_within_ = all_within(row, arithmetic);
    of_scaled_.add(row, arithmetic);
  }
}

void Controls::append(const Controls& later) {
  for (const Head& head : later.heads_) add(head);
  applicable_ |= later.applicable_;
  scaled_within_ &= later.scaled_within_;
  of_scaled_.append(later.of_scaled_);
}

Fact Controls::blind_heads(const std::string& tensor) const {
  const auto is_blind = [](const Head& head) { return head.seen == 0; };
  const auto first = std::ranges::find_if(heads_, is_blind);
  if (first == heads_.end()) return {};
  return {FactKind::zeros_pass_in_heads,
          tensor,
          std::ranges::count_if(heads_, is_blind),
          heads_.size(),
          first->b,
          first->n};
}

ControlResult Controls::result(const std::string& tensor, const Arithmetic& arithmetic) const {
  ControlResult result;
  if (heads_.empty()) {
    result.letters = "Z.N.L.S.W.";
    return result;
  }
  result.applicable = applicable_;
  bool some_seen = false, some_negation = false;
  for (const Head& head : heads_) {
    result.rows_nonzero += head.expected;
    result.rows_blind += head.expected - head.seen;
    some_seen |= head.seen > 0;
    some_negation |= head.negation;
  }
  const auto judge = [&](char letter, bool noticed) {
    result.letters += {letter, noticed ? '+' : '-'};
    result.weak |= !noticed;
  };
  judge('Z', std::ranges::all_of(heads_, [](const Head& h) { return h.seen > 0; }));
  judge('N', std::ranges::all_of(heads_, &Head::negation));
  judge('L', std::ranges::all_of(heads_, &Head::last));
  const Statistics s = of_scaled_.statistics(arithmetic);
  judge('S', !scaled_within_ || s.rms_fails || s.bias_fails);
  judge('W', std::ranges::all_of(heads_, [](const Head& h) { return 2 * h.seen >= h.expected; }));
  result.blind = result.applicable && (!some_seen || !some_negation);
  result.blind_heads = blind_heads(tensor);
  return result;
}

/// E39.
ControlResult judge_controls(const Expectation& e, const Arithmetic& arithmetic) {
  Controls controls;
  each_part(e, [&](const Expectation& part) { controls.add(part, arithmetic); });
  return controls.result(e.name, arithmetic);
}

}  // namespace assay::conformance

#include "judge/parts_judge.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "judge/decide.hpp"

namespace assay::conformance {
namespace {

/// Returns how many rows of a part may be stored until the end because their casts are uncertain
/// and need the high-precision reference.
std::int64_t most_casts(const Expectation& part) {
  return std::max<std::int64_t>(16, part.row_count() / 16);
}

}  // namespace

PartsJudge::PartsJudge(const std::vector<Expectation>& frames, ReadRows read,
                       const Arithmetic& arithmetic, std::shared_ptr<Certifier> certifier)
    : read_(std::move(read)),
      arithmetic_(arithmetic),
      of_fp32_(arithmetic.numerics, spec::DType::fp32),
      certifier_(std::move(certifier)) {
  for (const Expectation& frame : frames)
    tensors_.push_back({.whole = &frame,
                        .judged = {Tally(frame, of_type(frame))},
                        .ahead = {},
                        .deferred = {},
                        .middle = {}});
}

PartsJudge::OfTensor& PartsJudge::of(const Expectation& part) {
  const auto found = std::ranges::find_if(
      tensors_, [&](const OfTensor& tensor) { return tensor.whole->name == part.name; });
  if (found == tensors_.end()) throw std::logic_error("no expectation of " + part.name);
  return *found;
}

void PartsJudge::take(Expectation& part) {
  OfTensor& tensor = of(part);
  Judged judged{.tally = Tally(*tensor.whole, of_type(part)), .rows = part.row_count()};
  Certifier::certify(nullptr, of_type(part), part);
  keep_middle(tensor, part);
  if (part.certainty.open + part.certainty.enclosed > 0 && certifier_ &&
      certifier_->affords_row(part.name))
    add_certain(tensor, part, judged);
  else
    add(tensor, part, judged);
  const std::vector<std::int64_t>& rows = tensor.whole->rows;
  append(tensor, std::ranges::lower_bound(rows, part.rows.front()) - rows.begin(),
         std::move(judged));
}

void PartsJudge::append(OfTensor& tensor, std::int64_t place, Judged&& judged) {
  const std::scoped_lock lock(mutex_);
  tensor.ahead.emplace(place, std::move(judged));
  for (auto next = tensor.ahead.begin();
       next != tensor.ahead.end() && next->first == tensor.judged.rows;
       next = tensor.ahead.erase(next)) {
    tensor.judged.tally.append(std::move(next->second.tally));
    tensor.judged.controls.append(next->second.controls);
    tensor.judged.rows += next->second.rows;
  }
}

void PartsJudge::add(const OfTensor& tensor, const Expectation& part, Judged& judged) const {
  judged.tally.add(part,
                   [&](std::span<const std::int64_t> rows) { return read_(*tensor.whole, rows); });
  judged.controls.add(part, of_type(part));
}

void PartsJudge::add_certain(OfTensor& tensor, const Expectation& part, Judged& judged) {
  std::int64_t casts_left = most_casts(part);
  for (std::int64_t r = 0; r < part.row_count(); ++r) {
    Expectation row = slice_of(part, r, 1);
    Certifier::certify(nullptr, of_type(row), row);
    if (row.certainty.open == 0 && (row.certainty.enclosed == 0 || casts_left-- <= 0)) {
      add(tensor, row, judged);
      continue;
    }
    const std::scoped_lock lock(mutex_);
    tensor.deferred.emplace(row.rows.front(), std::move(row));
  }
}

void PartsJudge::keep_middle(OfTensor& tensor, const Expectation& part) {
  const std::vector<std::int64_t>& rows = tensor.whole->rows;
  const auto middle = std::ranges::lower_bound(part.rows, rows[rows.size() / 2]);
  if (!certifier_ || middle == part.rows.end() || *middle != rows[rows.size() / 2]) return;
  Expectation row = slice_of(part, middle - part.rows.begin(), 1);
  const std::scoped_lock lock(mutex_);
  tensor.middle.push_back(std::move(row));
}

Decision PartsJudge::finish(std::int64_t most_products, CaseReport& report,
                            std::vector<ControlResult>& controls) {
  Decision decision = no_objection();
  for (const OfTensor& tensor : tensors_)
    if (certifier_) certifier_->require_agreement(tensor.middle, most_products);
  for (OfTensor& tensor : tensors_) {
    Judged& whole = tensor.judged;
    if (whole.rows != tensor.whole->row_count())
      throw std::logic_error(std::to_string(whole.rows) + " rows of " + tensor.whole->name +
                             " were judged, but the tensor has " +
                             std::to_string(tensor.whole->row_count()));
    for (auto& [number, row] : tensor.deferred) {
      Certifier::certify(certifier_, of_type(row), row);
      add(tensor, row, whole);
    }
    decision = graver(std::move(decision),
                      whole.tally.finish(report.tensors.emplace_back(), report.findings));
    controls.push_back(whole.controls.result(tensor.whole->name, of_type(*tensor.whole)));
  }
  return decision;
}

}  // namespace assay::conformance

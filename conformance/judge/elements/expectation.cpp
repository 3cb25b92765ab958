#include "assay/conformance/judge/expectation.hpp"

#include <algorithm>
#include <stdexcept>

#include "assay/spec/at.hpp"

namespace assay::conformance {
namespace {

using spec::at;

/// Calls visit(a.field, b.field) for each member of two expectations that has one number per
/// element.
template <class Visit>
void each_field(Expectation& a, const Expectation& b, const Visit& visit) {
  visit(a.value, b.value), visit(a.radius, b.radius), visit(a.tau, b.tau);
  visit(a.tau_det, b.tau_det), visit(a.sigma, b.sigma), visit(a.floor, b.floor);
  visit(a.drift, b.drift), visit(a.core, b.core), visit(a.accumulation, b.accumulation);
  visit(a.extra, b.extra);
}

}  // namespace

void Expectation::resize(std::int64_t count) {
  make_room(count);
  for (auto* field : {&value, &radius, &tau, &tau_det, &sigma, &floor, &drift})
    std::ranges::fill(*field, 0.0);
  for (auto* field : {&core, &accumulation, &extra}) std::ranges::fill(*field, 0.0F);
}

void Expectation::make_room(std::int64_t count) {
  const std::size_t size = at(count * dim());
  for (auto* field : {&value, &radius, &tau, &tau_det, &sigma, &floor, &drift}) field->resize(size);
  for (auto* field : {&core, &accumulation, &extra}) field->resize(size);
  share.assign(at(count), 0.0);
  exempt.assign(at(count), 0);
}

void Expectation::truncate(std::int64_t count) {
  each_field(*this, *this, [&](auto& entries, const auto&) { entries.resize(at(count * dim())); });
  share.resize(at(count));
  exempt.resize(at(count));
}

Finding locate(const Expectation& e, std::int64_t element) {
  const spec::RowPosition row = e.extents.position(e.rows[at(element / e.dim())]);
  return {.tensor = e.name, .b = row.b, .n = row.n, .s = row.s, .d = element % e.dim()};
}

void each_part(const Expectation& e, const std::function<void(const Expectation&)>& visit) {
  if (!e.part) return visit(e);
  const std::span<const std::int64_t> rows = e.rows;
  const std::size_t count = at(std::max<std::int64_t>(1, elements_of_part / e.dim()));
  for (std::size_t first = 0; first < rows.size(); first += count)
    visit(e.part(rows.subspan(first, std::min(count, rows.size() - first))));
}

Expectation slice_of(const Expectation& e, std::int64_t first, std::int64_t count) {
  Expectation slice;
  slice.name = e.name, slice.extents = e.extents, slice.biasable = e.biasable;
  slice.is_fp32 = e.is_fp32;
  const auto take = [&](auto& to, const auto& from, std::int64_t width) {
    to.assign(from.begin() + first * width, from.begin() + (first + count) * width);
  };
  each_field(slice, e, [&](auto& to, const auto& from) { take(to, from, e.dim()); });
  take(slice.rows, e.rows, 1), take(slice.share, e.share, 1), take(slice.exempt, e.exempt, 1);
  return slice;
}

std::vector<Expectation> collected(std::vector<Expectation> frames,
                                   const std::function<void(const TakePart&)>& each_part) {
  for (Expectation& e : frames) e.make_room(e.row_count());
  each_part([&](Expectation& part) {
    const auto whole = std::ranges::find(frames, part.name, &Expectation::name);
    if (whole == frames.end()) throw std::logic_error("no expectation of " + part.name);
    const std::int64_t first =
        std::ranges::lower_bound(whole->rows, part.rows.front()) - whole->rows.begin();
    const auto put = [&](auto& to, const auto& from, std::int64_t width) {
      std::ranges::copy(from, to.begin() + first * width);
    };
    each_field(*whole, part, [&](auto& to, const auto& from) { put(to, from, part.dim()); });
    put(whole->share, part.share, 1), put(whole->exempt, part.exempt, 1);
  });
  return frames;
}

}  // namespace assay::conformance

#include "judge/certainty.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance {
namespace {

constexpr double wanted_share = 0x1p-20;  // largest accepted radius / tau of the reference
/// The radius (error limit) of a value in 75 digits, divided by its radius in double. The unit
/// roundoff of 75 digits is 2^-198 times the unit roundoff of double. An exponential in 75 digits
/// has the error 2^-240, which is 2^-191 times the error in double.
constexpr double defined_share = 0x1p-190;
/// The radius (error limit) of a value in double-double, divided by its radius in double. The unit
/// roundoff of double-double is 2^-47 times the unit roundoff with which the radius in double is
/// computed. Underflow changes elements by at most quick_underflow (docs/double_double.md, D5).
constexpr double quick_share = 0x1p-47, quick_underflow = 0x1p-200;

/// A multiplication in 75 digits takes at least as long as this number of multiplications in
/// double-double.
constexpr std::int64_t quick_products = 32;

/// The minimum cost of an element, counted in multiplications of the budget. It limits the memory
/// of stored rows: a budget of 100 million multiplications allows at most 64 MiB.
constexpr std::int64_t price_of_memory = 24;

/// Elements of two types use the budget (multiplications): elements with a radius (error limit)
/// that is too large, and elements for which only the result of the cast is uncertain. Elements of
/// the second type must not use this part of the budget. It is reserved for elements of the first
/// type in later parts of the tensor.
constexpr std::int64_t kept_for_wide = 300'000;

using spec::at;

/// Returns 2^floor(log2 size) for a normal number.
double power_below(double size) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) & (std::uint64_t{0x7ff} << 52));
}

bool is_quick(const DefinedRow& row) { return row.additive > 0; }

bool is_narrow(const Expectation& e, std::size_t k) {
  return std::isfinite(e.radius[k]) &&
         (e.radius[k] <= wanted_share * e.tau[k] || e.tau[k] <= e.floor[k]);
}

std::int64_t row_of(const Expectation& e, std::size_t k) { return e.rows[k / at(e.dim())]; }

/// Calls visit(row, index of its first element) for every row that can be judged (is not exempt
/// because of a possible overflow).
template <class Visit>
void each_judged_row(const Expectation& e, const Visit& visit) {
  const std::size_t dim = at(e.dim());
  for (std::size_t r = 0; r < e.rows.size(); ++r)
    if (e.exempt[r] == 0) visit(RowNumbers(e, r * dim, dim, nullptr), r * dim);
}

/// Returns the numbers of the rows that contain these elements. Each number occurs once.
std::vector<std::int64_t> rows_of(const Expectation& e, const std::vector<std::size_t>& elements) {
  std::vector<std::int64_t> rows;
  for (const std::size_t k : elements)
    if (rows.empty() || rows.back() != row_of(e, k)) rows.push_back(row_of(e, k));
  return rows;
}

double radius_of(const DefinedRow& row, double radius) { return row.share * radius + row.additive; }

/// Returns whether the row in double-double determines element d: its radius (error limit) is small
/// enough, and all numbers within the radius have the same cast. Element k of `e` is the same
/// element in double.
bool is_settled_by(const CastSteps& steps, const DefinedRow& row, std::size_t d,
                   const Expectation& e, std::size_t k) {
  if (!std::isfinite(e.radius[k])) return false;
  const double radius = radius_of(row, e.radius[k]);
  const double offset = steps.offset(row.value[d]) + row.rest[d];
  return (radius <= wanted_share * e.tau[k] || e.tau[k] <= e.floor[k]) &&
         std::abs(offset) > radius * (1 + 0x1p-40);
}

/// Replaces value and radius (error limit) of element k by the values of the definition, the
/// reference in high precision. Returns the counter for the new certainty of the element.
std::int64_t& replace(const CastSteps& steps, const DefinedRow& row, std::size_t d, Expectation& e,
                      std::size_t k) {
  Certainty& counts = e.certainty;
  double value = row.value[d];
  const double rest = row.rest[d], radius = radius_of(row, e.radius[k]);
  const double offset = steps.offset(value);
  const bool decided = radius == 0 || !std::isfinite(radius) || std::abs(offset + rest) > radius;
  // The high-precision value is not a tie, but its double value is. Moves the double value to the
  // side of the tie on which the high-precision value is.
  if (decided && offset == 0 && rest != 0)
    value = std::nextafter(value, std::copysign(std::numeric_limits<double>::infinity(), rest));
  e.value[k] = value;
  e.radius[k] = 0x1p-52 * std::abs(value) + (is_quick(row) ? radius : 0);
  return decided ? (is_quick(row) ? counts.by_double_double : counts.by_definition)
         : 4 * radius < steps.step(value) ? counts.ties
                                          : counts.enclosed;
}

template <class Real>
DefinedRow defined_row(const std::vector<Real>& row, double share) {
  DefinedRow defined{.value = {}, .rest = {}, .share = share};
  for (const Real& x : row) {
    defined.value.push_back(static_cast<double>(x));
    defined.rest.push_back(static_cast<double>(Real(x - defined.value.back())));
  }
  return defined;
}

}  // namespace

/// Elements that need the definition (the reference in high precision) because their double value
/// is uncertain. wide: the radius (error limit) is too large compared with the tolerance tau.
/// vague: more than one number of the output type may be correct. ties: the value is near a tie, so
/// two numbers may be correct. `none` counts all other elements.
struct Certifier::Doubts {
  std::vector<std::size_t> wide, vague, ties;
  std::int64_t none = 0;
};

Certifier::Doubts Certifier::doubts_of(const Expectation& e, const Arithmetic& arithmetic) {
  const CastSteps steps(arithmetic.io, arithmetic.numerics.round_out);
  const auto nearest = steps.nearest();
  Doubts doubts;
  const auto look_at = [&](std::size_t k) {
    const bool is_decided = steps.decides(e.value[k], e.radius[k]);
    if (!is_narrow(e, k))
      doubts.wide.push_back(k);
    else if (is_decided)
      ++doubts.none;
    else
      (4 * e.radius[k] < steps.step(e.value[k]) ? doubts.ties : doubts.vague).push_back(k);
  };
  each_judged_row(e, [&](const RowNumbers& row, std::size_t first) {
    if (nearest && all_certain(row, wanted_share, *nearest))
      doubts.none += row.count;
    else
      for (std::size_t k = first; k < first + at(row.count); ++k) look_at(k);
  });
  return doubts;
}

std::optional<DefinedRow> defined_row(const std::vector<reference::DoubleDouble>& row) {
  DefinedRow defined{.value = {}, .rest = {}, .share = quick_share, .additive = quick_underflow};
  for (const auto& [value, rest] : row) {
    if (!std::isfinite(value) || !std::isfinite(rest)) return std::nullopt;
    defined.value.push_back(value);
    defined.rest.push_back(rest);
  }
  return defined;
}
DefinedRow defined_row(const std::vector<reference::SeventyFive>& row) {
  return defined_row(row, defined_share);
}
DefinedRow defined_row(const std::vector<reference::Wide>& row) { return defined_row(row, 0); }

CastSteps::CastSteps(spec::DType type, spec::Rounding rounding)
    : relative_step_(std::ldexp(1.0, 1 - spec::format_of(type).significand_bits)),
      least_normal_(std::ldexp(1.0, spec::format_of(type).min_exponent)),
      least_step_(least_normal_ * relative_step_),
      is_nearest_(rounding != spec::Rounding::rtz),
      is_function_(rounding != spec::Rounding::stochastic &&
                   rounding != spec::Rounding::unknown_any) {}

std::optional<NearestSteps> CastSteps::nearest() const {
  if (!is_nearest_ || !is_function_) return std::nullopt;
  return NearestSteps{relative_step_, least_normal_, least_step_};
}

double CastSteps::step(double value) const {
  const double size = std::abs(value);
  return size >= least_normal_ ? power_below(size) * relative_step_ : least_step_;
}

double CastSteps::offset(double value) const {
  if (!std::isfinite(value)) return 0;
  const double size = std::abs(value), step = this->step(value);
  const bool is_normal = size >= least_normal_;
  const double power = is_normal ? power_below(size) : 0.0;
  const double beyond = size - power;
  const double within =
      beyond - step * static_cast<double>(static_cast<std::int64_t>(beyond / step));
  double offset = within - step / 2;
  if (!is_nearest_) {
    offset = within <= step / 2 ? within : within - step;
    // A truncating cast does not change its result at zero: it rounds small numbers of both signs
    // to zero.
    if (!is_normal && size < step) offset = size - step;
  } else if (is_normal && beyond + step / 4 < std::abs(offset)) {
    offset = beyond + step / 4;  // below a power of two the distance of neighbours is half as large
  }
  return std::copysign(1.0, value) * offset;
}

bool CastSteps::decides(double value, double radius) const {
  return !is_function_ || radius == 0 || radius < std::abs(offset(value));
}

Certifier::Certifier(std::unique_ptr<Definition> definition) : definition_(std::move(definition)) {}

const DefinedRow* Certifier::find(Digits digits, const std::string& tensor,
                                  std::int64_t row) const {
  const Rows& rows = digits == Digits::double_double ? quick_rows_ : rows_;
  const auto found = rows.find({tensor, row});
  return found == rows.end() ? nullptr : &found->second;
}

const DefinedRow* Certifier::find_settling(const Expectation& part, const CastSteps& steps,
                                           std::size_t k) const {
  const DefinedRow* row = find(Digits::double_double, part.name, row_of(part, k));
  const bool settles = row != nullptr && is_settled_by(steps, *row, k % at(part.dim()), part, k);
  return settles ? row : nullptr;
}

const DefinedRow* Certifier::known(const Expectation& part, const CastSteps& steps,
                                   std::size_t k) const {
  if (const DefinedRow* row = find_settling(part, steps, k)) return row;
  return find(Digits::seventy_five, part.name, row_of(part, k));
}

bool Certifier::affords_row(const std::string& tensor) const {
  return left_ >= std::max<std::int64_t>(1, definition_->products(tensor));
}

void Certifier::ask(const Expectation& part, const Arithmetic& arithmetic, const Doubts& doubts) {
  const CastSteps steps(arithmetic.io, arithmetic.numerics.round_out);
  ask_of(part, steps, doubts.wide, 0);
  ask_of(part, steps, doubts.vague, kept_for_wide);
}

void Certifier::ask_of(const Expectation& part, const CastSteps& steps,
                       const std::vector<std::size_t>& elements, std::int64_t kept) {
  make(Digits::double_double, part, elements, kept);
  std::vector<std::size_t> left;
  std::ranges::copy_if(elements, std::back_inserter(left),
                       [&](std::size_t k) { return find_settling(part, steps, k) == nullptr; });
  make(Digits::seventy_five, part, left, kept);
}

DefinedRows Certifier::made(Digits digits, const std::string& tensor, std::int64_t row) {
  return digits == Digits::double_double ? definition_->quick_row(tensor, row)
                                         : definition_->row(tensor, row);
}

void Certifier::make(Digits digits, const Expectation& part,
                     const std::vector<std::size_t>& elements, std::int64_t kept) {
  const std::string& tensor = part.name;
  const bool is_quick = digits == Digits::double_double;
  const std::int64_t price =
      std::max({std::int64_t{1}, definition_->products(tensor) / (is_quick ? quick_products : 1),
                price_of_memory * part.dim()});
  std::vector<std::int64_t> missing;
  for (const std::int64_t row : rows_of(part, elements)) {
    const std::int64_t left = left_ - std::ssize(missing) * price;
    if (find(digits, tensor, row) == nullptr && left - kept >= price) missing.push_back(row);
  }
  std::vector<DefinedRows> rows(missing.size());
  parallel::for_each(std::ssize(missing),
                     [&](std::int64_t k) { rows[at(k)] = made(digits, tensor, missing[at(k)]); });
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!rows[k].empty()) left_ -= price;
    for (auto& [name, row] : rows[k])
      (is_quick ? quick_rows_ : rows_).insert_or_assign(Key(name, missing[k]), std::move(row));
  }
}

/// E30.
void Certifier::certify(const std::shared_ptr<Certifier>& certifier, const Arithmetic& arithmetic,
                        Expectation& e) {
  const auto certify_part = [certifier, &arithmetic](Expectation& part) {
    const Doubts doubts = doubts_of(part, arithmetic);
    if (certifier) certifier->ask(part, arithmetic, doubts);
    settle(certifier.get(), arithmetic, doubts, part);
  };
  if (!e.part) return certify_part(e);
  e.part = [make = std::move(e.part), certify_part](auto rows) {
    Expectation part = make(rows);
    certify_part(part);
    return part;
  };
}

void Certifier::settle_casts(const Arithmetic& arithmetic, Expectation& part) {
  const Doubts doubts = doubts_of(part, arithmetic);
  ask(part, arithmetic, doubts);
  ask_of(part, CastSteps(arithmetic.io, arithmetic.numerics.round_out), doubts.ties, kept_for_wide);
  settle(this, arithmetic, doubts, part);
}

/// Replaces uncertain elements by the result of the definition (the reference in high precision),
/// if it was computed for them. Counts the elements by certainty.
void Certifier::settle(const Certifier* certifier, const Arithmetic& arithmetic,
                       const Doubts& doubts, Expectation& e) {
  const CastSteps steps(arithmetic.io, arithmetic.numerics.round_out);
  Certainty& counts = e.certainty;
  counts = {.by_radius = doubts.none};
  const auto settle_all = [&](const std::vector<std::size_t>& elements, std::int64_t& left) {
    for (const std::size_t k : elements) {
      const DefinedRow* row = certifier == nullptr ? nullptr : certifier->known(e, steps, k);
      if (row == nullptr)
        ++left;
      else
        ++replace(steps, *row, k % at(e.dim()), e, k);
    }
  };
  settle_all(doubts.wide, counts.open);
  settle_all(doubts.ties, counts.ties);
  settle_all(doubts.vague, counts.enclosed);
  each_judged_row(e, [&](const RowNumbers& row, std::size_t) {
    counts.largest_radius = std::max(counts.largest_radius, largest_radius(row));
  });
}

const DefinedRow& Certifier::agreeing_row(const std::string& tensor, std::int64_t row) {
  for (const Digits digits : {Digits::double_double, Digits::seventy_five}) {
    if (const DefinedRow* found = find(digits, tensor, row)) return *found;
    Rows& rows = digits == Digits::double_double ? quick_rows_ : rows_;
    for (auto& [name, made_row] : made(digits, tensor, row))
      rows.insert_or_assign(Key(name, row), std::move(made_row));
    if (const DefinedRow* found = find(digits, tensor, row)) return *found;
  }
  throw std::logic_error("the definition has no row of " + tensor);
}

void Certifier::require_agreement(const std::vector<Expectation>& expectations,
                                  std::int64_t most_products) {
  for (const Expectation& e : expectations) {
    if (e.rows.empty() || definition_->products(e.name) > most_products) continue;
    const std::int64_t middle = e.rows[e.rows.size() / 2];
    const DefinedRow& row = agreeing_row(e.name, middle);
    if (e.part)
      conformance::require_agreement(e.part({&middle, 1}), middle, row);
    else
      conformance::require_agreement(e, middle, row);
  }
}

/// E30.
void require_agreement(const Expectation& e, std::int64_t number, const DefinedRow& row) {
  const auto position = std::ranges::lower_bound(e.rows, number) - e.rows.begin();
  for (std::int64_t d = 0; d < e.dim(); ++d) {
    const std::size_t k = at(position * e.dim() + d);
    const double exact = row.value[at(d)];
    const double radius = e.radius[k] + radius_of(row, e.radius[k]);
    // After an overflow nothing can be compared: the value in double, the value in high precision,
    // both or neither may be infinite.
    if (!std::isfinite(radius)) continue;
    if (std::abs(exact - e.value[k]) <= radius + 0x1p-52 * std::abs(exact)) continue;
    const Finding place = locate(e, static_cast<std::int64_t>(k));
    std::ostringstream text;
    text.precision(17);
    text << "reference " << e.name << '(' << place.b << ',' << place.n << ',' << place.s << ',' << d
         << ") is " << e.value[k] << " in double, " << exact
         << " in the high-precision definition; the proven radius is " << e.radius[k];
    throw std::logic_error(text.str());
  }
}

}  // namespace assay::conformance

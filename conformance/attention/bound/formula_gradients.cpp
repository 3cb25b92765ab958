#include "attention/bound/formula_gradients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "assay/engine/algebra/bound.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "attention/formula/variant.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {
namespace {

using engine::Element;
using spec::at;

/// The sums for one element of dformula, the gradient of an array that a user's formula reads.
struct Sum {
  Element element;
  bool is_exempt = false;

  Sum& operator+=(const Sum& other) {
    const Element& x = other.element;
    element.value += x.value, element.magnitude += x.magnitude;
    element.rigorous += x.rigorous, element.squares += x.squares, element.shared += x.shared;
    element.moment += x.moment, element.drift += x.drift, element.terms += x.terms;
    is_exempt = is_exempt || other.is_exempt;
    return *this;
  }
};

/// Sums over the pairs of one query head in one sequence.
class HeadOfFormula {
 public:
  HeadOfFormula(const Dense& dense, const Arithmetic& n, const AllRowTerms& all,
                const Variant& variant)
      : dense_(dense),
        call_(call_of(dense, n)),
        all_(all),
        variant_(variant),
        of_row_(at(variant.gradient_size())),
        is_read_(of_row_.size(), 0),
        sums_(of_row_.size()) {}

  std::vector<Sum> sums(std::int64_t b, std::int64_t head) {
    const std::int64_t first = dense_.queries.row(b, head, 0);
    const std::vector<std::int64_t> rows = ascending(first, first + dense_.queries.length(b));
    RowProducts products;
    std::size_t next = 0;
    for (const RowBlock& block : row_blocks_of(dense_, rows)) {
      const Columns columns(dense_, b, head / dense_.problem.group(), block.keys);
      for (const std::size_t end = next + block.rows; next < end; ++next) {
        columns.multiply(head, dense_.queries.position(rows[next]).s, products);
        if (products.attends) add_row(all_.rows[at(rows[next])], products);
      }
    }
    return std::move(sums_);
  }

 private:
  void add_row(const RowTerms& terms, const RowProducts& products) {
    const std::array<engine::Symbol, symbols> of_row = {terms.delta_error, terms.max_error};
    const PairReading on(call_.units, of_row);
    const Row<double> row = {terms.max, terms.sum, terms.delta};
    for (std::size_t c = 0; c < products.times.size(); ++c)
      if (products.times[c] != 0) add_pair(on, row, products, c);
    for (const std::size_t k : read_) {
      sums_[k] += {.element = of_row_[k].with(of_row)};
      of_row_[k] = {}, is_read_[k] = 0;
    }
    read_.clear();
  }

  void add_pair(const PairReading& on, const Row<double>& row, const RowProducts& products,
                std::size_t c) {
    const Pair<double> pair = pair_of(products, c);
    auto position = variant_.places(
        0.0, {products.query.b, products.query.n, products.query.s, products.keys[c]});
    engine::expression::Deviations<double> deviations(rounding_of(call_));
    const auto by_formula = variant_score(on, call_, row, pair, variant_, position, deviations);
    const auto dscore = terms_of(on, call_, row, pair, by_formula.score, UnitSlope())[0];
    const PairNumber read = read_score(on, call_, pair);
    position[0] = read.value;
    deviations.evaluate(variant_.partials_graph(), position, read.rigorous);
    for (const auto& [index, derivative, first] : variant_.partials()) {
      const auto factor = slope_number<PairNumber>(deviations[derivative]);
      const PairNumber product = dscore.number * factor;
      const auto k = at(first) + static_cast<std::size_t>(deviations[index].value);
      if (is_read_[k]++ == 0) read_.push_back(k);
      of_row_[k].add({.number = on.rounded(product, on.magnitude(product), 2, Level::pair),
                      .drift = dscore.drift * factor.value},
                     1, products.times[c]);
      if (dscore.overflow + by_formula.ties + deviations.ties() > 0) sums_[k].is_exempt = true;
    }
  }

  const Dense& dense_;
  Call call_;
  const AllRowTerms& all_;
  const Variant& variant_;
  std::vector<engine::SumWithinRow<symbols>> of_row_;
  std::vector<std::uint32_t> is_read_;  ///< how often the row has read the element
  std::vector<std::size_t> read_;       ///< the elements that the row has read
  std::vector<Sum> sums_;
};

/// Sums over all heads. Each head has a list of partial sums; only a few of these lists are in
/// memory at a time. The lists are added in order, so that the result does not depend on the number
/// of threads.
std::vector<Sum> sums_of(const Dense& dense, const Arithmetic& n, const AllRowTerms& rows,
                         const Variant& variant) {
  constexpr std::int64_t heads_at_once = 16;
  const std::int64_t heads = dense.problem.heads_q, count = dense.problem.batch * heads;
  std::vector<Sum> all(at(variant.gradient_size()));
  for (std::int64_t begin = 0; begin < count; begin += heads_at_once) {
    std::vector<std::vector<Sum>> found(at(std::min(heads_at_once, count - begin)));
    parallel::for_each(std::ssize(found), [&](std::int64_t k) {
      const std::int64_t task = begin + k;
      found[at(k)] = HeadOfFormula(dense, n, rows, variant).sums(task / heads, task % heads);
    });
    for (const std::vector<Sum>& one : found)
      for (std::size_t k = 0; k < all.size(); ++k) all[k] += one[k];
  }
  return all;
}

}  // namespace

std::vector<Expectation> formula_frames(const Dense& dense) {
  std::vector<Expectation> frames;
  const Variant* const variant = score_variant_of(dense);
  if (variant == nullptr) return frames;
  for (const Variant::Gradient& gradient : variant->gradients()) {
    Expectation e{.name = gradient.output,
                  .extents = {.batch = 1, .heads = 1, .seq = gradient.count, .dim = 1}};
    e.rows = ascending(0, gradient.count);
    e.biasable = false, e.is_fp32 = true;
    frames.push_back(std::move(e));
  }
  return frames;
}

std::vector<Expectation> formula_gradients(const Dense& dense, const Arithmetic& n,
                                           const AllRowTerms& rows) {
  std::vector<Expectation> all = formula_frames(dense);
  if (all.empty()) return all;
  const Variant& variant = *score_variant_of(dense);
  const std::vector<Sum> sums = sums_of(dense, n, rows, variant);
  engine::Output output = output_of(n, variant.gradient_size());
  output.store = {};
  for (std::size_t g = 0; g < all.size(); ++g) {
    Expectation& e = all[g];
    e.resize(e.row_count());
    for (std::int64_t k = 0; k < e.row_count(); ++k) {
      const Sum& sum = sums[at(variant.gradients()[g].first + k)];
      output.chain = engine::chain_of(sum.element.terms, output);
      const double floor = sum.element.magnitude > 0 ? output_underflow_of(spec::DType::fp32) : 0;
      engine::Bound<double> bound = engine::bound_of(sum.element, output, floor);
      bound.deviation = 0;  // pairs of one element are not independent
      put(entries_of(e, k), 0, bound);
      e.exempt[at(k)] = sum.is_exempt ? 1 : 0;
    }
  }
  return all;
}

}  // namespace assay::conformance::attention

#include "bilinear/bound.hpp"

#include "assay/parallel/loop.hpp"
#include "bilinear/rows.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::bilinear {
namespace {

Call call_of(const Arithmetic& n) {
  return {.units = units_of(n),
          .stage = store_of(n.numerics.stage, n.numerics.round_stage),
          .part = store_of(n.numerics.partials, n.numerics.round_stage)};
}

/// Equations E32, E34: returns the error model of the sum and the final cast of an output element
/// with `products` products. If `few` is true, the model uses that the addition of the first
/// product to 0 is exact in an fp32 accumulator. In an fp16 accumulator this addition rounds the
/// product.
engine::Output output_of(const Arithmetic& n, std::int64_t elements, double products, bool few) {
  engine::Output output = conformance::output_of(n, elements);
  const bool is_half = n.numerics.accumulator == spec::Accumulator::fp16;
  const double additions = is_half ? products : products - 1;
  const double worst = products == 0 ? 0 : few ? additions : engine::worst_chain(products);
  const bool averages = !few && !n.truncating_sums;
  output.chain = {
      .worst = worst,
      .likely = averages ? engine::probable_chain(worst, products, output.lambda) : worst,
      .lost = is_half ? worst * 0x1p-25 : 0,
      .of_squares = few ? 0 : products / 6,
      .of_value = few ? 0 : products / 9,
      .of_worst = few ? 1.0 / 3 : 0};
  return output;
}

/// Returns whether a number of this size may overflow in an fp16 intermediate of the kernel, before
/// it is written.
bool overflows_inside(const Arithmetic& n, double size) {
  const bool is_narrow = n.numerics.stage == spec::DType::fp16 ||
                         n.numerics.partials == spec::DType::fp16 ||
                         n.numerics.accumulator == spec::Accumulator::fp16;
  return is_narrow && size >= largest_finite(spec::DType::fp16);
}

/// The pairs of input rows whose products are added to one output row.
class GatheredPairs {
 public:
  GatheredPairs(const Operands& operands, const Sum& sum, const spec::RowPosition& row) {
    std::vector<RowPair> pairs;
    sum.pairs(row, pairs);
    for (const RowPair& pair : pairs) {
      const double* left = operands.row(sum.left, pair.left);
      if (sum.contracts)
        left_.push_back(left);
      else
        factors_.push_back(*left);
      right_.push_back(operands.row(sum.right, pair.right));
    }
    pairs_ = {.factors = factors_.data(),
              .left = left_.data(),
              .right = right_.data(),
              .count = std::ssize(right_),
              .channels = operands.form().operands[sum.right].extents.dim};
  }
  GatheredPairs(const GatheredPairs&) = delete;
  GatheredPairs& operator=(const GatheredPairs&) = delete;

  const Pairs& operator*() const { return pairs_; }
  const Pairs* operator->() const { return &pairs_; }

 private:
  std::vector<double> factors_;
  std::vector<const double*> left_, right_;
  Pairs pairs_;
};

}  // namespace

/// E33.
Expectation expected_rows(const Operands& operands, const Arithmetic& n, std::size_t index,
                          std::span<const std::int64_t> rows, std::size_t judged) {
  const Sum& sum = operands.form().sums[index];
  Expectation e = unmade(std::string(sum.name), sum.extents, rows);
  const Call call = call_of(n);
  const std::int64_t elements = static_cast<std::int64_t>(judged) * e.dim();
  parallel::for_each(e.row_count(), [&](std::int64_t r) {
    const auto place = static_cast<std::size_t>(r);
    const GatheredPairs pairs(operands, sum, e.extents.position(rows[place]));
    const auto products = static_cast<double>(pairs->count * (sum.contracts ? pairs->channels : 1));
    const auto output = output_of(n, elements, products, sum.few);
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      double largest = 0;
      if (sum.contracts) {
        const engine::Element element = read_contraction(compiled, call, *pairs);
        auto bound = engine::bound_of(element, output, products * n.phi);
        bound.radius = engine::sum_radius(element);
        put(entries_of(e, r), 0, bound);
        largest = bound.largest;
      } else {
        largest = read_row(compiled, call, *pairs, output, products * n.phi, entries_of(e, r));
      }
      e.exempt[place] = overflows_inside(n, largest) ? 1 : 0;
    });
  });
  return e;
}

std::vector<Expectation> expectations(const Operands& operands, const Arithmetic& arithmetic,
                                      const std::vector<std::vector<std::int64_t>>& judged) {
  std::vector<Expectation> all;
  for (std::size_t k = 0; k < judged.size(); ++k) {
    const Sum& sum = operands.form().sums[k];
    const std::size_t count = judged[k].size();
    if (std::ssize(judged[k]) * sum.extents.dim <= 4 * elements_of_part) {
      all.push_back(expected_rows(operands, arithmetic, k, judged[k], count));
      continue;
    }
    all.push_back({.name = std::string(sum.name), .extents = sum.extents, .rows = judged[k]});
    all.back().part = [&operands, &arithmetic, k, count](std::span<const std::int64_t> rows) {
      return expected_rows(operands, arithmetic, k, rows, count);
    };
  }
  return all;
}

}  // namespace assay::conformance::bilinear

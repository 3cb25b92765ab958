#include "attention/lse.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "attention/bound/forward.hpp"
#include "attention/statistics.hpp"

namespace assay::conformance::attention {
namespace {

constexpr const char* max_name = "softmax_max";
constexpr const char* sum_name = "softmax_sum";

/// Replaces the rows softmax_max (m) and softmax_sum (z) by one row of m + ln z, if both are
/// present.
DefinedRows with_lse(DefinedRows rows) {
  const auto max = std::ranges::find(rows, max_name, &DefinedRows::value_type::first);
  const auto sum = std::ranges::find(rows, sum_name, &DefinedRows::value_type::first);
  if (max == rows.end() || sum == rows.end()) return {};
  DefinedRow& of_max = max->second;
  for (std::size_t k = 0; k < of_max.value.size(); ++k)
    of_max.value[k] += std::log(sum->second.value[k]);
  std::ranges::fill(of_max.rest, 0);
  rows.erase(sum);
  return rows;
}

class OfLse final : public Definition {
 public:
  explicit OfLse(std::unique_ptr<Definition> inner) : inner_(std::move(inner)) {}

  DefinedRows row(const std::string& tensor, std::int64_t number) override {
    return with_lse(inner_->row(tensor, number));
  }
  DefinedRows quick_row(const std::string& tensor, std::int64_t number) override {
    return with_lse(inner_->quick_row(tensor, number));
  }
  std::int64_t products(const std::string& tensor) const override {
    return inner_->products(tensor);
  }

 private:
  std::unique_ptr<Definition> inner_;
};

}  // namespace

double log_sum_exp(double softmax_max, double softmax_sum) {
  const double lse = softmax_max + std::log(softmax_sum);
  return std::isinf(lse) || lse <= dead_statistics.max ? dead_statistics.max : lse;
}

/// Number of roundings of m + ln z. In base 2 a kernel rounds five times: log2 e, its product with
/// m, the sum, ln 2, and the product with ln 2.
double saving_error(double max, double log, const Arithmetic& n) {
  const double roundings = n.numerics.fused ? 6 : 2;
  return n.numerics.log_error * std::max(1.0, log) + roundings * n.u * (max + log);
}

/// Equation E50. The error of the kernel's maximum m cancels in m + ln z: for this m, the exact
/// softmax sum is exp(m* - m) z*, where m* and z* are the exact statistics. s is the relative error
/// of the kernel's sum z.
Limits lse_error(const ForwardRow& row, const Arithmetic& n) {
  const auto error = [&](double of_sum, double of_max) {
    const double moved = -std::log1p(-std::min(of_sum, 1.0));
    const double log = std::abs(std::log(row.sum)) + of_max + moved;
    return forward_slack * (moved + saving_error(std::abs(row.max) + of_max, log, n));
  };
  return {error(row.sum_error.proven, row.max_error.proven),
          error(row.sum_error.probable, row.max_error.probable)};
}

std::unique_ptr<Definition> lse_definition(std::unique_ptr<Definition> of_statistics) {
  return std::make_unique<OfLse>(std::move(of_statistics));
}

OutputValues compared_statistics(OutputValues values, const spec::Numerics& numerics) {
  const auto max = values.find(max_name), sum = values.find(sum_name);
  if (!saves_lse(numerics) || max == values.end() || sum == values.end()) return values;
  for (std::size_t k = 0; k < max->second.size(); ++k)
    max->second[k] = log_sum_exp(max->second[k], sum->second[k]);
  values.erase(sum);
  return values;
}

}  // namespace assay::conformance::attention

#include "operators/sparse_flash_attention_grad/basis.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "assay/spec/at.hpp"
#include "attention/statistics.hpp"
#include "attention/structure.hpp"
#include "judge/decide.hpp"
#include "judge/tolerance.hpp"
#include "operators/sparse_flash_attention_grad/key_pattern.hpp"

namespace assay::conformance::sparse_flash {
namespace {

using spec::at;

constexpr attention::GradientNames names = {.dq = "d_query",
                                            .dk = "d_key",
                                            .dv = "d_value",
                                            .dq_rope = "d_query_rope",
                                            .dk_rope = "d_key_rope"};

const spec::Tensor* pointer(const std::optional<spec::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

/// Converts a softmax statistic to the form that the common attention code reads: eight copies per
/// row, in TND order. Rows without a key get the value `dead`.
spec::Tensor replicated(const Op::Problem& p, const spec::Tensor& statistic, double dead) {
  const spec::Extents queries = query_extents(p);
  spec::Parameter parameter{.present = true, .dtype = spec::DType::fp32};
  parameter.shape = {queries.rows(), spec::statistics_replicas};
  apply_striding(parameter, spec::Striding::contiguous);
  spec::Tensor copy = guarded_tensor(parameter);
  const std::vector<std::int64_t> from = spec::viewed_elements(statistic);
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const auto [b, n, s] = queries.position(row);
    const std::int64_t by_token = (queries.start(b) + s) * queries.heads + n;
    const double value = seen_by(p, b, s).keys == 0 ? dead : statistic.load(from[at(by_token)]);
    const std::int64_t to = spec::is_packed(p.layout) ? by_token : row;
    for (std::int64_t k = 0; k < spec::statistics_replicas; ++k)
      copy.store(copy.offset + to * spec::statistics_replicas + k, value);
  }
  return copy;
}

Expectation& named(std::vector<Expectation>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Expectation::name);
  if (found == all.end()) throw std::logic_error("no expectation of " + std::string(name));
  return *found;
}

/// Returns the expected values and tolerances of the output dk + dv from those of dk and dv before
/// the cast. A kernel may use one accumulator for both gradients, or two. With one accumulator,
/// every addition rounds the sum of both, so the errors of additions count twice. Both gradients
/// share the errors of P, so their deviations are added. The errors of a row may depend on each
/// other, so the tests of the root mean square and of the mean skip this tensor.
Expectation merged(Expectation sum, const Expectation& dv, const Arithmetic& arithmetic) {
  const engine::Output output = output_of(arithmetic, sum.elements());
  for (std::size_t k = 0; k < sum.value.size(); ++k) {
    const double parts = std::abs(sum.value[k]) + std::abs(dv.value[k]);
    const double accumulation = 2 * (static_cast<double>(sum.accumulation[k]) + dv.accumulation[k]);
    const double probable = sum.tau[k] + dv.tau[k] + accumulation / 2;
    const double proven = 2 * (sum.tau_det[k] + dv.tau_det[k]);
    const auto added = [&](double error) { return error + output.units.u_sum * (parts + error); };
    sum.value[k] += dv.value[k];
    const double magnitude = std::abs(sum.value[k]);
    const auto written = [&](double error) {
      return error + output.store.error(magnitude + error);
    };
    const double cast = output.store.error(magnitude);
    sum.radius[k] += dv.radius[k] + 0x1p-52 * parts;
    sum.tau[k] = written(added(probable));
    sum.tau_det[k] = written(added(proven));
    sum.sigma[k] = std::hypot(sum.sigma[k] + dv.sigma[k], cast / std::sqrt(3.0));
    sum.floor[k] += dv.floor[k];
    sum.drift[k] += dv.drift[k];
    sum.core[k] += dv.core[k];
    sum.accumulation[k] = static_cast<float>(accumulation);
    sum.extra[k] += dv.extra[k] + static_cast<float>(output.units.u_sum * parts);
  }
  for (std::size_t row = 0; row < sum.exempt.size(); ++row)
    sum.exempt[row] = sum.exempt[row] != 0 || dv.exempt[row] != 0 ? 1 : 0;
  std::ranges::fill(sum.share, 0.0);
  sum.biasable = false;
  return sum;
}

}  // namespace

const char* documented(std::string_view name) {
  if (name == "dq") return names.dq;
  if (name == "dk") return names.dk;
  if (name == "dv") return names.dv;
  return name == "dq_rope" ? names.dq_rope : names.dk_rope;
}

spec::AttentionProblem dense_problem(const Op::Problem& p) {
  return {.input_layout = p.layout,
          .dtype = p.dtype,
          .batch = p.batch,
          .heads_q = p.heads_q,
          .heads_kv = 1,
          .seq_q = p.seq_q,
          .seq_kv = p.seq_kv,
          .lengths_q = p.lengths_q,
          .lengths_kv = p.lengths_kv,
          .head_dim = Op::Problem::head_dim,
          .head_dim_v = Op::Problem::head_dim,
          .head_dim_rope = p.head_dim_rope,
          .scale_value = p.scale_value,
          .statistics_order = spec::StatisticsOrder::tokens_first};
}

attention::Dense dense_of(const Op::Problem& p, const Op::Inputs& inputs) {
  const auto [max, sum] = attention::dead_statistics;
  const spec::Tensor softmax_max = replicated(p, inputs.softmax_max, max),
                     softmax_sum = replicated(p, inputs.softmax_sum, sum);
  const attention::Operands operands = {.query = &inputs.query,
                                        .key = &inputs.key,
                                        .value = p.is_merged() ? &inputs.key : &*inputs.value,
                                        .dy = &inputs.d_out,
                                        .attention_in = &inputs.out,
                                        .softmax_max = &softmax_max,
                                        .softmax_sum = &softmax_sum,
                                        .query_rope = pointer(inputs.query_rope),
                                        .key_rope = pointer(inputs.key_rope)};
  return {dense_problem(p), operands, std::make_shared<ListPattern>(p, inputs.sparse_indices)};
}

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : case_(c),
      inputs_(inputs),
      arithmetic_(arithmetic),
      dense_(dense_of(c.problem, inputs)),
      judged_{judged_of(query_extents(c.problem), 0, c.seed),
              judged_of(key_extents(c.problem), 0, c.seed)} {}

std::vector<Expectation> Basis::expectations() {
  if (!row_terms_) row_terms_ = attention::row_terms(dense_, arithmetic_);
  std::vector<Expectation> all = attention::expectations(dense_, arithmetic_, *row_terms_, judged_);
  if (case_.problem.is_merged()) {
    Arithmetic uncast = arithmetic_;  // fp32 outputs: their cast rounds nothing
    uncast.io = spec::DType::fp32;
    std::vector<Expectation> before = attention::expectations(dense_, uncast, *row_terms_, judged_);
    named(all, "dk") = merged(std::move(named(before, "dk")), named(before, "dv"), arithmetic_);
    std::erase_if(all, [](const Expectation& e) { return e.name == "dv"; });
  }
  for (Expectation& e : all) e.name = documented(e.name);
  return all;
}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return attention::check_structure(dense_, arithmetic_,
                                    {.dq = &outputs.d_query,
                                     .dk = &outputs.d_key,
                                     .dv = pointer(outputs.d_value),
                                     .dq_rope = pointer(outputs.d_query_rope),
                                     .dk_rope = pointer(outputs.d_key_rope)},
                                    names);
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return values_of(rows, outputs, case_.problem.layout);
}

}  // namespace assay::conformance::sparse_flash

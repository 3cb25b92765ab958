#include "operators/nsa_selected_attention/basis.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "assay/reference/nsa_selected_attention.hpp"
#include "attention/definition.hpp"
#include "selection/heads.hpp"
#include "selection/key_pattern.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selected_forward {
namespace {

using reference::DoubleDouble;
using reference::SeventyFive;

/// Only the requested heads are computed, because in a large case most heads are never requested.
class InManyDigits final : public Definition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : problem_(p),
        inputs_(inputs),
        twice_(static_cast<std::size_t>(p.batch * p.heads_kv)),
        many_(twice_.size()) {}

  DefinedRows row(const std::string&, std::int64_t number) override { return of(many_, number); }
  DefinedRows quick_row(const std::string&, std::int64_t number) override {
    return of(twice_, number);
  }
  std::int64_t products(const std::string&) const override {
    return selection::listed_keys(problem_) * (problem_.head_dim + problem_.head_dim_v);
  }

 private:
  template <class Real>
  struct Made {
    std::once_flag flag;
    std::optional<reference::NsaSelectedAttention<Real, float>> oracle;
  };
  template <class Real>
  DefinedRows of(std::vector<Made<Real>>& all, std::int64_t number) {
    const auto [b, n, s] = query_extents(problem_).position(number);
    const std::int64_t group = problem_.group(), kv = n / group;
    Made<Real>& made = all[static_cast<std::size_t>(b * problem_.heads_kv + kv)];
    std::call_once(made.flag, [&] {
      const selection::Heads heads{b, kv * group, group};
      made.oracle.emplace(selection::problem_of(problem_, heads),
                          selection::forward_operands_of<float>(problem_, inputs_, heads));
    });
    reference::SelectedForward<Real> rows;
    made.oracle->append_row(0, n % group, s, rows);
    DefinedRows defined;
    add_row(defined, "softmax_max", rows.softmax_max);
    add_row(defined, "softmax_sum", rows.softmax_sum);
    add_row(defined, "attention_out", rows.attention_out);
    return defined;
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  std::vector<Made<DoubleDouble>> twice_;
  std::vector<Made<SeventyFive>> many_;
};

ForwardTensors tensors_of(const Op::Outputs& outputs) {
  return {outputs.softmax_max, outputs.softmax_sum, outputs.attention_out};
}

}  // namespace

attention::Dense dense_of(const Op::Problem& p, const Op::Inputs& inputs) {
  return {selection::dense_problem(p),
          {.query = &inputs.query, .key = &inputs.key, .value = &inputs.value},
          std::make_shared<selection::ListPattern>(p, inputs.topk_indices)};
}

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : ForwardBasis(dense_of(c.problem, inputs), judged_of(query_extents(c.problem), c.rows, c.seed),
                   arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return ForwardBasis::check_structure(tensors_of(outputs));
}

std::unique_ptr<Definition> Basis::definition() const {
  return definition_from(std::make_unique<InManyDigits>(case_.problem, inputs_));
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return ForwardBasis::values(rows, tensors_of(outputs));
}

}  // namespace assay::conformance::selected_forward

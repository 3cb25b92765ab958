#include "operators/nsa_selected_attention_grad/basis.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/certificate.hpp"
#include "attention/structure.hpp"
#include "judge/judging.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"
#include "operators/nsa_selected_attention_grad/heads.hpp"
#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"

namespace assay::conformance::selected {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using reference::Quad;

/// The definition in 113 bits, made for the heads that are asked for: most of a large case is not.
class Oracles {
 public:
  using Oracle = reference::NsaSelectedAttentionGrad<Quad>;

  Oracles(const Op::Problem& problem, const Op::Inputs& inputs)
      : problem_(problem),
        inputs_(inputs),
        made_(static_cast<std::size_t>(problem.batch * problem.heads_kv)),
        oracles_(made_.size()) {}

  /// Of a key head of a sequence and all its query heads.
  const Oracle& of(std::int64_t b, std::int64_t kv) {
    const auto k = static_cast<std::size_t>(b * problem_.heads_kv + kv);
    std::call_once(made_[k], [&] {
      const selected::Heads heads{b, kv * problem_.group(), problem_.group()};
      oracles_[k].emplace(selected::problem_of(problem_, heads),
                          selected::operands_of<Quad>(problem_, inputs_, heads));
    });
    return *oracles_[k];
  }

 private:
  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  std::vector<std::once_flag> made_;
  std::vector<std::optional<Oracle>> oracles_;
};

}  // namespace

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : AttentionBasis(dense_of(c.problem, inputs), judged_rows_of(c), arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  return flash::check_structure(dense(), arithmetic(), dense_outputs(outputs),
                                dense_outputs(make_outputs(case_)));
}

Certificate Basis::certify() const {
  const Op::Problem& p = case_.problem;
  const std::int64_t of_row = selected::listed_keys(p) * (2 * p.head_dim + p.head_dim_v);
  Oracles oracles(p, inputs_);
  const flash::Definition definition{
      .query =
          [&](const spec::RowPosition& row) {
            const Oracles::Oracle& oracle = oracles.of(row.b, row.n / p.group());
            return flash::NamedRows{
                {"dq", flash::narrowed(oracle.dq_row(0, row.n % p.group(), row.s))}};
          },
      .key =
          [&](const spec::RowPosition& row) {
            const auto of_key = oracles.of(row.b, row.n).dkv_row(0, 0, row.s);
            return flash::NamedRows{{"dk", flash::narrowed(of_key.dk)},
                                    {"dv", flash::narrowed(of_key.dv)}};
          },
      .products = static_cast<std::int64_t>(selected::entries(p)) * (2 * p.head_dim + p.head_dim_v),
      .most_sequences = std::clamp<std::int64_t>(200'000 / of_row, 1, 2)};
  return flash::certify(dense(), judged(), definition);
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return values_of(rows, outputs, spec::Layout::tnd);
}

}  // namespace assay::conformance::selected

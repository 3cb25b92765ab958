#include "operators/nsa_selected_attention_grad/definition.hpp"

#include <algorithm>

#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/definition.hpp"
#include "selection/heads.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selected {
namespace {

using namespace selection;
using Op = spec::NsaSelectedAttentionGrad;

template <class Real>
using Oracle = reference::NsaSelectedAttentionGrad<Real, float>;

/// Returns how many queries list a key on average.
std::int64_t entries_of_key(const Op::Problem& p) {
  return static_cast<std::int64_t>(entries(p)) / std::max<std::int64_t>(1, key_extents(p).rows());
}

/// The high-precision reference. It computes the gradients in parts: each part has one key head of
/// a sequence and the query heads that read it.
class InManyDigits final : public DefinitionByOracles<InManyDigits, Oracle> {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : DefinitionByOracles(p.batch * p.heads_kv),
        problem_(p),
        inputs_(inputs),
        queries_(query_extents(p)),
        keys_(key_extents(p)) {}

  std::int64_t products(const std::string& tensor) const override {
    const Op::Problem& p = problem_;
    return is_of_query(tensor) ? listed_keys(p) * (2 * p.head_dim + p.head_dim_v)
                               : entries_of_key(p) * 2 * (p.head_dim + p.head_dim_v);
  }
  template <class Real>
  Oracle<Real> make(std::int64_t part) const {
    const Heads heads = heads_of_part(problem_, part);
    return {problem_of(problem_, heads), gradient_operands_of<float>(problem_, inputs_, heads)};
  }
  template <class Oracles>
  DefinedRows rows(const std::string& tensor, std::int64_t number, const Oracles& oracle) const {
    const std::int64_t heads = problem_.heads_kv, group = problem_.group();
    DefinedRows rows;
    if (is_of_query(tensor)) {
      const auto [b, n, s] = queries_.position(number);
      add_row(rows, "dq", oracle(b * heads + n / group).dq_row(0, n % group, s));
    } else {
      const auto [b, n, s] = keys_.position(number);
      const auto row = oracle(b * heads + n).dkv_row(0, 0, s);
      add_row(rows, "dk", row.dk), add_row(rows, "dv", row.dv);
    }
    return rows;
  }

 private:
  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  spec::Extents queries_, keys_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                          const spec::NsaSelectedAttentionGrad::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::selected

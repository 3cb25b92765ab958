#include "operators/nsa_selected_attention_grad/definition.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/definition.hpp"
#include "operators/nsa_selected_attention_grad/heads.hpp"
#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"

namespace assay::conformance::selected {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using reference::SeventyFive;

/// Made for the heads that are asked for: most of a large case is not.
class InManyDigits : public AttentionDefinition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : AttentionDefinition(query_extents(p), key_extents(p),
                            listed_keys(p) * (2 * p.head_dim + p.head_dim_v),
                            entries_of_key(p) * 2 * (p.head_dim + p.head_dim_v)),
        problem_(p),
        inputs_(inputs),
        made_(static_cast<std::size_t>(p.batch * p.heads_kv)),
        oracles_(made_.size()) {}

 private:
  using Oracle = reference::NsaSelectedAttentionGrad<SeventyFive, float>;

  /// Queries that list a key, on an average.
  static std::int64_t entries_of_key(const Op::Problem& p) {
    return static_cast<std::int64_t>(entries(p)) / std::max<std::int64_t>(1, key_extents(p).rows());
  }
  /// Of a key head of a sequence and all its query heads.
  const Oracle& of(std::int64_t b, std::int64_t kv) {
    const auto k = static_cast<std::size_t>(b * problem_.heads_kv + kv);
    std::call_once(made_[k], [&] {
      const Heads heads{b, kv * problem_.group(), problem_.group()};
      oracles_[k].emplace(problem_of(problem_, heads),
                          operands_of<float>(problem_, inputs_, heads));
    });
    return *oracles_[k];
  }
  DefinedRows query(const spec::RowPosition& at) override {
    const Oracle& oracle = of(at.b, at.n / problem_.group());
    return {{"dq", defined_row(oracle.dq_row(0, at.n % problem_.group(), at.s))}};
  }
  DefinedRows key(const spec::RowPosition& at) override {
    const auto row = of(at.b, at.n).dkv_row(0, 0, at.s);
    return {{"dk", defined_row(row.dk)}, {"dv", defined_row(row.dv)}};
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  std::vector<std::once_flag> made_;
  std::vector<std::optional<Oracle>> oracles_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                          const spec::NsaSelectedAttentionGrad::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::selected

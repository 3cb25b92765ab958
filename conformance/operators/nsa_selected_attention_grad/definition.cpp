#include "operators/nsa_selected_attention_grad/definition.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/definition.hpp"
#include "selection/heads.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selected {
namespace {

using namespace selection;
using Op = spec::NsaSelectedAttentionGrad;
using reference::DoubleDouble;
using reference::SeventyFive;

/// Computed only for the requested heads: in a large case most heads are never requested.
class InManyDigits : public AttentionDefinition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : AttentionDefinition(query_extents(p), key_extents(p),
                            listed_keys(p) * (2 * p.head_dim + p.head_dim_v),
                            entries_of_key(p) * 2 * (p.head_dim + p.head_dim_v)),
        problem_(p),
        inputs_(inputs),
        twice_(static_cast<std::size_t>(p.batch * p.heads_kv)),
        many_(twice_.size()) {}

 private:
  template <class Real>
  struct Made {
    std::once_flag flag;
    std::optional<reference::NsaSelectedAttentionGrad<Real, float>> oracle;
  };
  template <class Real>
  using OfHeads = std::vector<Made<Real>>;

  /// Returns the average number of queries that list a key.
  static std::int64_t entries_of_key(const Op::Problem& p) {
    return static_cast<std::int64_t>(entries(p)) / std::max<std::int64_t>(1, key_extents(p).rows());
  }
  /// Returns the oracle of one key head of a sequence and of the query heads that read it.
  template <class Real>
  const auto& of(OfHeads<Real>& all, std::int64_t b, std::int64_t kv) {
    Made<Real>& made = all[static_cast<std::size_t>(b * problem_.heads_kv + kv)];
    std::call_once(made.flag, [&] {
      const Heads heads{b, kv * problem_.group(), problem_.group()};
      made.oracle.emplace(problem_of(problem_, heads),
                          gradient_operands_of<float>(problem_, inputs_, heads));
    });
    return *made.oracle;
  }
  template <class Real>
  DefinedRows query_of(OfHeads<Real>& all, const spec::RowPosition& at) {
    const auto& oracle = of(all, at.b, at.n / problem_.group());
    DefinedRows rows;
    add_row(rows, "dq", oracle.dq_row(0, at.n % problem_.group(), at.s));
    return rows;
  }
  template <class Real>
  DefinedRows key_of(OfHeads<Real>& all, const spec::RowPosition& at) {
    const auto row = of(all, at.b, at.n).dkv_row(0, 0, at.s);
    DefinedRows rows;
    add_row(rows, "dk", row.dk), add_row(rows, "dv", row.dv);
    return rows;
  }
  DefinedRows query(const spec::RowPosition& at) override { return query_of(many_, at); }
  DefinedRows key(const spec::RowPosition& at) override { return key_of(many_, at); }
  DefinedRows quick_query(const spec::RowPosition& at) override { return query_of(twice_, at); }
  DefinedRows quick_key(const spec::RowPosition& at) override { return key_of(twice_, at); }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  OfHeads<DoubleDouble> twice_;
  OfHeads<SeventyFive> many_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const spec::NsaSelectedAttentionGrad::Problem& problem,
                                          const spec::NsaSelectedAttentionGrad::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::selected

#include "operators/flash_attention_score_grad/definition.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/definition.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using reference::DoubleDouble;
using reference::SeventyFive;

class InManyDigits : public AttentionDefinition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : AttentionDefinition(query_extents(p), key_extents(p),
                            longest(key_extents(p)) * (2 * width(p) + p.head_dim_v),
                            longest(query_extents(p)) * p.group() * 2 * (width(p) + p.head_dim_v)),
        problem_(p),
        inputs_(inputs) {}

 private:
  template <class Real>
  using Oracle = reference::FlashAttentionScoreGrad<Real>;

  static std::int64_t width(const Op::Problem& p) { return p.head_dim + p.head_dim_rope; }
  static std::int64_t longest(const spec::Extents& extents) {
    std::int64_t length = 0;
    for (std::int64_t b = 0; b < extents.batch; ++b) length = std::max(length, extents.length(b));
    return length;
  }
  /// The oracle is created when it is first used.
  template <class Real>
  struct Made {
    std::once_flag flag;
    std::optional<Oracle<Real>> oracle;
  };
  template <class Real>
  const Oracle<Real>& oracle(Made<Real>& made) {
    std::call_once(made.flag, [&] { made.oracle.emplace(Oracle<Real>::from(problem_, inputs_)); });
    return *made.oracle;
  }
  template <class Real>
  DefinedRows query_of(Made<Real>& made, const spec::RowPosition& at) {
    const auto row = oracle(made).dq_row(at.b, at.n, at.s);
    DefinedRows rows;
    add_row(rows, "dq", row.dq), add_row(rows, "dq_rope", row.dq_rope);
    return rows;
  }
  template <class Real>
  DefinedRows key_of(Made<Real>& made, const spec::RowPosition& at) {
    const auto row = oracle(made).dkv_row(at.b, at.n, at.s);
    DefinedRows rows;
    add_row(rows, "dk", row.dk), add_row(rows, "dv", row.dv);
    add_row(rows, "dk_rope", row.dk_rope);
    return rows;
  }
  DefinedRows query(const spec::RowPosition& at) override { return query_of(many_, at); }
  DefinedRows key(const spec::RowPosition& at) override { return key_of(many_, at); }
  DefinedRows quick_query(const spec::RowPosition& at) override { return query_of(twice_, at); }
  DefinedRows quick_key(const spec::RowPosition& at) override { return key_of(twice_, at); }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  Made<DoubleDouble> twice_;
  Made<SeventyFive> many_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                                          const spec::FlashAttentionScoreGrad::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::attention::flash

#include "operators/flash_attention_score_grad/definition.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/definition.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using reference::SeventyFive;

/// Made when a row is first asked for.
class InManyDigits : public AttentionDefinition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : AttentionDefinition(query_extents(p), key_extents(p),
                            longest(key_extents(p)) * (2 * width(p) + p.head_dim_v),
                            longest(query_extents(p)) * p.group() * 2 * (width(p) + p.head_dim_v)),
        problem_(p),
        inputs_(inputs) {}

 private:
  using Oracle = reference::FlashAttentionScoreGrad<SeventyFive>;

  static std::int64_t width(const Op::Problem& p) { return p.head_dim + p.head_dim_rope; }
  static std::int64_t longest(const spec::Extents& extents) {
    std::int64_t length = 0;
    for (std::int64_t b = 0; b < extents.batch; ++b) length = std::max(length, extents.length(b));
    return length;
  }
  const Oracle& oracle() {
    std::call_once(made_, [this] { oracle_.emplace(Oracle::from(problem_, inputs_)); });
    return *oracle_;
  }
  DefinedRows query(const spec::RowPosition& at) override {
    const auto row = oracle().dq_row(at.b, at.n, at.s);
    return {{"dq", defined_row(row.dq)}, {"dq_rope", defined_row(row.dq_rope)}};
  }
  DefinedRows key(const spec::RowPosition& at) override {
    const auto row = oracle().dkv_row(at.b, at.n, at.s);
    return {{"dk", defined_row(row.dk)},
            {"dv", defined_row(row.dv)},
            {"dk_rope", defined_row(row.dk_rope)}};
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  std::once_flag made_;
  std::optional<Oracle> oracle_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                                          const spec::FlashAttentionScoreGrad::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::flash

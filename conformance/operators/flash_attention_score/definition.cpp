#include "attention/definition.hpp"

#include <utility>

#include "assay/reference/flash_attention_score.hpp"
#include "attention/statistics.hpp"
#include "attention/variant/variant.hpp"
#include "operators/flash_attention_score/basis.hpp"

namespace assay::conformance::attention::flash_forward {
namespace {

class InManyDigits final
    : public DefinitionByOracles<InManyDigits, reference::FlashAttentionScore> {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs,
               std::shared_ptr<const Variant> variant)
      : DefinitionByOracles(1, quick_rows_of(variant)),
        problem_(p),
        inputs_(inputs),
        queries_(query_extents(p)),
        variant_(std::move(variant)) {}

  std::int64_t products(const std::string&) const override {
    return problem_.seq_kv * (problem_.head_dim + problem_.head_dim_rope + problem_.head_dim_v);
  }
  template <class Real>
  auto make(std::int64_t) const {
    return reference::FlashAttentionScore<Real>::from(problem_, inputs_,
                                                      formula_of<Real>(variant_));
  }
  /// If a sequence has no keys and no sink, the expected values of its rows are those of a fully
  /// masked row.
  template <class Oracles>
  DefinedRows rows(const std::string&, std::int64_t number, const Oracles& oracle) const {
    const auto [b, n, i] = queries_.position(number);
    auto row = oracle(0).row(b, n, i);
    using Real = decltype(row.softmax_max);
    if (problem_.length_kv(b) == 0 && !problem_.has_sink()) {
      row.softmax_max = Real(dead_statistics.max);
      row.softmax_sum = Real(dead_statistics.sum);
    }
    DefinedRows rows;
    add_row(rows, "softmax_max", std::vector{row.softmax_max});
    add_row(rows, "softmax_sum", std::vector{row.softmax_sum});
    add_row(rows, "attention_out", row.attention_out);
    return rows;
  }

 private:
  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  spec::Extents queries_;
  std::shared_ptr<const Variant> variant_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs,
                                          std::shared_ptr<const Variant> variant) {
  return std::make_unique<InManyDigits>(problem, inputs, std::move(variant));
}

}  // namespace assay::conformance::attention::flash_forward

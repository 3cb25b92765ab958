#include "operators/flash_attention_score_grad/definition.hpp"

#include <algorithm>
#include <utility>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/definition.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;

std::int64_t longest(const spec::Extents& extents) {
  std::int64_t length = 0;
  for (std::int64_t b = 0; b < extents.batch; ++b) length = std::max(length, extents.length(b));
  return length;
}

class InManyDigits final
    : public DefinitionByOracles<InManyDigits, reference::FlashAttentionScoreGrad> {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs,
               std::shared_ptr<const Variant> variant)
      : DefinitionByOracles(1, quick_rows_of(variant)),
        problem_(p),
        inputs_(inputs),
        queries_(query_extents(p)),
        keys_(key_extents(p)),
        variant_(std::move(variant)) {}

  std::int64_t products(const std::string& tensor) const override {
    const Op::Problem& p = problem_;
    const std::int64_t width = p.head_dim + p.head_dim_rope;
    if (gradient_of(tensor) != nullptr) return spec::score_count(p) * (width + p.head_dim_v);
    if (tensor == "dsink") return spec::score_count(p) / p.heads_q * (width + p.head_dim_v);
    return is_of_query(tensor) ? longest(keys_) * (2 * width + p.head_dim_v)
                               : longest(queries_) * p.group() * 2 * (width + p.head_dim_v);
  }
  template <class Real>
  auto make(std::int64_t) const {
    return reference::FlashAttentionScoreGrad<Real>::from(problem_, inputs_,
                                                          formula_of<Real>(variant_));
  }
  template <class Oracles>
  DefinedRows rows(const std::string& tensor, std::int64_t number, const Oracles& oracle) const {
    DefinedRows rows;
    if (const Variant::Gradient* const gradient = gradient_of(tensor)) {
      const auto k = static_cast<std::size_t>(gradient->first + number);
      add_row(rows, gradient->output.c_str(), std::vector{oracle(0).dformula(k)});
    } else if (tensor == "dsink") {
      add_row(rows, "dsink", std::vector{oracle(0).dsink(number)});
    } else if (is_of_query(tensor)) {
      const auto [b, n, s] = queries_.position(number);
      const auto row = oracle(0).dq_row(b, n, s);
      add_row(rows, "dq", row.dq), add_row(rows, "dq_rope", row.dq_rope);
    } else {
      const auto [b, n, s] = keys_.position(number);
      const auto row = oracle(0).dkv_row(b, n, s);
      add_row(rows, "dk", row.dk), add_row(rows, "dv", row.dv);
      add_row(rows, "dk_rope", row.dk_rope);
    }
    return rows;
  }

 private:
  const Variant::Gradient* gradient_of(const std::string& tensor) const {
    return variant_ == nullptr ? nullptr : variant_->gradient(tensor);
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  spec::Extents queries_, keys_;
  std::shared_ptr<const Variant> variant_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const spec::FlashAttentionScoreGrad::Problem& problem,
                                          const spec::FlashAttentionScoreGrad::Inputs& inputs,
                                          std::shared_ptr<const Variant> variant) {
  return std::make_unique<InManyDigits>(problem, inputs, std::move(variant));
}

}  // namespace assay::conformance::attention::flash

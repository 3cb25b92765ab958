#include "attention/definition.hpp"

#include <mutex>
#include <optional>

#include "assay/reference/flash_attention_score.hpp"
#include "attention/statistics.hpp"
#include "operators/flash_attention_score/basis.hpp"

namespace assay::conformance::attention::flash_forward {
namespace {

using reference::DoubleDouble;
using reference::SeventyFive;

class InManyDigits : public Definition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs)
      : problem_(p), inputs_(inputs), queries_(query_extents(p)) {}

  DefinedRows row(const std::string&, std::int64_t number) override {
    return rows_of(many_, number);
  }
  DefinedRows quick_row(const std::string&, std::int64_t number) override {
    return rows_of(twice_, number);
  }
  std::int64_t products(const std::string&) const override {
    return problem_.seq_kv * (problem_.head_dim + problem_.head_dim_rope + problem_.head_dim_v);
  }

 private:
  template <class Real>
  using Oracle = reference::FlashAttentionScore<Real>;
  /// The oracle is created when it is first used.
  template <class Real>
  struct Made {
    std::once_flag flag;
    std::optional<Oracle<Real>> oracle;
  };

  /// The expected row of a sequence without keys is that of a fully masked row.
  template <class Real>
  DefinedRows rows_of(Made<Real>& made, std::int64_t number) {
    std::call_once(made.flag, [&] { made.oracle.emplace(Oracle<Real>::from(problem_, inputs_)); });
    const auto [b, n, i] = queries_.position(number);
    auto row = made.oracle->row(b, n, i);
    if (problem_.length_kv(b) == 0) {
      row.softmax_max = Real(dead_statistics.max);
      row.softmax_sum = Real(dead_statistics.sum);
    }
    DefinedRows rows;
    add_row(rows, "softmax_max", std::vector<Real>{row.softmax_max});
    add_row(rows, "softmax_sum", std::vector<Real>{row.softmax_sum});
    add_row(rows, "attention_out", row.attention_out);
    return rows;
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  spec::Extents queries_;
  Made<DoubleDouble> twice_;
  Made<SeventyFive> many_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::attention::flash_forward

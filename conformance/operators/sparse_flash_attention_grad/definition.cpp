#include "attention/definition.hpp"

#include <algorithm>

#include "assay/reference/sparse_flash_attention_grad.hpp"
#include "operators/sparse_flash_attention_grad/basis.hpp"

namespace assay::conformance::sparse_flash {
namespace {

template <class Real>
using Oracle = reference::SparseFlashAttentionGrad<Real, float>;

class InManyDigits final : public DefinitionByOracles<InManyDigits, Oracle> {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs) : problem_(p), inputs_(inputs) {}

  std::int64_t products(const std::string& tensor) const override {
    const Op::Problem& p = problem_;
    const std::int64_t listed = std::min(p.seq_kv, p.sparse_block_size * p.sparse_block_count);
    const std::int64_t width = Op::Problem::head_dim + p.head_dim_rope;
    if (is_of_query(tensor)) return listed * 3 * width;
    return p.heads_q * p.seq_q * 4 * width * listed / std::max<std::int64_t>(1, p.seq_kv);
  }

  template <class Real>
  Oracle<Real> make(std::int64_t) const {
    return {problem_, reference::operands_of<float>(problem_, inputs_)};
  }
  template <class Oracles>
  DefinedRows rows(const std::string& tensor, std::int64_t number, const Oracles& oracle) const {
    const bool rope = problem_.head_dim_rope > 0;
    DefinedRows rows;
    if (is_of_query(tensor)) {
      const auto [b, n, s] = query_extents(problem_).position(number);
      const auto row = oracle(0).query_row(b, n, s);
      add_row(rows, "d_query", row.d_query);
      if (rope) add_row(rows, "d_query_rope", row.d_query_rope);
      return rows;
    }
    const auto [b, n, j] = key_extents(problem_).position(number);
    const auto row = oracle(0).key_row(b, j);
    add_row(rows, "d_key", row.d_key);
    if (rope) add_row(rows, "d_key_rope", row.d_key_rope);
    if (!problem_.is_merged()) add_row(rows, "d_value", row.d_value);
    return rows;
  }

 private:
  static bool is_of_query(const std::string& tensor) { return tensor.starts_with("d_query"); }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::sparse_flash

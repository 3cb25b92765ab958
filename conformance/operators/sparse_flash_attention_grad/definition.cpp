#include "attention/definition.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "assay/reference/sparse_flash_attention_grad.hpp"
#include "operators/sparse_flash_attention_grad/basis.hpp"

namespace assay::conformance::sparse_flash {
namespace {

using reference::DoubleDouble;
using reference::SeventyFive;

template <class Real>
class Lazy {
 public:
  const auto& of(const Op::Problem& p, const Op::Inputs& inputs) {
    std::call_once(flag_, [&] { made_.emplace(p, reference::operands_of<float>(p, inputs)); });
    return *made_;
  }

 private:
  std::once_flag flag_;
  std::optional<reference::SparseFlashAttentionGrad<Real, float>> made_;
};

class InManyDigits : public Definition {
 public:
  InManyDigits(const Op::Problem& p, const Op::Inputs& inputs) : problem_(p), inputs_(inputs) {}

  DefinedRows row(const std::string& tensor, std::int64_t number) override {
    return rows_of<SeventyFive>(many_, tensor, number);
  }
  DefinedRows quick_row(const std::string& tensor, std::int64_t number) override {
    return rows_of<DoubleDouble>(twice_, tensor, number);
  }
  std::int64_t products(const std::string& tensor) const override {
    const Op::Problem& p = problem_;
    const std::int64_t listed = std::min(p.seq_kv, p.sparse_block_size * p.sparse_block_count);
    const std::int64_t width = Op::Problem::head_dim + p.head_dim_rope;
    if (is_of_query(tensor)) return listed * 3 * width;
    return p.heads_q * p.seq_q * 4 * width * listed / std::max<std::int64_t>(1, p.seq_kv);
  }

 private:
  static bool is_of_query(const std::string& tensor) { return tensor.starts_with("d_query"); }

  template <class Real>
  DefinedRows rows_of(Lazy<Real>& lazy, const std::string& tensor, std::int64_t number) const {
    const auto& oracle = lazy.of(problem_, inputs_);
    const bool rope = problem_.head_dim_rope > 0;
    DefinedRows rows;
    if (is_of_query(tensor)) {
      const auto [b, n, s] = query_extents(problem_).position(number);
      const auto row = oracle.query_row(b, n, s);
      add_row(rows, "d_query", row.d_query);
      if (rope) add_row(rows, "d_query_rope", row.d_query_rope);
      return rows;
    }
    const auto [b, n, j] = key_extents(problem_).position(number);
    const auto row = oracle.key_row(b, j);
    add_row(rows, "d_key", row.d_key);
    if (rope) add_row(rows, "d_key_rope", row.d_key_rope);
    if (!problem_.is_merged()) add_row(rows, "d_value", row.d_value);
    return rows;
  }

  const Op::Problem& problem_;
  const Op::Inputs& inputs_;
  Lazy<DoubleDouble> twice_;
  Lazy<SeventyFive> many_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const Op::Problem& problem, const Op::Inputs& inputs) {
  return std::make_unique<InManyDigits>(problem, inputs);
}

}  // namespace assay::conformance::sparse_flash

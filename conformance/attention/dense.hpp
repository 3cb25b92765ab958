#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/reference/dropout.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/tensor.hpp"
#include "attention/input_rows.hpp"
#include "attention/key_pattern.hpp"

namespace assay::conformance::attention {

using Op = spec::FlashAttentionScoreGrad;

/// Returns |x|^2 of `dim` channels.
double norm_squared(const float* x, std::int64_t dim);

/// The tensors that the formulas of a case read; null for an absent tensor. A forward case has no
/// dy, attention_in, softmax_max and softmax_sum.
struct Operands {
  const spec::Tensor *query, *key, *value;
  const spec::Tensor *dy = nullptr, *attention_in = nullptr, *softmax_max = nullptr,
                     *softmax_sum = nullptr;
  const spec::Tensor *query_rope = nullptr, *key_rope = nullptr, *pse_shift = nullptr,
                     *drop_mask = nullptr, *sink = nullptr;
};
/// Refers to `inputs`.
Operands operands_of(const Op::Inputs& inputs);

/// The gradients of a case; null for an absent tensor.
struct GradientTensors {
  const spec::Tensor *dq, *dk, *dv;
  const spec::Tensor *dq_rope = nullptr, *dk_rope = nullptr;
};
GradientTensors gradient_tensors(const Op::Outputs& outputs);

/// The input tensors of a case, read as float, with rows in the order of Extents::row. In a query
/// or key row the rope channels follow the main channels. Keeps references to all inputs: nothing
/// is copied but the statistics and the sinks.
class Dense {
 public:
  Dense(const Op::Problem& problem, const Op::Inputs& inputs);
  Dense(const Op::Problem& problem, Op::Inputs&& inputs) = delete;
  /// `attends` says which keys a query attends to; the mask is not read.
  Dense(const Op::Problem& problem, const Operands& operands,
        std::shared_ptr<const KeyPattern> attends);

  /// Returns whether the case has the inputs of a gradient: dy, attention_in and the statistics.
  bool has_gradient() const { return dy_rows.has_value(); }
  /// Returns the number of channels of a query or key row: head_dim + head_dim_rope.
  std::int64_t width() const { return queries.dim; }
  FloatRow query(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return query_rows.row({b, n, i});
  }
  FloatRow dy(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return dy_rows->row({b, n, i});
  }
  FloatRow key(std::int64_t b, std::int64_t kv, std::int64_t j) const {
    return key_rows.row({b, kv, j});
  }
  FloatRow value(std::int64_t b, std::int64_t kv, std::int64_t j) const {
    return value_rows.row({b, kv, j});
  }
  std::vector<double> attention_in(std::int64_t b, std::int64_t n, std::int64_t i) const;
  /// Returns the softmax maximum of the query row with this number.
  double softmax_max(std::int64_t row) const { return softmax_max_[static_cast<std::size_t>(row)]; }
  double softmax_sum(std::int64_t row) const { return softmax_sum_[static_cast<std::size_t>(row)]; }

  /// Returns the position bias that is added to the scaled score.
  double bias(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (!position_bias.present()) return 0;
    const double value = position_bias.value(b, n, i, j);
    return problem.pse_type == 1 ? scale * value : value;
  }
  /// Returns the factor that dropout applies to P and dP: 0, or 1 / keep_prob.
  double kappa(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    return dropout.keeps(b, n, i, j) ? largest_kappa : 0;
  }

  Op::Problem problem;
  InputRows query_rows, key_rows, value_rows;
  std::optional<InputRows> dy_rows;           ///< without value in a forward case
  spec::Extents queries, keys;                ///< dim is `width()`
  double scale;                               ///< rounded to fp32, as the operator uses it
  double largest_row = 0;                     ///< largest row sum of magnitudes of queries and keys
  double largest_query = 0, largest_key = 0;  ///< largest sums of squares of a row
  std::vector<double> sinks;  ///< the logit of each query head's sink; empty: no sink
  double largest_kappa;       ///< 1 / keep_prob, rounded to fp32 before the division
  std::shared_ptr<const KeyPattern> key_pattern;
  reference::PositionBias position_bias;
  reference::Dropout dropout;

 private:
  std::optional<spec::HeadView> attention_in_;
  std::vector<double> softmax_max_, softmax_sum_;
};

/// Products of one query with some keys, summed over the channels: one entry per key, and up to
/// `padded_keys` (attention/formula/rows.hpp) entries without a meaning. Entries of keys with
/// `times` = 0 have no meaning either. `Columns` selects the keys.
struct RowProducts {
  spec::RowPosition query{};
  const std::int64_t* keys = nullptr;
  std::vector<double> score, score_abs, score_sq;  ///< q k, |q k|, (q k)^2 summed over the channels
  /// The sums for dy and v, multiplied by kappa = 1 / keep_prob (by kappa^2 for the squares). They
  /// are 0 in a forward case.
  std::vector<double> dprob, dprob_abs, dprob_sq;
  std::vector<double> bias, kappa;  ///< position bias of the scaled score; factor of dropout
  std::vector<std::uint8_t> times;  ///< how often the query attends to the key
  bool attends = false;             ///< the query attends to at least one of the keys
};

/// Transposed copies of some keys and values of one kv head, so that loops over products run along
/// the keys.
class Columns {
 public:
  Columns(const Dense& dense, std::int64_t b, std::int64_t kv, std::vector<std::int64_t> keys);

  /// Computes the products of query (b, n, i) with these keys. Leaves the sums unchanged if the
  /// query attends to none of them.
  void multiply(std::int64_t n, std::int64_t i, RowProducts& products) const;
  std::int64_t size() const { return static_cast<std::int64_t>(keys_.size()); }
  std::int64_t key(std::int64_t column) const { return keys_[static_cast<std::size_t>(column)]; }

 private:
  void add_sums(std::int64_t n, std::int64_t i, RowProducts& products) const;
  void add_features(std::int64_t n, std::int64_t i, RowProducts& products) const;

  const Dense* dense_;
  std::int64_t b_;
  std::vector<std::int64_t> keys_;
  std::int64_t pitch_;               ///< `padded_keys`
  std::vector<double> key_, value_;  ///< (dim, pitch)
};

/// A block: consecutive query rows of one head that are multiplied with the same keys, and these
/// keys.
struct RowBlock {
  std::size_t rows = 1;
  std::vector<std::int64_t> keys;
};
/// Divides query rows of one head, in ascending order, into blocks. If each query has its own keys,
/// distant queries go to different blocks. Otherwise a block would contain many keys that few of
/// its queries use.
std::vector<RowBlock> row_blocks_of(const Dense& dense, std::span<const std::int64_t> rows);
/// Calls visit(number, products) for each query row of one head of sequence b that has an unmasked
/// key. `number` is the row number as Extents::row defines it.
void each_row_of_head(
    const Dense& dense, std::int64_t b, std::int64_t head,
    const std::function<void(std::int64_t number, const RowProducts& products)>& visit);

/// Returns first, first + 1, ..., last - 1.
std::vector<std::int64_t> ascending(std::int64_t first, std::int64_t last);

}  // namespace assay::conformance::attention

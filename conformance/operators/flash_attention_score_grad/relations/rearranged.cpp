#include <utility>

#include "assay/reference/dropout.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/reference/score_order.hpp"
#include "assay/spec/at.hpp"
#include "attention/statistics.hpp"
#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance {
namespace attention::flash {
namespace {

using spec::PseShape;
using spec::Tensor;

using spec::at;

const Tensor* pointer(const std::optional<Tensor>& tensor) { return tensor ? &*tensor : nullptr; }

/// Calls visit(b, n, i, j, k) for every score of the problem; k = 0, 1, 2 ... is the index of its
/// bit in the drop mask.
template <class Visitor>
void visit_scores(const Op::Problem& p, Visitor&& visit) {
  std::int64_t k = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) visit(b, n, i, j, k++);
}

/// Returns the element of the pair in a tensor [B, N, S, S]; in TND the extents S are the longest
/// lengths.
std::int64_t element_of_pair(const Op::Problem& p, std::int64_t b, std::int64_t n, std::int64_t i,
                             std::int64_t j) {
  return ((b * p.heads_q + n) * p.seq_q + i) * p.seq_kv + j;
}

/// Returns the mask of the sparse modes without batch and head axes.
Tensor single_slice(const Tensor& mask) {
  const std::size_t rank = mask.shape.size();
  Tensor slice = spec::contiguous_tensor(mask.dtype, {mask.shape[rank - 2], mask.shape[rank - 1]});
  std::int64_t k = 0;
  for (std::int64_t i = 0; i < slice.shape[0]; ++i)
    for (std::int64_t j = 0; j < slice.shape[1]; ++j)
      slice.store(k++,
                  mask.load(mask.offset + i * mask.strides[rank - 2] + j * mask.strides[rank - 1]));
  return slice;
}

}  // namespace

Tensor written_mask(
    const Op::Problem& p,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& keeps) {
  const bool one_for_all = p.atten_mask == spec::MaskShape::ss;
  Tensor mask = spec::contiguous_tensor(p.mask_dtype, mask_shape(p));
  visit_scores(p, [&](auto b, auto n, auto i, auto j, auto) {
    mask.store(one_for_all ? i * p.seq_kv + j : element_of_pair(p, b, n, i, j),
               keeps(b, n, i, j) ? 0 : 1);
  });
  return mask;
}

namespace {

/// Moves the mask, bias and dropout bit of every pair of query and key from `base` to the new
/// position of the pair, which `origins` define.
class PairMover {
 public:
  PairMover(const Trial& base, const Op::Problem& moved, const Origins& origins)
      : base_(base), given_(base.side), moved_(moved), origins_(origins) {}

  std::optional<Tensor> mask() const {
    if (!given_.atten_mask) return std::nullopt;
    if (is_compressed(moved_.atten_mask)) return single_slice(*given_.atten_mask);
    const reference::Mask old(base_.problem, pointer(given_.atten_mask));
    return written_mask(moved_, [&](auto b, auto n, auto i, auto j) {
      const spec::RowPosition q = old_query(b, n, i);
      return old.keeps(q.b, q.n, q.s, old_key(b, n, j));
    });
  }

  std::optional<Tensor> pse() const {
    if (!given_.pse_shift) return std::nullopt;
    const Op::Problem& p = moved_;
    Tensor pse = spec::contiguous_tensor(pse_dtype(p), pse_shape(p));
    if (p.pse_shift == PseShape::slopes_bn) {
      const bool of_batch = given_.pse_shift->shape.size() == 2;
      for (std::int64_t k = 0; k < p.batch * p.heads_q; ++k) {
        const spec::RowPosition q = old_query(k / p.heads_q, k % p.heads_q, 0);
        const std::int64_t old = of_batch ? q.b * base_.problem.heads_q + q.n : q.n;
        pse.store(k, given_.pse_shift->load(spec::viewed_elements(*given_.pse_shift)[at(old)]));
      }
      return pse;
    }
    const reference::PositionBias old(base_.problem, pointer(given_.pse_shift));
    visit_scores(p, [&](auto b, auto n, auto i, auto j, auto k) {
      const spec::RowPosition q = old_query(b, n, i);
      pse.store(p.pse_shift == PseShape::packed_bnss ? k : element_of_pair(p, b, n, i, j),
                old.value(q.b, q.n, q.s, old_key(b, n, j)));
    });
    return pse;
  }

  std::optional<Tensor> drop_mask() const {
    if (!given_.drop_mask) return std::nullopt;
    if (!base_.problem.has_dropout()) return given_.drop_mask;
    const reference::Dropout old(base_.problem, pointer(given_.drop_mask));
    Tensor bits = spec::contiguous_tensor(spec::DType::uint8, drop_mask_shape(moved_));
    visit_scores(moved_, [&](auto b, auto n, auto i, auto j, auto k) {
      const spec::RowPosition q = old_query(b, n, i);
      if (old.keeps(q.b, q.n, q.s, old_key(b, n, j)))
        bits.bytes[at(k / 8)] |= std::byte{1} << static_cast<int>(k % 8);
    });
    return bits;
  }

 private:
  std::int64_t old_key(std::int64_t b, std::int64_t n, std::int64_t j) const {
    return origins_.key({b, n / moved_.group(), j}).value().s;
  }

  spec::RowPosition old_query(std::int64_t b, std::int64_t n, std::int64_t i) const {
    return origins_.query({b, n, i}).value();
  }

  const Trial& base_;
  const PairTensors& given_;
  const Op::Problem& moved_;
  const Origins& origins_;
};

/// Sets the statistics of rows that had no keys before and have only masked keys now: they get the
/// statistics of a fully masked row.
void meet_masked_keys(const Op::Problem& p, reference::Operands<double>& rows) {
  const spec::Extents queries = query_extents(p);
  for (std::size_t row = 0; row < rows.softmax_sum.size(); ++row) {
    const std::int64_t b = queries.position(static_cast<std::int64_t>(row)).b;
    if (rows.softmax_sum[row] != 0 || p.length_kv(b) == 0) continue;
    rows.softmax_max[row] = dead_statistics.max;
    rows.softmax_sum[row] = dead_statistics.sum;
  }
}

/// Returns whether all sequences and heads share one explicit mask.
bool is_shared(spec::MaskShape shape) {
  return shape == spec::MaskShape::ss || shape == spec::MaskShape::one_one_ss;
}

}  // namespace

}  // namespace attention::flash

flash::Trial flash::RelationParts::rearranged(const flash::Trial& base, const Op::Problem& problem,
                                              const Origins& origins) {
  using spec::MaskShape, spec::PseShape;
  flash::Trial moved{.problem = problem, .rows = {}};
  Op::Problem& p = moved.problem;
  const bool packed = is_packed(p.input_layout);
  const bool in_one_axis = base.problem.pse_shift == PseShape::packed_bn1s ||
                           base.problem.pse_shift == PseShape::packed_bnss;
  if (is_compressed(p.atten_mask)) p.atten_mask = MaskShape::compressed;
  if (is_written_out(p.atten_mask))
    p.atten_mask =
        packed && flash::is_shared(base.problem.atten_mask) ? MaskShape::ss : MaskShape::bnss;
  if (p.pse_shift != PseShape::absent)
    p.pse_shift = p.pse_type >= 2         ? PseShape::slopes_bn
                  : packed && in_one_axis ? PseShape::packed_bnss
                                          : PseShape::bnss;
  moved.rows = moved_rows(base, p, origins);
  flash::meet_masked_keys(p, moved.rows);
  const flash::PairMover mover(base, p, origins);
  moved.side = {mover.mask(), mover.pse(), mover.drop_mask()};
  return moved;
}

}  // namespace assay::conformance

#include "attention/flash/relations/pairs.hpp"

#include <algorithm>

#include "assay/reference/dropout.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;
using spec::PseShape;
using spec::Tensor;

using spec::at;

const Tensor* pointer(const std::optional<Tensor>& tensor) { return tensor ? &*tensor : nullptr; }

/// Calls visit(b, n, i, j, k) for every score of the problem. The number k = 0, 1, 2 ... is the
/// index of the score's bit in the drop mask.
template <class Visitor>
void visit_scores(const Problem& p, Visitor&& visit) {
  std::int64_t k = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) visit(b, n, i, j, k++);
}

/// Returns the index of a pair's element in a tensor [B, N, S, S]. In TND the extents S are the
/// longest lengths.
std::int64_t element_of_pair(const Problem& p, std::int64_t b, std::int64_t n, std::int64_t i,
                             std::int64_t j) {
  return ((b * p.heads_q + n) * p.seq_q + i) * p.seq_kv + j;
}

/// Removes the batch and head axes from the fixed mask of the sparse modes.
Tensor single_slice(const Tensor& mask) {
  const std::size_t rank = mask.shape.size();
  const std::int64_t rows = mask.shape[rank - 2], columns = mask.shape[rank - 1];
  const std::int64_t row_stride = mask.strides[rank - 2], stride = mask.strides[rank - 1];
  Tensor slice = spec::contiguous_tensor(mask.dtype, {rows, columns});
  const std::int64_t size = spec::size_of(mask.dtype);
  const std::int64_t adjacent = stride == 1 ? columns : 1;  // elements that are copied at once
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; j += adjacent)
      std::copy_n(mask.bytes.data() + (mask.offset + i * row_stride + j * stride) * size,
                  adjacent * size, slice.bytes.data() + (i * columns + j) * size);
  return slice;
}

}  // namespace

Tensor written_mask(
    const Problem& p,
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

/// Moves the mask element, bias and dropout bit of every pair of query and key from `base` to the
/// new position of the pair. `origins` contains the old position of each row.
class PairMover {
 public:
  PairMover(const Problem& base, const PairTensors& given, const Problem& moved,
            const Origins& origins)
      : base_(base), given_(given), moved_(moved), origins_(origins) {}

  std::optional<Tensor> mask() const {
    if (!given_.atten_mask) return std::nullopt;
    if (is_compressed(moved_.atten_mask)) return single_slice(*given_.atten_mask);
    const reference::Mask old(base_, pointer(given_.atten_mask));
    return written_mask(moved_, [&](auto b, auto n, auto i, auto j) {
      const spec::RowPosition q = old_query(b, n, i);
      return old.keeps(q.b, q.n, q.s, old_key(b, n, j));
    });
  }

  std::optional<Tensor> pse() const {
    if (!given_.pse_shift) return std::nullopt;
    const Problem& p = moved_;
    Tensor pse = spec::contiguous_tensor(pse_dtype(p), pse_shape(p));
    if (p.pse_shift == PseShape::slopes_bn) {
      const bool of_batch = given_.pse_shift->shape.size() == 2;
      for (std::int64_t k = 0; k < p.batch * p.heads_q; ++k) {
        const spec::RowPosition q = old_query(k / p.heads_q, k % p.heads_q, 0);
        const std::int64_t old = of_batch ? q.b * base_.heads_q + q.n : q.n;
        pse.store(k, given_.pse_shift->load(spec::viewed_elements(*given_.pse_shift)[at(old)]));
      }
      return pse;
    }
    const reference::PositionBias old(base_, pointer(given_.pse_shift));
    visit_scores(p, [&](auto b, auto n, auto i, auto j, auto k) {
      const spec::RowPosition q = old_query(b, n, i);
      pse.store(p.pse_shift == PseShape::packed_bnss ? k : element_of_pair(p, b, n, i, j),
                old.value(q.b, q.n, q.s, old_key(b, n, j)));
    });
    return pse;
  }

  std::optional<Tensor> drop_mask() const {
    if (!given_.drop_mask) return std::nullopt;
    if (!base_.has_dropout()) return given_.drop_mask;
    const reference::Dropout old(base_, pointer(given_.drop_mask));
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

  const Problem& base_;
  const PairTensors& given_;
  const Problem& moved_;
  const Origins& origins_;
};

/// Returns whether one mask serves all sequences and heads.
bool is_shared(spec::MaskShape shape) {
  return shape == spec::MaskShape::ss || shape == spec::MaskShape::one_one_ss;
}

}  // namespace

bool operator==(const PairTensors& a, const PairTensors& b) {
  using Member = std::optional<spec::Tensor> PairTensors::*;
  for (const Member member :
       {&PairTensors::atten_mask, &PairTensors::pse_shift, &PairTensors::drop_mask}) {
    const auto &x = a.*member, &y = b.*member;
    if (x.has_value() != y.has_value()) return false;
    if (x && (x->shape != y->shape || x->bytes != y->bytes)) return false;
  }
  return true;
}

Problem with_written_pairs(const Problem& base, Problem p) {
  using spec::MaskShape;
  const bool packed = is_packed(p.input_layout);
  const bool in_one_axis =
      base.pse_shift == PseShape::packed_bn1s || base.pse_shift == PseShape::packed_bnss;
  if (is_compressed(p.atten_mask)) p.atten_mask = MaskShape::compressed;
  if (is_written_out(p.atten_mask))
    p.atten_mask = packed && is_shared(base.atten_mask) ? MaskShape::ss : MaskShape::bnss;
  if (p.pse_shift != PseShape::absent)
    p.pse_shift = p.pse_type >= 2         ? PseShape::slopes_bn
                  : packed && in_one_axis ? PseShape::packed_bnss
                                          : PseShape::bnss;
  return p;
}

PairTensors moved_pairs(const Problem& base, const PairTensors& given, const Problem& moved,
                        const Origins& origins) {
  const PairMover mover(base, given, moved, origins);
  return {mover.mask(), mover.pse(), mover.drop_mask()};
}

}  // namespace assay::conformance::attention::flash

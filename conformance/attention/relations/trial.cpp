#include "attention/relations/trial.hpp"

#include <utility>

#include "assay/reference/dropout.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/reference/score_order.hpp"
#include "attention/statistics.hpp"
#include "inputs/packed_rows.hpp"

namespace assay::conformance::flash {
namespace {

using spec::PseShape;
using spec::Tensor;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

const Tensor* pointer(const std::optional<Tensor>& tensor) { return tensor ? &*tensor : nullptr; }

/// visit(b, n, i, j, k) for every score of the problem, k = 0, 1, 2 ... in the order of the drop
/// mask's bits.
template <class Visitor>
void visit_scores(const Op::Problem& p, Visitor&& visit) {
  std::int64_t k = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) visit(b, n, i, j, k++);
}

/// Where the pair lies in a tensor [B, N, S, S]; in TND its extents are the longest lengths.
std::int64_t element_of_pair(const Op::Problem& p, std::int64_t b, std::int64_t n, std::int64_t i,
                             std::int64_t j) {
  return ((b * p.heads_q + n) * p.seq_q + i) * p.seq_kv + j;
}

/// The pattern of the sparse modes without batch and head axes.
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

Tensor statistics_tensor(const spec::Parameter& parameter, const Op::Problem& p,
                         const std::vector<double>& rows) {
  Tensor tensor = guarded_tensor(parameter);
  const spec::Extents queries = query_extents(p);
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const bool by_token = p.softmax_in_layout == spec::StatisticsOrder::same_as_input;
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const spec::RowPosition place = queries.position(row);
    const std::int64_t first =
        by_token ? (queries.start(place.b) + place.s) * queries.heads + place.n : row;
    for (std::int64_t r = 0; r < spec::statistics_replicas; ++r)
      tensor.store(elements[at(first * spec::statistics_replicas + r)], rows[at(row)]);
  }
  return tensor;
}

Tensor restrided(const Tensor& tensor, const spec::Parameter& parameter) {
  if (tensor.strides == parameter.strides && tensor.offset == parameter.offset) return tensor;
  Tensor result = guarded_tensor(parameter);
  const auto from = spec::viewed_elements(tensor), to = spec::viewed_elements(result);
  for (std::size_t e = 0; e < from.size(); ++e) result.store(to[e], tensor.load(from[e]));
  return result;
}

std::vector<double> dense_rows(const Tensor& tensor, spec::Layout layout, const spec::Extents& e) {
  std::vector<double> rows(at(e.rows() * e.dim));
  const spec::HeadView view(tensor, layout, e);
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const spec::RowPosition place = e.position(row);
    view.read_row(place.b, place.n, place.s, {rows.data() + row * e.dim, at(e.dim)});
  }
  return rows;
}

}  // namespace

Trial trial_of(const Op::Problem& problem, const Op::Inputs& inputs) {
  return {.problem = problem,
          .rows = reference::operands_of<double>(problem, inputs),
          .atten_mask = inputs.atten_mask,
          .pse_shift = inputs.pse_shift,
          .drop_mask = inputs.drop_mask};
}

bool is_same_run(const Trial& a, const Trial& b) {
  const auto same = [](const std::optional<Tensor>& x, const std::optional<Tensor>& y) {
    return x.has_value() == y.has_value() && (!x || (x->shape == y->shape && x->bytes == y->bytes));
  };
  return a.problem == b.problem && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.rows.query == b.rows.query && a.rows.key == b.rows.key && a.rows.value == b.rows.value &&
         a.rows.dy == b.rows.dy && a.rows.softmax_max == b.rows.softmax_max &&
         a.rows.softmax_sum == b.rows.softmax_sum && a.rows.attention_in == b.rows.attention_in &&
         a.rows.query_rope == b.rows.query_rope && a.rows.key_rope == b.rows.key_rope &&
         same(a.atten_mask, b.atten_mask) && same(a.pse_shift, b.pse_shift) &&
         same(a.drop_mask, b.drop_mask);
}

bool offers(spec::FlashSurface surface, const Op::Problem& p) {
  const bool typed = p.pse_type != 1 || !p.q_start_idx.empty() || !p.kv_start_idx.empty();
  return spec::is_unpadding(surface) == (p.input_layout == spec::Layout::tnd) &&
         spec::has_rope(surface) == (p.head_dim_rope > 0) &&
         (!typed || spec::has_pse_type(surface)) &&
         (p.softmax_in_layout == spec::StatisticsOrder::packed ||
          spec::has_softmax_in_layout(surface));
}

spec::FlashSurface surface_of(const Op::Problem& p) {
  using Surface = spec::FlashSurface;
  if (p.input_layout != spec::Layout::tnd) return Surface::g2;
  if (p.head_dim_rope > 0) return Surface::u3;
  return p.softmax_in_layout == spec::StatisticsOrder::same_as_input ? Surface::u4 : Surface::u2;
}

Op::Inputs inputs_of(const Trial& t) {
  const Op::Problem& p = t.problem;
  const auto call =
      spec::call_of(p, surface_of(p), spec::Product::a2, t.inputs, t.outputs).parameters;
  const auto heads = [&](const spec::Parameter& parameter, const spec::Extents& extents,
                         const std::vector<double>& rows) {
    return head_tensor(parameter, p.input_layout, extents, rows);
  };
  Op::Inputs inputs;
  inputs.query = heads(call.query, query_extents(p), t.rows.query);
  inputs.key = heads(call.key, key_extents(p), t.rows.key);
  inputs.value = heads(call.value, value_extents(p), t.rows.value);
  inputs.dy = heads(call.dy, dy_extents(p), t.rows.dy);
  inputs.attention_in = heads(call.attention_in, dy_extents(p), t.rows.attention_in);
  inputs.softmax_max = statistics_tensor(call.softmax_max, p, t.rows.softmax_max);
  inputs.softmax_sum = statistics_tensor(call.softmax_sum, p, t.rows.softmax_sum);
  if (t.atten_mask) inputs.atten_mask = restrided(*t.atten_mask, call.atten_mask);
  if (t.pse_shift) inputs.pse_shift = restrided(*t.pse_shift, call.pse_shift);
  if (t.drop_mask) inputs.drop_mask = restrided(*t.drop_mask, call.drop_mask);
  if (p.head_dim_rope == 0) return inputs;
  inputs.query_rope = heads(call.query_rope, query_rope_extents(p), t.rows.query_rope);
  inputs.key_rope = heads(call.key_rope, key_rope_extents(p), t.rows.key_rope);
  return inputs;
}

Gradients gradients_of(const Op::Problem& p, const Op::Outputs& outputs) {
  Gradients g{.dq = dense_rows(outputs.dq, p.input_layout, query_extents(p)),
              .dk = dense_rows(outputs.dk, p.input_layout, key_extents(p)),
              .dv = dense_rows(outputs.dv, p.input_layout, value_extents(p)),
              .dq_rope = {},
              .dk_rope = {}};
  if (p.head_dim_rope == 0) return g;
  g.dq_rope = dense_rows(outputs.dq_rope.value(), p.input_layout, query_rope_extents(p));
  g.dk_rope = dense_rows(outputs.dk_rope.value(), p.input_layout, key_rope_extents(p));
  return g;
}

Gradients zero_gradients(const Op::Problem& p) {
  Gradients g;
  for (const GradientTensor& tensor : gradient_tensors) {
    const spec::Extents e = tensor.extents(p);
    (g.*tensor.member).assign(at(e.rows() * e.dim), 0.0);
  }
  return g;
}

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

/// Moves what the side inputs of `base` say of every pair to where `query` and `key` send the pair.
class PairMover {
 public:
  PairMover(const Trial& base, const Trial& moved, const Origin& query, const Origin& key)
      : base_(base), moved_(moved), query_(query), key_(key) {}

  std::optional<Tensor> mask() const {
    if (!base_.atten_mask) return std::nullopt;
    if (is_compressed(moved_.problem.atten_mask)) return single_slice(*base_.atten_mask);
    const reference::Mask old(base_.problem, pointer(base_.atten_mask));
    return written_mask(moved_.problem, [&](auto b, auto n, auto i, auto j) {
      const spec::RowPosition q = query_({b, n, i});
      return old.keeps(q.b, q.n, q.s, old_key(b, n, j));
    });
  }

  std::optional<Tensor> pse() const {
    if (!base_.pse_shift) return std::nullopt;
    const Op::Problem& p = moved_.problem;
    Tensor pse = spec::contiguous_tensor(pse_dtype(p), pse_shape(p));
    if (p.pse_shift == PseShape::slopes_bn) {
      const bool of_batch = base_.pse_shift->shape.size() == 2;
      for (std::int64_t k = 0; k < p.batch * p.heads_q; ++k) {
        const spec::RowPosition q = query_({k / p.heads_q, k % p.heads_q, 0});
        const std::int64_t old = of_batch ? q.b * base_.problem.heads_q + q.n : q.n;
        pse.store(k, base_.pse_shift->load(spec::viewed_elements(*base_.pse_shift)[at(old)]));
      }
      return pse;
    }
    const reference::PositionBias old(base_.problem, pointer(base_.pse_shift));
    visit_scores(p, [&](auto b, auto n, auto i, auto j, auto k) {
      const spec::RowPosition q = query_({b, n, i});
      pse.store(p.pse_shift == PseShape::packed_bnss ? k : element_of_pair(p, b, n, i, j),
                old.value(q.b, q.n, q.s, old_key(b, n, j)));
    });
    return pse;
  }

  std::optional<Tensor> drop_mask() const {
    if (!base_.drop_mask) return std::nullopt;
    if (!base_.problem.has_dropout()) return base_.drop_mask;
    const reference::Dropout old(base_.problem, pointer(base_.drop_mask));
    Tensor bits = spec::contiguous_tensor(spec::DType::uint8, drop_mask_shape(moved_.problem));
    visit_scores(moved_.problem, [&](auto b, auto n, auto i, auto j, auto k) {
      const spec::RowPosition q = query_({b, n, i});
      if (old.keeps(q.b, q.n, q.s, old_key(b, n, j)))
        bits.bytes[at(k / 8)] |= std::byte{1} << static_cast<int>(k % 8);
    });
    return bits;
  }

 private:
  std::int64_t old_key(std::int64_t b, std::int64_t n, std::int64_t j) const {
    return key_({b, n / moved_.problem.group(), j}).s;
  }

  const Trial& base_;
  const Trial& moved_;
  const Origin& query_;
  const Origin& key_;
};

/// Rows that had no key at all and now have masked ones have the statistics of every masked row.
void meet_masked_keys(const Op::Problem& p, reference::Operands<double>& rows) {
  const spec::Extents queries = query_extents(p);
  for (std::size_t row = 0; row < rows.softmax_sum.size(); ++row) {
    const std::int64_t b = queries.position(static_cast<std::int64_t>(row)).b;
    if (rows.softmax_sum[row] != 0 || p.length_kv(b) == 0) continue;
    rows.softmax_max[row] = dead_statistics.max;
    rows.softmax_sum[row] = dead_statistics.sum;
  }
}

/// Whether all sequences and heads have one written mask.
bool is_shared(spec::MaskShape shape) {
  return shape == spec::MaskShape::ss || shape == spec::MaskShape::one_one_ss;
}

}  // namespace

Trial rearranged(const Trial& base, const Op::Problem& problem, const Origin& query,
                 const Origin& key) {
  Trial moved{.problem = problem, .rows = {}, .atten_mask = {}, .pse_shift = {}, .drop_mask = {}};
  Op::Problem& p = moved.problem;
  const bool is_packed = p.input_layout == spec::Layout::tnd;
  const bool in_one_axis = base.problem.pse_shift == PseShape::packed_bn1s ||
                           base.problem.pse_shift == PseShape::packed_bnss;
  if (is_compressed(p.atten_mask)) p.atten_mask = spec::MaskShape::compressed;
  if (is_written_out(p.atten_mask))
    p.atten_mask = is_packed && is_shared(base.problem.atten_mask) ? spec::MaskShape::ss
                                                                   : spec::MaskShape::bnss;
  if (p.pse_shift != PseShape::absent)
    p.pse_shift = p.pse_type >= 2            ? PseShape::slopes_bn
                  : is_packed && in_one_axis ? PseShape::packed_bnss
                                             : PseShape::bnss;
  const auto queries = [&](const std::vector<double>& rows, spec::Extents to) {
    return gather(rows, query_extents(base.problem), to, query);
  };
  const auto keys = [&](const std::vector<double>& rows, spec::Extents to) {
    return gather(rows, key_extents(base.problem), to, key);
  };
  spec::Extents one = query_extents(p);
  one.dim = 1;
  moved.rows = {.query = queries(base.rows.query, query_extents(p)),
                .key = keys(base.rows.key, key_extents(p)),
                .value = keys(base.rows.value, value_extents(p)),
                .dy = queries(base.rows.dy, dy_extents(p)),
                .softmax_max = queries(base.rows.softmax_max, one),
                .softmax_sum = queries(base.rows.softmax_sum, one),
                .attention_in = queries(base.rows.attention_in, dy_extents(p))};
  if (p.head_dim_rope > 0) {
    moved.rows.query_rope = queries(base.rows.query_rope, query_rope_extents(p));
    moved.rows.key_rope = keys(base.rows.key_rope, key_rope_extents(p));
  }
  meet_masked_keys(p, moved.rows);
  const PairMover mover(base, moved, query, key);
  moved.atten_mask = mover.mask();
  moved.pse_shift = mover.pse();
  moved.drop_mask = mover.drop_mask();
  return moved;
}

}  // namespace assay::conformance::flash

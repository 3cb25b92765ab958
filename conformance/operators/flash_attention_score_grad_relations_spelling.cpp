#include <algorithm>

#include "assay/reference/mask.hpp"
#include "operators/flash_attention_score_grad_relation_problems.hpp"
#include "operators/flash_attention_score_grad_relations.hpp"

namespace assay::conformance::flash {
namespace {

using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;

Gradients of_first(const std::vector<Gradients>& outputs) { return outputs[0]; }

std::vector<Op::Problem> windowed() {
  std::vector<Op::Problem> problems;
  for (const std::int64_t mode : {2, 3, 4, 6}) {
    Op::Problem p = with_compressed_mask(padded_problem(mode % 2 == 0 ? DType::bf16 : DType::fp32), mode);
    if (mode == 4) p.pre_tokens = 20, p.next_tokens = 5;
    if (mode == 6) p.prefix = {17, 40};
    problems.push_back(p);
  }
  problems.push_back(with_mask(padded_problem(DType::fp16), 0, MaskShape::bnss));
  problems.back().pre_tokens = 25, problems.back().next_tokens = 9;
  return problems;
}

Experiment write_mask(const Trial& base) {
  Trial written = base;
  const reference::Mask mask(base.problem, &*base.atten_mask);
  written.problem.sparse_mode = 1, written.problem.atten_mask = MaskShape::bnss;
  written.problem.pre_tokens = written.problem.next_tokens = spec::unbounded_tokens;
  written.problem.prefix.clear();
  written.atten_mask = written_mask(
      written.problem, [&](auto b, auto n, auto i, auto j) { return mask.keeps(b, n, i, j); });
  return {.base = base, .variants = {written}, .combine = of_first};
}

std::vector<Op::Problem> undropped() {
  std::vector<Op::Problem> problems = {padded_problem(DType::bf16), ragged_problem(DType::fp32)};
  for (Op::Problem& p : problems) p.drop_mask = spec::DropMask::exact;
  return problems;
}

Experiment drop_the_drop_mask(const Trial& base) {
  Trial bare = base;
  bare.problem.drop_mask = spec::DropMask::absent;
  bare.drop_mask.reset();
  return {.base = base, .variants = {bare}, .combine = of_first};
}

/// scale_value is a power of two: the scaled bias is exact.
std::vector<Op::Problem> added_first() {
  return {with_pse(padded_problem(DType::bf16), 1, PseShape::bn1s),
          with_pse(padded_problem(DType::fp32), 1, PseShape::one_nss)};
}

Experiment scale_bias(const Trial& base) {
  Trial scaled = base;
  scaled.problem.pse_type = 0;
  for (const std::int64_t e : spec::viewed_elements(*base.pse_shift))
    scaled.pse_shift->store(e, base.problem.scale_value * base.pse_shift->load(e));
  return {.base = base, .variants = {scaled}, .combine = of_first};
}

/// Rows of `values` with `dim` channels, the missing ones 0, or cut to `dim`.
std::vector<double> with_channels(const std::vector<double>& values, std::int64_t own,
                                  std::int64_t dim) {
  const auto rows = static_cast<std::int64_t>(values.size()) / own;
  std::vector<double> result(static_cast<std::size_t>(rows * dim), 0.0);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t d = 0; d < std::min(own, dim); ++d)
      result[static_cast<std::size_t>(row * dim + d)] = values[static_cast<std::size_t>(row * own + d)];
  return result;
}

std::vector<Op::Problem> narrow() {
  return {padded_problem(DType::bf16), with_dropout(padded_problem(DType::fp32), 0.5),
          with_compressed_mask(ragged_problem(DType::fp16), 3)};
}

Experiment pad_channels(const Trial& base) {
  const std::int64_t dim = base.problem.head_dim, dim_v = base.problem.head_dim_v;
  Trial padded = base;
  const std::int64_t wide = padded.problem.head_dim = dim + 9;
  const std::int64_t wide_v = padded.problem.head_dim_v = dim_v + 5;
  for (auto* rows : {&padded.rows.query, &padded.rows.key}) *rows = with_channels(*rows, dim, wide);
  for (auto* rows : {&padded.rows.value, &padded.rows.dy, &padded.rows.attention_in})
    *rows = with_channels(*rows, dim_v, wide_v);
  return {.base = base, .variants = {padded},
          .combine = [=](const std::vector<Gradients>& outputs) {
            return Gradients{.dq = with_channels(outputs[0].dq, wide, dim),
                             .dk = with_channels(outputs[0].dk, wide, dim),
                             .dv = with_channels(outputs[0].dv, wide_v, dim_v),
                             .dq_rope = {}, .dk_rope = {}};
          }};
}

std::vector<Op::Problem> roped() {
  Op::Problem p = with_compressed_mask(ragged_problem(DType::bf16), 3), q = p;
  p.head_dim_rope = 8;
  q.head_dim_rope = 24, q.sparse_mode = 2;
  return {p, q};
}

/// [a | b] of rows.
std::vector<double> joined(const std::vector<double>& a, std::int64_t dim_a,
                           const std::vector<double>& b, std::int64_t dim_b) {
  std::vector<double> result;
  for (std::int64_t row = 0; row * dim_a < static_cast<std::int64_t>(a.size()); ++row) {
    result.insert(result.end(), a.begin() + row * dim_a, a.begin() + (row + 1) * dim_a);
    result.insert(result.end(), b.begin() + row * dim_b, b.begin() + (row + 1) * dim_b);
  }
  return result;
}

/// Channels [first, first + dim) of rows of `own` channels.
std::vector<double> channels(const std::vector<double>& values, std::int64_t own,
                             std::int64_t first, std::int64_t dim) {
  std::vector<double> result;
  for (std::int64_t row = 0; row * own < static_cast<std::int64_t>(values.size()); ++row)
    result.insert(result.end(), values.begin() + row * own + first,
                  values.begin() + row * own + first + dim);
  return result;
}

Experiment concatenate_rope(const Trial& base) {
  const std::int64_t dim = base.problem.head_dim, rope = base.problem.head_dim_rope;
  Trial wide = base;
  wide.problem.head_dim = dim + rope, wide.problem.head_dim_rope = 0;
  wide.rows.query = joined(base.rows.query, dim, base.rows.query_rope, rope);
  wide.rows.key = joined(base.rows.key, dim, base.rows.key_rope, rope);
  wide.rows.query_rope.clear(), wide.rows.key_rope.clear();
  return {.base = base, .variants = {wide}, .combine = [=](const std::vector<Gradients>& outputs) {
            const Gradients& g = outputs[0];
            return Gradients{.dq = channels(g.dq, dim + rope, 0, dim),
                             .dk = channels(g.dk, dim + rope, 0, dim),
                             .dv = g.dv,
                             .dq_rope = channels(g.dq, dim + rope, dim, rope),
                             .dk_rope = channels(g.dk, dim + rope, dim, rope)};
          }};
}

/// Every layout against BNSD, user masks in the one shape that all of them have.
std::vector<Op::Problem> laid_out() {
  std::vector<Op::Problem> problems;
  for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::tnd}) {
    Op::Problem p = with_mask(padded_problem(layout == Layout::sbh ? DType::fp32 : DType::bf16), 1,
                              MaskShape::ss);
    p.input_layout = layout;
    problems.push_back(layout == Layout::bsnd ? with_dropout(p, 0.5) : p);
  }
  return problems;
}

Experiment lay_out(const Trial& base) {
  Trial other = base;
  other.problem.input_layout = Layout::bnsd;
  return {.base = base, .variants = {other}, .combine = of_first};
}

std::vector<Op::Problem> viewed() {
  std::vector<Op::Problem> problems = laid_out();
  problems.push_back(roped().front());
  problems.push_back(with_pse(padded_problem(DType::fp16), 1, PseShape::bnss));
  return problems;
}

Experiment stride(const Trial& base) {
  Trial padded = base;
  padded.inputs = spec::Striding::padded, padded.outputs = spec::Striding::transposed;
  return {.base = base, .variants = {padded}, .combine = of_first};
}

std::vector<Op::Problem> ordered() {
  Op::Problem p = ragged_problem(DType::bf16);
  return {p, with_compressed_mask(p, 2)};
}

Experiment order_statistics(const Trial& base) {
  Trial other = base;
  other.problem.softmax_in_layout = spec::StatisticsOrder::same_as_input;
  return {.base = base, .variants = {other}, .combine = of_first};
}

}  // namespace

std::span<const Relation> spelling_relations() {
  static constexpr Relation relations[] = {
      {"write_mask", "Modes 2, 3, 4, 6 and 0 are mode 1 with the mask written out.",
       Agreement::bound, windowed, write_mask},
      {"unused_drop_mask", "With keepProb 1 a drop mask changes nothing.", Agreement::bits,
       undropped, drop_the_drop_mask},
      {"scale_bias", "pseType 1 is pseType 0 with the scaled bias.", Agreement::bound, added_first,
       scale_bias},
      {"pad_channels", "Channels of zeros change nothing.", Agreement::bound, narrow, pad_channels},
      {"concatenate_rope", "The rope part is more channels of query and key.", Agreement::bound,
       roped, concatenate_rope},
      {"layouts", "Every layout has the numbers of BNSD.", Agreement::bound, laid_out, lay_out},
      {"views", "Strided views have the numbers of contiguous tensors.", Agreement::bits, viewed,
       stride},
      {"statistics_order", "The memory order of the statistics changes nothing.", Agreement::bits,
       ordered, order_statistics}};
  return relations;
}

}  // namespace assay::conformance::flash

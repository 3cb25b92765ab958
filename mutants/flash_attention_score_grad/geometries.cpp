#include "flash_attention_score_grad/geometries.hpp"

#include <algorithm>
#include <iterator>

namespace assay::mutants {
namespace {

using spec::DropMask;
using spec::DType;
using spec::FlashEntryPoint;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::Striding;
using Problem = spec::FlashAttentionScoreGrad::Problem;
using Lengths = std::vector<std::int64_t>;

/// A problem with grouped heads, incomplete tiles, and a scale that is negative and not
/// 1/sqrt(head_dim).
Problem grouped() {
  return {.input_layout = Layout::bnsd,
          .dtype = DType::bf16,
          .batch = 2,
          .heads_q = 4,
          .heads_kv = 2,
          .seq_q = 37,
          .seq_kv = 45,
          .head_dim = 24,
          .head_dim_v = 24,
          .scale_value = -0.25};
}

Problem altered(Problem problem, void (*alter)(Problem& problem)) {
  alter(problem);
  return problem;
}

/// Returns geometries (problem shapes and memory layouts) with padded layouts, without position
/// bias and dropout.
std::vector<Geometry> plain() {
  return {
      {.problem = grouped()},
      {.problem = altered(grouped(),
                          [](Problem& p) {
                            p.input_layout = Layout::bsnd;
                            p.sparse_mode = 2;
                            p.atten_mask = MaskShape::compressed_b_one_ss;
                            p.scale_value = 0.125;
                          }),
       .inputs = Striding::padded,
       .outputs = Striding::padded,
       .dtypes = {DType::bf16, DType::fp32}},
      {.problem = altered(grouped(),
                          [](Problem& p) {
                            p.input_layout = Layout::sbh;
                            p.sparse_mode = 3;
                            p.atten_mask = MaskShape::compressed;
                            p.seq_q = 50, p.seq_kv = 41, p.scale_value = 0.5;
                          }),
       .outputs = Striding::transposed,
       .dtypes = {DType::fp16}},
      {.problem = altered(grouped(),
                          [](Problem& p) {
                            p.input_layout = Layout::bsh;
                            p.sparse_mode = 1;
                            p.atten_mask = MaskShape::bnss;
                            p.head_dim = 20, p.head_dim_v = 12, p.scale_value = 0.5;
                          }),
       .inputs = Striding::transposed,
       .outputs = Striding::padded,
       .mask = "dead_rows",
       .dtypes = {DType::bf16, DType::fp32}},
      {.problem = altered(grouped(),
                          [](Problem& p) {
                            p.input_layout = Layout::bsnd;
                            p.atten_mask = MaskShape::b_one_ss;
                            p.mask_dtype = DType::uint8;
                            p.heads_kv = 1;
                            p.head_dim_v = 20;
                          }),
       .inputs = Striding::padded,
       .outputs = Striding::transposed,
       .dtypes = {DType::fp16, DType::fp32}},
      {.problem = altered(grouped(),
                          [](Problem& p) {
                            p.sparse_mode = 4;
                            p.atten_mask = MaskShape::compressed;
                            p.pre_tokens = 9, p.next_tokens = 4;
                            p.batch = 1, p.scale_value = 0.5;
                          }),
       .dtypes = {DType::bf16, DType::fp16}},
      {.problem = altered(grouped(),
                          [](Problem& p) {
                            p.sparse_mode = 3;
                            p.atten_mask = MaskShape::compressed;
                            p.batch = 1, p.heads_q = 2, p.heads_kv = 2;
                            p.scale_value = 1.0;
                          }),
       .inputs = Striding::transposed,
       .dtypes = {DType::bf16, DType::fp32}},
  };
}

/// A problem with shorter sequences of equal length, for features that do not need long sequences.
Problem small() {
  Problem p = grouped();
  p.seq_q = 22, p.seq_kv = 17, p.head_dim = p.head_dim_v = 16;
  p.scale_value = 0.5;
  return p;
}

Problem with_slopes(Problem p, std::int64_t pse_type, PseShape shape) {
  p.pse_type = pse_type;
  p.pse_shift = shape;
  p.seq_q = p.seq_kv = 19;
  return p;
}

std::vector<Geometry> padded_features() {
  return {
      {.problem = altered(small(),
                          [](Problem& p) {
                            p.pse_type = 0, p.pse_shift = PseShape::bnss;
                            p.sparse_mode = 6, p.prefix = {5, 11};
                            p.atten_mask = MaskShape::compressed;
                            p.keep_prob = 0.5, p.drop_mask = DropMask::granules;
                          }),
       .entry_point = FlashEntryPoint::g2,
       .outputs = Striding::padded,
       .dtypes = {DType::bf16, DType::fp32}},
      {.problem = altered(small(),
                          [](Problem& p) {
                            p.input_layout = Layout::bsnd;
                            p.seq_q = 18, p.seq_kv = 21;
                            p.pse_shift = PseShape::bn1s;
                            p.sparse_mode = 5, p.prefix = {6, 15};
                            p.atten_mask = MaskShape::b_one_ss;
                          }),
       .inputs = Striding::padded,
       .dtypes = {DType::fp16}},
      {.problem = altered(small(),
                          [](Problem& p) {
                            p.input_layout = Layout::bsh;
                            p.pse_shift = PseShape::one_nss;
                            p.keep_prob = 0.25, p.drop_mask = DropMask::exact;
                          }),
       .entry_point = FlashEntryPoint::g2,
       .inputs = Striding::transposed,
       .dtypes = {DType::bf16}},
      {.problem = altered(with_slopes(small(), 2, PseShape::slopes_n),
                          [](Problem& p) { p.q_start_idx = {7}; }),
       .entry_point = FlashEntryPoint::g2,
       .dtypes = {DType::fp16}},
      {.problem = altered(with_slopes(small(), 3, PseShape::slopes_bn),
                          [](Problem& p) {
                            p.q_start_idx = {6}, p.kv_start_idx = {2};
                            p.drop_mask = DropMask::exact;
                          }),
       .entry_point = FlashEntryPoint::g2,
       .dtypes = {DType::bf16, DType::fp32}},
      {.problem = altered(small(),
                          [](Problem& p) {
                            p.batch = 1, p.heads_q = 1, p.heads_kv = 1;
                            p.seq_q = 3, p.seq_kv = spec::compressed_mask_edge + 5;
                            p.sparse_mode = 3, p.atten_mask = MaskShape::compressed;
                          }),
       .dtypes = {DType::fp16}},
  };
}

Problem packed(const Lengths& lengths_q, const Lengths& lengths_kv, void (*alter)(Problem&)) {
  Problem p = small();
  p.input_layout = Layout::tnd;
  p.batch = static_cast<std::int64_t>(lengths_q.size());
  p.lengths_q = lengths_q, p.lengths_kv = lengths_kv;
  p.seq_q = std::ranges::max(lengths_q), p.seq_kv = std::ranges::max(lengths_kv);
  alter(p);
  return p;
}

std::vector<Geometry> packed_sequences() {
  return {
      {.problem = packed({21, 0, 13, 9}, {18, 6, 26, 0},
                         [](Problem& p) { p.keep_prob = 0.5, p.drop_mask = DropMask::exact; }),
       .entry_point = FlashEntryPoint::u1,
       .inputs = Striding::padded,
       .outputs = Striding::transposed,
       .dtypes = {DType::bf16, DType::fp32}},
      {.problem = packed({9, 15, 20}, {17, 15, 26},
                         [](Problem& p) {
                           p.sparse_mode = 3, p.atten_mask = MaskShape::compressed;
                           p.softmax_in_layout = spec::SoftmaxInLayout::same_as_input;
                           p.statistics_order = spec::StatisticsOrder::tokens_first;
                           p.keep_prob = 0.25, p.drop_mask = DropMask::granules;
                         }),
       .entry_point = FlashEntryPoint::u4,
       .dtypes = {DType::fp16}},
      {.problem = packed({15}, {26},
                         [](Problem& p) {
                           p.heads_q = 2, p.heads_kv = 1;
                           p.sparse_mode = 3, p.atten_mask = MaskShape::compressed_bnss;
                         }),
       .entry_point = FlashEntryPoint::u1,
       .inputs = Striding::padded,
       .dtypes = {DType::fp16}},
      {.problem = packed({14, 14}, {17, 17},
                         [](Problem& p) { p.sparse_mode = 1, p.atten_mask = MaskShape::bnss; }),
       .entry_point = FlashEntryPoint::u2,
       .inputs = Striding::transposed,
       .dtypes = {DType::bf16}},
      {.problem = packed({13, 21}, {17, 11},
                         [](Problem& p) {
                           p.sparse_mode = 1, p.atten_mask = MaskShape::ss;
                           p.softmax_in_layout = spec::SoftmaxInLayout::same_as_input;
                           p.statistics_order = spec::StatisticsOrder::tokens_first;
                         }),
       .entry_point = FlashEntryPoint::u4,
       .inputs = Striding::padded,
       .dtypes = {DType::bf16}},
      {.problem = packed({0, 8, 11, 0}, {6, 12, 15, 4},
                         [](Problem& p) {
                           p.sparse_mode = 8, p.atten_mask = MaskShape::compressed;
                           p.pre_tokens = 12, p.next_tokens = -1;
                         }),
       .entry_point = FlashEntryPoint::u1,
       .dtypes = {DType::fp32}},
      {.problem = packed({9, 13, 10, 0}, {12, 15, 14, 3},
                         [](Problem& p) {
                           p.sparse_mode = 7, p.atten_mask = MaskShape::compressed;
                           p.pre_tokens = 14, p.next_tokens = -3;
                           p.head_dim = 24, p.head_dim_v = 16, p.head_dim_rope = 16;
                         }),
       .entry_point = FlashEntryPoint::u3,
       .inputs = Striding::padded,
       .outputs = Striding::padded,
       .dtypes = {DType::bf16}},
  };
}

std::vector<Geometry> packed_biases() {
  return {
      {.problem = packed({9, 14, 11}, {15, 8, 13},
                         [](Problem& p) {
                           p.sparse_mode = 3, p.atten_mask = MaskShape::compressed;
                           p.pse_shift = PseShape::bnss;
                         }),
       .entry_point = FlashEntryPoint::u1,
       .inputs = Striding::transposed,
       .dtypes = {DType::bf16}},
      {.problem = packed({9, 14}, {15, 8},
                         [](Problem& p) { p.pse_type = 0, p.pse_shift = PseShape::one_nss; }),
       .entry_point = FlashEntryPoint::u2,
       .dtypes = {DType::fp16}},
      {.problem = packed({9, 14}, {15, 8}, [](Problem& p) { p.pse_shift = PseShape::bn1s; }),
       .entry_point = FlashEntryPoint::u4,
       .inputs = Striding::padded,
       .dtypes = {DType::fp32}},
      {.problem = packed({10, 14, 12}, {16, 14, 12},
                         [](Problem& p) {
                           p.sparse_mode = 8, p.atten_mask = MaskShape::compressed;
                           p.pre_tokens = 16, p.next_tokens = -2;
                           p.pse_type = 2, p.pse_shift = PseShape::slopes_bn;
                           p.q_start_idx = {9}, p.kv_start_idx = {3};
                         }),
       .entry_point = FlashEntryPoint::u2,
       .dtypes = {DType::bf16}},
      {.problem = packed({11, 7, 19}, {11, 7, 19},
                         [](Problem& p) {
                           p.sparse_mode = 3, p.atten_mask = MaskShape::compressed;
                           p.pse_type = 0, p.pse_shift = PseShape::one_nhs;
                         }),
       .entry_point = FlashEntryPoint::u2,
       .dtypes = {DType::fp16}},
      {.problem = packed({12, 18}, {12, 18},
                         [](Problem& p) {
                           p.sparse_mode = 2, p.atten_mask = MaskShape::compressed;
                           p.pse_shift = PseShape::bnhs;
                         }),
       .entry_point = FlashEntryPoint::u1,
       .dtypes = {DType::bf16}},
      {.problem = packed({9, 14}, {13, 12},
                         [](Problem& p) {
                           p.sparse_mode = 6, p.atten_mask = MaskShape::compressed;
                           p.prefix = {7, 3};
                           p.pse_shift = PseShape::packed_bnss;
                           p.keep_prob = 0.5, p.drop_mask = DropMask::exact;
                         }),
       .entry_point = FlashEntryPoint::u1,
       .dtypes = {DType::fp32}},
      {.problem = packed({9, 14}, {15, 11},
                         [](Problem& p) { p.pse_type = 0, p.pse_shift = PseShape::packed_bn1s; }),
       .entry_point = FlashEntryPoint::u2,
       .dtypes = {DType::bf16}},
  };
}

/// Returns strides with gaps for all tensors except query.
spec::Strides around_query() {
  spec::Strides strides = Striding::padded;
  strides.set("query", Striding::contiguous);
  return strides;
}

/// Returns the geometries (problem shapes and memory layouts) with unusual strides or padding:
/// tensors with different strides, tensors that span more elements than 31 bits can count, and
/// tokens after the last sequence.
std::vector<Geometry> strides_and_padding() {
  const auto square = [](Problem& p) { p.heads_kv = p.heads_q, p.seq_kv = p.seq_q; };
  return {
      {.problem = altered(small(), square),
       .inputs = Striding::mixed,
       .outputs = Striding::mixed,
       .dtypes = {DType::bf16, DType::fp32}},
      {.problem = altered(small(), square), .inputs = around_query(), .dtypes = {DType::fp16}},
      {.problem = altered(small(), [](Problem& p) { p.seq_q = 5, p.seq_kv = 7; }),
       .inputs = Striding::far,
       .outputs = Striding::far,
       .dtypes = {DType::fp16}},
      {.problem = packed({9, 14}, {15, 8}, [](Problem& p) { p.padding_q = 3, p.padding_kv = 5; }),
       .entry_point = FlashEntryPoint::u1,
       .dtypes = {DType::bf16, DType::fp32}},
  };
}

/// Returns geometries (problem shapes and memory layouts) with distances that do not fit in 16
/// bits. Keep this function last in the list: the data of a geometry depend on its index in the
/// list.
std::vector<Geometry> far_distances() {
  return {{.problem = altered(with_slopes(small(), 2, PseShape::slopes_n),
                              [](Problem& p) { p.q_start_idx = {40'001}, p.kv_start_idx = {2}; }),
           .entry_point = FlashEntryPoint::g2,
           .dtypes = {DType::bf16}}};
}

}  // namespace

std::vector<Geometry> geometries() {
  std::vector<Geometry> all = plain();
  for (const auto& more : {padded_features(), packed_sequences(), packed_biases(),
                           strides_and_padding(), far_distances()})
    std::ranges::copy(more, std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants

#include "operators/flash_attention_score_grad/limits.hpp"

#include <algorithm>
#include <cmath>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "operators/flash_attention_score_grad/memory.hpp"
#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;

template <spec::Spelled Enum>
std::string text(Enum value) {
  return std::string(spec::to_string(value));
}
std::string of_entry_point(const Case<Op>& c) { return " with entry point " + text(c.entry_point); }

/// Returns "add --entry_point=u1 (or u2, u3, u4)", with the entry points that accept the value.
std::string try_entry_points(bool (*takes)(spec::FlashEntryPoint)) {
  std::string first, others;
  for (const auto& [entry_point, name] : spec::spellings_of<spec::FlashEntryPoint>.entries) {
    if (!takes(entry_point)) continue;
    if (first.empty())
      first = name;
    else
      others += (others.empty() ? " (or " : ", ") + std::string(name);
  }
  return "add --entry_point=" + first + others + (others.empty() ? "" : ")");
}

void require_types(const Op::Problem& p) {
  if (!spec::is_fp16_bf16_fp32(p.dtype)) refuse("dtype", text(p.dtype), "fp16, bf16, fp32");
  if (p.mask_dtype != DType::boolean && p.mask_dtype != DType::uint8)
    refuse("mask_dtype", text(p.mask_dtype), "bool, uint8");
  if (p.slope_dtype != DType::fp32 && p.slope_dtype != p.dtype)
    refuse("slope_dtype", text(p.slope_dtype), "fp32, or dtype, which is " + text(p.dtype));
}

/// The smallest accepted keep_prob. With a smaller one no random dropout bit is ever set, and a bit
/// that a pattern sets explicitly multiplies its score by a factor so large that kernels overflow
/// fp32.
constexpr double least_keep_prob = 0x1p-32;

/// Checks scale_value and keep_prob as kernels use them: rounded to float.
void require_factors(const Op::Problem& p) {
  if (!std::isfinite(static_cast<float>(p.scale_value)))
    refuse("scale_value", number_text(p.scale_value), "a number that float can hold");
  const auto keep_prob = static_cast<float>(p.keep_prob);
  if (p.keep_prob != 1 && !(keep_prob >= least_keep_prob && keep_prob < 1))
    refuse("keep_prob", number_text(p.keep_prob),
           "1, or what float rounds to at least 2^-32 and less than 1");
  if (p.has_dropout() && p.drop_mask == spec::DropMask::absent)
    refuse_alone("keep_prob", number_text(p.keep_prob), "needs a drop mask",
                 "add --drop_mask=exact or --drop_mask=granules");
}

/// Checks the fields that only some entry points have.
void require_parameters_of_entry_point(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const bool packed = spec::is_unpadding(c.entry_point);
  if (packed != is_packed(p.input_layout))
    refuse("layout", text(p.input_layout),
           (packed ? "TND" : "BSH, SBH, BSND, BNSD") + of_entry_point(c),
           packed ? "add --layout=TND, or --entry_point=g1" : try_entry_points(spec::is_unpadding));
  const bool rope = spec::has_rope(c.entry_point);
  if (rope != (p.head_dim_rope > 0))
    refuse("head_dim_rope", std::to_string(p.head_dim_rope),
           (rope ? "1 to 768" : "0") + of_entry_point(c),
           rope ? "add --head_dim_rope=8 --atten_mask=SS, or use --entry_point=u1"
                : try_entry_points(spec::has_rope) + " --atten_mask=SS");
  if (!spec::has_softmax_in_layout(c.entry_point) &&
      p.softmax_in_layout != spec::SoftmaxInLayout::empty)
    refuse("softmax_in_layout", text(p.softmax_in_layout), "empty" + of_entry_point(c),
           try_entry_points(spec::has_softmax_in_layout));
  if (!packed && p.statistics_order != spec::StatisticsOrder::heads_first)
    refuse("statistics_order", text(p.statistics_order),
           "heads_first with layout " + text(p.input_layout), "use --layout=TND");
  if (spec::has_pse_type(c.entry_point)) return;
  const std::string next = try_entry_points(spec::has_pse_type);
  if (p.pse_type != 1)
    refuse("pse_type", std::to_string(p.pse_type), "1" + of_entry_point(c), next);
  if (!p.q_start_idx.empty())
    refuse("q_start_idx", list_text(p.q_start_idx), "an empty list" + of_entry_point(c), next);
  if (!p.kv_start_idx.empty())
    refuse("kv_start_idx", list_text(p.kv_start_idx), "an empty list" + of_entry_point(c), next);
}

void require_heads(const Op::Problem& p) {
  if (p.heads_q % p.heads_kv != 0)
    refuse("heads_kv", std::to_string(p.heads_kv),
           "divisors of heads_q, which is " + std::to_string(p.heads_q));
  if (p.head_dim_v > p.head_dim)
    refuse("head_dim_v", std::to_string(p.head_dim_v),
           "1 to head_dim, which is " + std::to_string(p.head_dim),
           "add --head_dim_v=" + std::to_string(p.head_dim));
}

/// Returns the mask shapes that sparse mode and layout accept, "none" first.
std::vector<MaskShape> mask_shapes(const Op::Problem& p) {
  using enum MaskShape;
  const bool user_mask = p.sparse_mode <= 1 || p.sparse_mode == 5;
  if (!user_mask)
    return {absent, compressed, compressed_one_one_ss, compressed_b_one_ss, compressed_bnss};
  // Only a mask with one slice per sequence can contain one prefix per sequence.
  if (p.sparse_mode == 5 && p.batch != 1 && !p.prefix.empty()) return {absent, b_one_ss, bnss};
  return {absent, ss, one_one_ss, b_one_ss, bnss};
}

/// Returns the shapes of a position bias that layout and type accept, "none" first.
std::vector<PseShape> pse_shapes(const Op::Problem& p) {
  using enum PseShape;
  if (p.pse_type >= 2) return {absent, slopes_n, slopes_bn};
  std::vector<PseShape> shapes = {absent, bnss, bn1s, one_nss};
  const bool packed = is_packed(p.input_layout), square = p.seq_q == p.seq_kv;
  // A compressed bias contains the last rows of a square bias; in packed layouts, of the bias of
  // the longest sequence. But if there are just 1024 queries, 1024 rows are the whole bias.
  if (packed ? square || p.seq_q != spec::compressed_pse_rows
             : square && p.seq_q >= spec::compressed_pse_rows)
    shapes.insert(shapes.end(), {bnhs, one_nhs});
  if (packed) shapes.insert(shapes.end(), {packed_bn1s, packed_bnss});
  return shapes;
}

template <spec::Spelled Enum>
void require_among(std::string_view field, Enum value, const std::vector<Enum>& accepted,
                   const std::string& condition) {
  if (std::ranges::find(accepted, value) != accepted.end()) return;
  std::string list;
  for (const Enum choice : accepted) list += (list.empty() ? "" : ", ") + text(choice);
  refuse(field, text(value), list + condition);
}

void require_mask(const Op::Problem& p) {
  std::string condition = " with sparse_mode " + std::to_string(p.sparse_mode);
  if (is_packed(p.input_layout)) condition += " and layout TND";
  if (p.sparse_mode == 5 && p.batch != 1 && !p.prefix.empty())
    condition += " and prefixes of batch " + std::to_string(p.batch);
  require_among("atten_mask", p.atten_mask, mask_shapes(p), condition);
  // In mode 5 without prefixes the mask alone defines the visible keys.
  const bool reads_prefix = (p.sparse_mode == 5 && !p.prefix.empty()) || p.sparse_mode == 6;
  if (!reads_prefix || p.atten_mask == MaskShape::absent) return;
  if (p.prefix.empty())
    refuse_alone("sparse_mode", std::to_string(p.sparse_mode), "needs a prefix of each sequence",
                 "add --prefix=" +
                     list_text(std::vector<std::int64_t>(static_cast<std::size_t>(p.batch), 1)) +
                     ", as many numbers as batch, which is " + std::to_string(p.batch));
  if (static_cast<std::int64_t>(p.prefix.size()) != p.batch)
    refuse("prefix", list_text(p.prefix),
           "as many numbers as batch, which is " + std::to_string(p.batch) +
               "; given: " + std::to_string(p.prefix.size()));
}

void require_pse(const Op::Problem& p) {
  std::string condition =
      " with pse_type " + std::to_string(p.pse_type) + " and layout " + text(p.input_layout);
  if (p.pse_shift == PseShape::bnhs || p.pse_shift == PseShape::one_nhs)
    condition += ", seq_q " + std::to_string(p.seq_q) + " and seq_kv " + std::to_string(p.seq_kv);
  require_among("pse_shift", p.pse_shift, pse_shapes(p), condition);
}

void require_lengths(const Op::Problem& p) {
  const auto require = [&](std::string_view name, const std::vector<std::int64_t>& lengths) {
    if (!lengths.empty() && !is_packed(p.input_layout))
      refuse(name, list_text(lengths), "an empty list with layout " + text(p.input_layout),
             "lengths are those of packed sequences: add --layout=TND --entry_point=u1");
  };
  require("lengths_q", p.lengths_q);
  require("lengths_kv", p.lengths_kv);
  for (const auto& [name, padding] :
       {std::pair("padding_q", p.padding_q), {"padding_kv", p.padding_kv}})
    if (padding != 0 && !is_packed(p.input_layout))
      refuse(name, std::to_string(padding), "0 with layout " + text(p.input_layout));
}

/// Relations move rows of sequences. Padding tokens belong to no sequence and would be lost.
void require_no_padding_in_relations(const Case<Op>& c) {
  if (c.track == Track::relation && (c.problem.padding_q != 0 || c.problem.padding_kv != 0))
    refuse(c.problem.padding_q != 0 ? "padding_q" : "padding_kv",
           std::to_string(std::max(c.problem.padding_q, c.problem.padding_kv)),
           "0 with --track=relation");
}

/// The relation `cascade` does not compare runs with each other, so it also accepts profiles that
/// are too difficult for other relations.
void require_relation_or_cascade(const Case<Op>& c) {
  if (c.track == Track::relation && c.relation == flash::cascade_name) return;
  require_relation(c, RelationParts<Op>::relations(), flash::cascade_name);
}

}  // namespace

std::span<const FieldRange> Suite<Op>::field_ranges() {
  constexpr std::int64_t two_mebi = 2 * 1024 * 1024, mebi = 1024 * 1024;
  static constexpr FieldRange ranges[] = {
      {"batch", 0, two_mebi, "FAG-C40"},
      {"heads_q", 1, 256, "FAG-C39"},
      {"heads_kv", 1, 256, "FAG-C39"},
      {"seq_q", 0, mebi, "FAG-C41"},
      {"seq_kv", 0, mebi, "FAG-C41"},
      {"lengths_q", 0, mebi},
      {"lengths_kv", 0, mebi},
      {"padding_q", 0, mebi},
      {"padding_kv", 0, mebi},
      {"head_dim", 1, 768, "FAG-C44b"},
      {"head_dim_v", 1, 768, "FAG-C35"},
      {"head_dim_rope", 0, 768, "FAG-C45"},
      {"sparse_mode", 0, 8, "FAG-C63"},
      {"pre_tokens", -spec::unbounded_tokens, spec::unbounded_tokens},
      {"next_tokens", -spec::unbounded_tokens, spec::unbounded_tokens},
      {"prefix", 0, mebi},
      {"pse_type", 0, 3, "FAG-C76"},
      {"q_start_idx", -mebi, mebi},
      {"kv_start_idx", -mebi, mebi},
      {"rows", 0, mebi},
  };
  return ranges;
}

void Suite<Op>::imply_extents(const Op::Problem& given, Op::Problem& implied) {
  SuiteDefaults<Op>::imply_extents(given, implied);
  implied.statistics_order = upstream_order(given.softmax_in_layout);
}

void Suite<Op>::settle_extents(Op::Problem& p, const std::function<bool(std::string_view)>& given) {
  require_lengths(p);
  SuiteDefaults<Op>::settle_extents(p, given);
  if (!given("statistics_order")) p.statistics_order = upstream_order(p.softmax_in_layout);
}

void Suite<Op>::require_possible(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  require_types(p);
  require_heads(p);
  require_factors(p);
  require_parameters_of_entry_point(c);
  require_mask(p);
  require_pse(p);
  require_relation_or_cascade(c);
  require_no_padding_in_relations(c);
  require_size({.largest_tensor = largest_tensor(p),
                .bytes = memory_estimate(p),
                .with_numbers = c.track != Track::arguments},
               "batch, heads_q, seq_q or seq_kv");
}

}  // namespace assay::conformance

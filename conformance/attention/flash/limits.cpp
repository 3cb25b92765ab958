#include "attention/flash/limits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "case/limits.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;
using spec::DType;
using spec::MaskShape;
using spec::PseShape;

void require_types(const Problem& p) {
  if (!spec::is_fp16_bf16_fp32(p.dtype)) refuse("dtype", text(p.dtype), "fp16, bf16, fp32");
  if (p.mask_dtype != DType::boolean && p.mask_dtype != DType::uint8)
    refuse("mask_dtype", text(p.mask_dtype), "bool, uint8");
  if (p.slope_dtype != DType::fp32 && p.slope_dtype != p.dtype)
    refuse("slope_dtype", text(p.slope_dtype), "fp32, or dtype, which is " + text(p.dtype));
}

/// The smallest accepted keep_prob. With a smaller value, random dropout bits would never be set.
/// If a dropout pattern sets a bit anyway, the factor 1 / keep_prob overflows fp32 in kernels.
constexpr double least_keep_prob = 0x1p-32;

/// Checks scale_value and keep_prob as kernels use them: rounded to float.
void require_factors(const Problem& p) {
  if (!std::isfinite(static_cast<float>(p.scale_value)))
    refuse("scale_value", number_text(p.scale_value), "a number in the range of fp32");
  const auto keep_prob = static_cast<float>(p.keep_prob);
  if (p.keep_prob != 1 && !(keep_prob >= least_keep_prob && keep_prob < 1))
    refuse("keep_prob", number_text(p.keep_prob),
           "1, or a number from 2^-32 to below 1 (rounded to float)");
  if (p.has_dropout() && p.drop_mask == spec::DropMask::absent)
    refuse_alone("keep_prob", number_text(p.keep_prob), "needs a drop mask",
                 "add --drop_mask=exact or --drop_mask=granules");
}

void require_heads(const Problem& p) {
  if (p.heads_q % p.heads_kv != 0)
    refuse("heads_kv", std::to_string(p.heads_kv),
           "divisors of heads_q, which is " + std::to_string(p.heads_q));
  if (p.head_dim_v > p.head_dim)
    refuse("head_dim_v", std::to_string(p.head_dim_v),
           "1 to head_dim, which is " + std::to_string(p.head_dim),
           "add --head_dim_v=" + std::to_string(p.head_dim));
}

/// Returns the mask shapes that are legal for the sparse mode and the layout. The first is "none".
std::vector<MaskShape> mask_shapes(const Problem& p) {
  using enum MaskShape;
  const bool user_mask = p.sparse_mode <= 1 || p.sparse_mode == 5;
  if (!user_mask)
    return {absent, compressed, compressed_one_one_ss, compressed_b_one_ss, compressed_bnss};
  // Each sequence has its own prefix, so only a mask with one slice per sequence can contain the
  // prefixes.
  if (p.sparse_mode == 5 && p.batch != 1 && !p.prefix.empty()) return {absent, b_one_ss, bnss};
  return {absent, ss, one_one_ss, b_one_ss, bnss};
}

/// Returns the shapes of a position bias that are legal for the layout and the pseType. The first
/// is "none".
std::vector<PseShape> pse_shapes(const Problem& p) {
  using enum PseShape;
  if (p.pse_type >= 2) return {absent, slopes_n, slopes_bn};
  std::vector<PseShape> shapes = {absent, bnss, bn1s, one_nss};
  const bool packed = is_packed(p.input_layout), square = p.seq_q == p.seq_kv;
  // A compressed bias contains the last rows of a square bias (in packed layouts, of the longest
  // sequence). If there are exactly 1024 queries, its 1024 rows are the whole bias.
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

void require_mask(const Problem& p) {
  std::string condition = " with sparse_mode " + std::to_string(p.sparse_mode);
  if (is_packed(p.input_layout)) condition += " and layout TND";
  if (p.sparse_mode == 5 && p.batch != 1 && !p.prefix.empty())
    condition += " and prefixes of batch " + std::to_string(p.batch);
  require_among("atten_mask", p.atten_mask, mask_shapes(p), condition);
  // In mode 5 without prefixes, only the mask defines the visible keys.
  const bool reads_prefix = (p.sparse_mode == 5 && !p.prefix.empty()) || p.sparse_mode == 6;
  if (!reads_prefix || p.atten_mask == MaskShape::absent) return;
  if (p.prefix.empty())
    refuse_alone("sparse_mode", std::to_string(p.sparse_mode), "needs a prefix for each sequence",
                 "add --prefix=" +
                     list_text(std::vector<std::int64_t>(static_cast<std::size_t>(p.batch), 1)) +
                     ", one number per sequence; batch is " + std::to_string(p.batch));
  if (static_cast<std::int64_t>(p.prefix.size()) != p.batch)
    refuse("prefix", list_text(p.prefix),
           "one number per sequence; batch is " + std::to_string(p.batch) +
               "; given: " + std::to_string(p.prefix.size()));
}

void require_pse(const Problem& p) {
  std::string condition =
      " with pse_type " + std::to_string(p.pse_type) + " and layout " + text(p.input_layout);
  if (p.pse_shift == PseShape::bnhs || p.pse_shift == PseShape::one_nhs)
    condition += ", seq_q " + std::to_string(p.seq_q) + " and seq_kv " + std::to_string(p.seq_kv);
  require_among("pse_shift", p.pse_shift, pse_shapes(p), condition);
}

}  // namespace

void require_lengths(const Problem& p, std::string_view packed_entry_point) {
  const auto require = [&](std::string_view name, const std::vector<std::int64_t>& lengths) {
    if (!lengths.empty() && !is_packed(p.input_layout))
      refuse(name, list_text(lengths), "an empty list with layout " + text(p.input_layout),
             "only packed sequences have lists of lengths; add --layout=TND --entry_point=" +
                 std::string(packed_entry_point));
  };
  require("lengths_q", p.lengths_q);
  require("lengths_kv", p.lengths_kv);
  for (const auto& [name, padding] :
       {std::pair("padding_q", p.padding_q), {"padding_kv", p.padding_kv}})
    if (padding != 0 && !is_packed(p.input_layout))
      refuse(name, std::to_string(padding), "0 with layout " + text(p.input_layout));
}

void require_fields(const Problem& p) {
  require_types(p);
  require_heads(p);
  require_factors(p);
}

void require_shapes(const Problem& p) {
  require_mask(p);
  require_pse(p);
}

}  // namespace assay::conformance::attention::flash

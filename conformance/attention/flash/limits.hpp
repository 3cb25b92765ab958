#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attention/flash/traits.hpp"
#include "attention/variant/variant.hpp"
#include "case/limits.hpp"
#include "case/part.hpp"
#include "case/user_formula.hpp"

namespace assay::conformance::attention::flash {

/// These functions reject fields for which no tensors can be created. Errors: std::invalid_argument
/// with the field, its value and the accepted values. require_fields checks types, heads and
/// factors; require_shapes checks the shapes of mask and bias; require_lengths rejects lengths and
/// padding in layouts that have none.
void require_fields(const spec::AttentionProblem& problem);
void require_shapes(const spec::AttentionProblem& problem);
void require_lengths(const spec::AttentionProblem& problem, std::string_view packed_entry_point);

template <spec::Spelled Enum>
std::string text(Enum value) {
  return std::string(spec::to_string(value));
}

/// Returns advice for an error message: "add --entry_point=u1 (or u2, u3, u4)". The text lists the
/// entry points that accept the value; it is empty if no entry point accepts it.
template <class Op>
std::string try_entry_points(bool (*takes)(typename Op::EntryPoint)) {
  std::string first, others;
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries) {
    if (!takes(entry_point)) continue;
    if (first.empty())
      first = name;
    else
      others += (others.empty() ? " (or " : ", ") + std::string(name);
  }
  if (first.empty()) return {};
  return "add --entry_point=" + first + others + (others.empty() ? "" : ")");
}

/// Checks the fields that only some entry points have.
template <class Op>
void require_parameters_of_entry_point(const Case<Op>& c) {
  using T = Traits<Op>;
  const Problem& p = c.problem;
  const std::string of_entry_point = " with entry point " + text(c.entry_point);
  const bool packed = is_unpadding(c.entry_point);
  if (packed != is_packed(p.input_layout))
    refuse("layout", text(p.input_layout),
           (packed ? "TND" : "BSH, SBH, BSND, BNSD") + of_entry_point,
           packed ? "add --layout=TND, or --entry_point=" + text(T::dense)
                  : try_entry_points<Op>([](auto e) { return is_unpadding(e); }));
  const bool rope = requires_rope(c.entry_point);
  if (p.head_dim_rope > 0 ? !has_rope(c.entry_point) : rope)
    refuse(
        "head_dim_rope", std::to_string(p.head_dim_rope),
        (rope ? "1 to 768" : "0") + of_entry_point,
        rope ? "add --head_dim_rope=8 --atten_mask=SS, or use --entry_point=" + text(T::packed)
             : try_entry_points<Op>([](auto e) { return requires_rope(e); }) + " --atten_mask=SS");
  if (!has_softmax_in_layout(c.entry_point) && p.softmax_in_layout != spec::SoftmaxInLayout::empty)
    refuse("softmax_in_layout", text(p.softmax_in_layout), "empty" + of_entry_point,
           try_entry_points<Op>([](auto e) { return has_softmax_in_layout(e); }));
  if (!packed && p.statistics_order != spec::StatisticsOrder::heads_first)
    refuse("statistics_order", text(p.statistics_order),
           "heads_first with layout " + text(p.input_layout), "use --layout=TND");
  if (p.has_sink() && !has_sink(c.entry_point))
    refuse("sink", text(p.sink), "none" + of_entry_point,
           "add --entry_point=" + text(entry_point_with_sink<typename Op::EntryPoint>(packed)));
  if (has_pse_type(c.entry_point)) return;
  const std::string next = try_entry_points<Op>([](auto e) { return has_pse_type(e); });
  if (p.pse_type != 1) refuse("pse_type", std::to_string(p.pse_type), "1" + of_entry_point, next);
  if (!p.q_start_idx.empty())
    refuse("q_start_idx", list_text(p.q_start_idx), "an empty list" + of_entry_point, next);
  if (!p.kv_start_idx.empty())
    refuse("kv_start_idx", list_text(p.kv_start_idx), "an empty list" + of_entry_point, next);
}

/// Rejects padding in relations (comparisons between runs). A relation moves rows of sequences, and
/// would lose padding tokens, because these belong to no sequence.
template <class Op>
void require_no_padding_in_relations(const Case<Op>& c) {
  if (c.track == Track::relation && (c.problem.padding_q != 0 || c.problem.padding_kv != 0))
    refuse(c.problem.padding_q != 0 ? "padding_q" : "padding_kv",
           std::to_string(std::max(c.problem.padding_q, c.problem.padding_kv)),
           "0 with --track=relation");
}

/// Rejects cases with a sink in tracks (test methods) that have no expected value of dsink.
template <class Op>
void require_judged_sink(const Case<Op>& c, std::string_view cascade) {
  if (!c.problem.has_sink()) return;
  const bool is_exact = c.track == Track::exact || c.track == Track::exact_staged;
  if (is_exact || is_formula(c.variant))
    refuse("sink", text(c.problem.sink),
           is_exact ? "none with --track=" + text(c.track) : "none with a formula in --variant");
  if (c.track == Track::relation && c.relation == cascade)
    refuse("sink", text(c.problem.sink), "none with --relation=" + c.relation);
}

/// Checks the user's formula, and the fields that belong to a formula.
template <class Op>
void require_formula(const Case<Op>& c) {
  if (!is_formula(c.variant)) return;
  const std::string with = " with a formula in --variant";
  if (c.track != Track::bound) refuse("track", text(c.track), "bound" + with);
  if (c.rows != 0) refuse("rows", std::to_string(c.rows), "0" + with);
  const auto variant = variant_of(c.variant, c.problem);
  if (is_forward<Op> && (!variant->gradients().empty() || variant->has_dlse()))
    refuse("variant", "gradients= or dlse=", "only score= and keep= for a forward operator");
}

/// Checks the part of a case, and the fields that go with one.
template <class Op>
void require_part(const Case<Op>& c) {
  if (c.part.empty()) return;
  const auto part = part_of(c.part);
  const Problem& p = c.problem;
  if (!part)
    refuse("part", c.part, "kv:FIRST-LAST or q:FIRST-LAST, numbers from 0, FIRST at most LAST",
           "such as kv:0-" + std::to_string(std::max<std::int64_t>(1, p.seq_kv / 2) - 1));
  const bool of_keys = part->axis == PartAxis::kv;
  const std::int64_t length = of_keys ? p.seq_kv : p.seq_q;
  if (part->last >= length)
    refuse("part", c.part,
           "positions 0 to " + std::to_string(length - 1) + " of a sequence with " +
               (of_keys ? "seq_kv=" : "seq_q=") + std::to_string(length));
  const std::string with = " with --part";
  if (is_packed(p.input_layout))
    refuse("layout", text(p.input_layout), "BSH, SBH, BSND, BNSD" + with,
           "judge each sequence as a case of its own");
  if (c.track != Track::bound) refuse("track", text(c.track), "bound" + with);
  if (c.rows != 0) refuse("rows", std::to_string(c.rows), "0" + with);
  if (p.has_sink()) refuse("sink", text(p.sink), "none" + with);
}

template <class Op>
std::span<const FieldRange> field_ranges() {
  constexpr std::int64_t two_mebi = 2 * 1024 * 1024, mebi = 1024 * 1024;
  static constexpr FieldRange ranges[] = {
      {"batch", 0, two_mebi, Traits<Op>::ids.batch},
      {"heads_q", 1, 256, Traits<Op>::ids.heads},
      {"heads_kv", 1, 256, Traits<Op>::ids.heads},
      {"seq_q", 0, mebi, Traits<Op>::ids.seq},
      {"seq_kv", 0, mebi, Traits<Op>::ids.seq},
      {"lengths_q", 0, mebi},
      {"lengths_kv", 0, mebi},
      {"padding_q", 0, mebi},
      {"padding_kv", 0, mebi},
      {"head_dim", 1, 768, Traits<Op>::ids.head_dim},
      {"head_dim_v", 1, 768, Traits<Op>::ids.head_dim_v},
      {"head_dim_rope", 0, 768, Traits<Op>::ids.head_dim_rope},
      {"sparse_mode", 0, 8, Traits<Op>::ids.sparse_mode},
      {"pre_tokens", -spec::unbounded_tokens, spec::unbounded_tokens},
      {"next_tokens", -spec::unbounded_tokens, spec::unbounded_tokens},
      {"prefix", 0, mebi},
      {"pse_type", 0, 3, Traits<Op>::ids.pse_type},
      {"q_start_idx", -mebi, mebi},
      {"kv_start_idx", -mebi, mebi},
      {"rows", 0, mebi},
  };
  return ranges;
}

}  // namespace assay::conformance::attention::flash

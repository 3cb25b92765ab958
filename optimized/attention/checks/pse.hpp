#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/call_extents.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using spec::Shape;

constexpr std::int64_t alibi_rows = 1024;  // rows of the compressed form
constexpr std::int64_t outer_default = 1;  // pseType of entry points without this attribute

std::int64_t type_of(const Call& call) {
  return spec::has_pse_type(call.entry_point) ? call.attributes.pse_type : outer_default;
}

bool generated(const Call& call) { return type_of(call) == 2 || type_of(call) == 3; }

Refusal type(const Call& call) {
  return spec::has_rope(call.entry_point) ? std::nullopt : within("pseType", type_of(call), 0, 3);
}

/// Checks pseType of entry points with rope. Without pse_shift, the types 0 and 1 have the same
/// meaning.
Refusal type_beside_rope(const Call& call) {
  return spec::has_rope(call.entry_point) ? within("pseType", type_of(call), 0, 1) : std::nullopt;
}

Refusal type_without_pse(const Call& call) {
  if (spec::has_rope(call.entry_point)) return std::nullopt;
  return unless(is_given(call.parameters.pse_shift) || type_of(call) == outer_default,
                "pseType is " + std::to_string(type_of(call)) +
                    " and pse_shift is null; without pse_shift, pseType must be 1");
}

/// Returns whether the documentation page allows a pse_shift of four axes only with 1024 rows.
bool lists_compressed_rows_alone(const Call& call) {
  return call.entry_point == spec::FlashEntryPoint::u2 ||
         call.entry_point == spec::FlashEntryPoint::u4;
}

/// The accepted shapes of a bias tensor. In TND, the shapes with four axes use the longest
/// sequences; a bias with one axis contains the sequences one after the other.
std::vector<Shape> outer_shapes(const Call& call) {
  const CallExtents e = extents_of(call);
  std::vector<Shape> shapes;
  if (!lists_compressed_rows_alone(call))
    shapes = {{e.batch, e.heads_q, e.seq_q, e.seq_kv},
              {e.batch, e.heads_q, 1, e.seq_kv},
              {1, e.heads_q, e.seq_q, e.seq_kv}};
  if (is_tnd(call) || e.seq_q >= alibi_rows)
    shapes.insert(shapes.end(), {{e.batch, e.heads_q, alibi_rows, e.seq_kv},
                                 {1, e.heads_q, alibi_rows, e.seq_kv}});
  if (is_tnd(call))
    shapes.insert(shapes.end(),
                  {{saturated_count({call.parameters.key.shape[0], e.heads_q})}, {score_count(e)}});
  return shapes;
}

std::vector<Shape> legal_shapes(const Call& call) {
  if (!generated(call)) return outer_shapes(call);
  const CallExtents e = extents_of(call);
  return {{e.heads_q}, {e.batch, e.heads_q}};
}

Refusal shape(const Call& call) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  if (!is_given(pse)) return std::nullopt;
  std::string choices;
  for (const Shape& legal : legal_shapes(call)) {
    if (pse.shape == legal) return std::nullopt;
    choices += (choices.empty() ? "" : " or ") + text_of(legal);
  }
  return "shape of pse_shift is " + text_of(pse.shape) + "; pseType " +
         std::to_string(type_of(call)) + " needs " + choices;
}

std::string both(std::int64_t q, std::int64_t kv) {
  return std::to_string(q) + " and " + std::to_string(kv);
}

Refusal generated_lengths(const Call& call) {
  if (!generated(call) || is_tnd(call)) return std::nullopt;
  const CallExtents e = extents_of(call);
  return unless(e.seq_q == e.seq_kv, "lengths of query and key are " + both(e.seq_q, e.seq_kv) +
                                         "; pseType " + std::to_string(type_of(call)) +
                                         " requires equal lengths");
}

/// Returns whether pse_shift has the compressed form of 1024 rows. With 1024 queries this form
/// equals the full form.
bool compressed(const Call& call, const CallExtents& e) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  return is_given(pse) && !generated(call) && pse.shape.size() == 4 && pse.shape[2] == alibi_rows &&
         e.seq_q != alibi_rows;
}

Refusal alibi(const Call& call) {
  const CallExtents e = extents_of(call);
  if (!compressed(call, e)) return std::nullopt;
  if (!is_tnd(call) && e.seq_q != e.seq_kv)
    return "lengths of query and key are " + both(e.seq_q, e.seq_kv) +
           "; a pse_shift of 1024 rows requires equal lengths";
  if (!is_given(call.parameters.atten_mask))
    return "atten_mask is null; a pse_shift of 1024 rows needs a causal mask";
  const auto& a = call.attributes;
  const bool has_window = a.sparse_mode == 0 || a.sparse_mode == 4;
  const bool causal = !has_window || (a.pre_tokens >= e.seq_q && a.next_tokens == 0);
  return unless(causal, "preTokens is " + std::to_string(a.pre_tokens) + " and nextTokens is " +
                            std::to_string(a.next_tokens) +
                            "; with a pse_shift of 1024 rows preTokens must be at least " +
                            std::to_string(e.seq_q) + " and nextTokens 0");
}

/// Checks that every sequence has a query. The documentation requires no such minimum for keys.
Refusal no_empty_sequence(const Call& call) {
  if (!is_tnd(call) || !is_given(call.parameters.pse_shift)) return std::nullopt;
  const CallExtents e = extents_of(call);
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b)
    if (e.lengths_q[b] == 0)
      return "length of query of sequence " + std::to_string(b) +
             " is 0; with pse_shift it must be at least 1";
  return std::nullopt;
}

Refusal no_pse_in_mode_7(const Call& call) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  return unless(!masked_in_mode(call, 7) || !is_given(pse),
                "pse_shift has shape " + text_of(pse.shape) + "; it must be null in sparseMode 7");
}

/// The positions of the first query and the first key of a sequence (qStartIdx, kvStartIdx).
struct Starts {
  std::int64_t q = 0, kv = 0;
};

/// Returns the start indices. They apply only if the entry point has them and the caller passes
/// both.
Starts starts_of(const Call& call) {
  const auto& q = call.parameters.q_start_idx;
  const auto& kv = call.parameters.kv_start_idx;
  if (!spec::has_pse_type(call.entry_point) || !q || !kv || q->empty() || kv->empty()) return {};
  return {q->front(), kv->front()};
}

/// Returns whether q + starts.q == kv + starts.kv without overflow, for any 64-bit starts and
/// non-negative lengths.
bool end_together(std::int64_t q, std::int64_t kv, const Starts& starts) {
  const auto modular = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const bool same_sign = (q >= kv) == (starts.kv >= starts.q);
  return same_sign && modular(q) - modular(kv) == modular(starts.kv) - modular(starts.q);
}

Refusal lengths_in_mode_8(const Call& call) {
  if (!masked_in_mode(call, 8) || !is_given(call.parameters.pse_shift)) return std::nullopt;
  const CallExtents e = extents_of(call);
  for (std::size_t b = 0; b < e.lengths_q.size(); ++b) {
    const Starts starts = b == 0 ? starts_of(call) : Starts{};
    if (!end_together(e.lengths_q[b], e.lengths_kv[b], starts))
      return "lengths of sequence " + std::to_string(b) + " are " +
             both(e.lengths_q[b], e.lengths_kv[b]) + " from positions " +
             both(starts.q, starts.kv) +
             "; with pse_shift in sparseMode 8, queries and keys must end at the same position";
  }
  return std::nullopt;
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C76", invalid, type},
    {"FAG-C77", invalid, type_beside_rope},
    {"FAG-C78", invalid, type_without_pse},
    {"FAG-C82", invalid, no_empty_sequence},
    {"FAG-C74", invalid, no_pse_in_mode_7},
    {"FAG-C79", invalid, shape},
    {"FAG-C75", invalid, lengths_in_mode_8},
    {"FAG-C80", invalid, generated_lengths},
    {"FAG-C81", invalid, alibi},
};

}  // namespace

std::span<const Check> pse_checks() { return checks; }

}  // namespace assay::optimized

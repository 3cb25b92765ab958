#include "flash_attention_score_grad/call_extents.hpp"
#include "flash_attention_score_grad/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using Refusal = std::optional<std::string>;
using spec::Shape;

constexpr std::int64_t alibi_rows = 1024;  // of the compressed form
constexpr std::int64_t outer_default = 1;  // what entry points without the attribute mean

Refusal unless(bool holds, const std::string& refusal) {
  return holds ? std::nullopt : Refusal(refusal);
}

std::int64_t type_of(const Call& call) {
  return call.surface == spec::FlashSurface::g1 ? outer_default : call.attributes.pse_type;
}

bool generated(const Call& call) { return type_of(call) == 2 || type_of(call) == 3; }

Refusal type(const Call& call) {
  return unless(0 <= type_of(call) && type_of(call) <= 3,
                "pseType is " + std::to_string(type_of(call)) + "; it must be 0 to 3");
}

Refusal type_without_pse(const Call& call) {
  return unless(is_given(call.parameters.pse_shift) || type_of(call) == outer_default,
                "pseType is " + std::to_string(type_of(call)) +
                    " and pse_shift is null; without pse it must be 1");
}

std::vector<Shape> legal_shapes(const Call& call) {
  const CallExtents e = extents_of(call);
  if (generated(call)) return {{e.heads_q}, {e.batch, e.heads_q}};
  std::vector<Shape> shapes = {{e.batch, e.heads_q, e.seq_q, e.seq_kv},
                               {e.batch, e.heads_q, 1, e.seq_kv},
                               {1, e.heads_q, e.seq_q, e.seq_kv}};
  if (e.seq_q >= alibi_rows) {
    shapes.push_back({e.batch, e.heads_q, alibi_rows, e.seq_kv});
    shapes.push_back({1, e.heads_q, alibi_rows, e.seq_kv});
  }
  return shapes;
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

Refusal generated_lengths(const Call& call) {
  const CallExtents e = extents_of(call);
  return unless(!generated(call) || e.seq_q == e.seq_kv,
                "lengths of query and key are " + std::to_string(e.seq_q) + " and " +
                    std::to_string(e.seq_kv) + "; pseType " + std::to_string(type_of(call)) +
                    " needs equal ones");
}

Refusal alibi(const Call& call) {
  const spec::Parameter& pse = call.parameters.pse_shift;
  const CallExtents e = extents_of(call);
  if (!is_given(pse) || generated(call) || pse.shape.size() != 4 || pse.shape[2] != alibi_rows ||
      e.seq_q <= alibi_rows)
    return std::nullopt;
  if (e.seq_q != e.seq_kv)
    return "lengths of query and key are " + std::to_string(e.seq_q) + " and " +
           std::to_string(e.seq_kv) + "; a pse_shift of 1024 rows needs equal ones";
  const auto& a = call.attributes;
  const bool causal =
      a.sparse_mode == 2 || a.sparse_mode == 3 || (a.pre_tokens >= e.seq_q && a.next_tokens == 0);
  return unless(causal, "preTokens is " + std::to_string(a.pre_tokens) + " and nextTokens " +
                            std::to_string(a.next_tokens) +
                            "; a pse_shift of 1024 rows needs a causal window");
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C76", invalid, type},  {"FAG-C78", invalid, type_without_pse},
    {"FAG-C79", invalid, shape}, {"FAG-C80", invalid, generated_lengths},
    {"FAG-C81", invalid, alibi},
};

}  // namespace

std::span<const Check> pse_checks() { return checks; }

}  // namespace assay::optimized

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "flash_attention_score_grad_sampling.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Row = spec::Constraint<Op>;
using spec::DType;
using spec::MaskShape;

/// Legal calls that differ in all that a row can ask for.
std::vector<FlashCase> legal_calls() {
  struct Masking {
    std::int64_t sparse_mode;
    MaskShape shape;
  };
  std::vector<FlashCase> calls;
  for (const auto mask : {Masking{0, MaskShape::absent}, Masking{0, MaskShape::ss},
                          Masking{1, MaskShape::bnss}, Masking{2, MaskShape::compressed},
                          Masking{3, MaskShape::compressed}, Masking{4, MaskShape::compressed},
                          Masking{0, MaskShape::b_one_ss}})
    for (const auto layout :
         {spec::Layout::bnsd, spec::Layout::bsh, spec::Layout::bsnd, spec::Layout::sbh})
      for (const auto dtype : {DType::bf16, DType::fp16, DType::fp32})
        for (const std::int64_t seq_kv : {24, 40})
          for (const auto surface : {spec::FlashSurface::g1, spec::FlashSurface::g2}) {
            FlashCase c{.surface = surface, .track = Track::phase1};
            c.problem = {.input_layout = layout,
                         .dtype = dtype,
                         .batch = 2,
                         .heads_q = 4,
                         .heads_kv = 2,
                         .seq_q = 24,
                         .seq_kv = seq_kv,
                         .head_dim = 32,
                         .head_dim_v = dtype == DType::fp16 ? 16 : 32,
                         .scale_value = ordinary_scale(32),
                         .sparse_mode = mask.sparse_mode,
                         .atten_mask = mask.shape};
            calls.push_back(c);
          }
  return calls;
}

const Row* find_row(std::string_view id) {
  for (const Row& row : Op::constraints())
    if (row.id == id) return &row;
  throw std::logic_error("no row " + std::string(id));
}

bool is_implied(const Row& row, std::string_view id) {
  return std::ranges::any_of(row.implies, [&](std::string_view implied) {
    return implied == id || is_implied(*find_row(implied), id);
  });
}

/// Whether the call that `c` makes breaks `row`, and no other row but those that it implies.
bool breaks_only(const FlashCase& c, const Row& row) {
  const auto broken = spec::violations(Op::constraints(), call_of(c));
  bool itself = false;
  for (const Row* other : broken) {
    itself |= other->id == row.id;
    if (other->id != row.id && !is_implied(row, other->id)) return false;
  }
  return itself;
}

}  // namespace

std::vector<FlashCase> violation_cases() {
  const std::vector<FlashCase> calls = legal_calls();
  std::vector<FlashCase> cases;
  const auto broken_call = [&](const Row& row, std::string_view violation) {
    // An odd step, so that the surfaces alternate from one violation to the next.
    const std::size_t first = cases.size() * 37 % calls.size();
    for (std::size_t k = 0; k < calls.size(); ++k) {
      FlashCase c = calls[(first + k) % calls.size()];
      c.product = cases.size() / 2 % 2 == 0 ? spec::Product::a2 : spec::Product::a3;
      c.violate = std::string(row.id) + ":" + std::string(violation);
      if (breaks_only(c, row)) return c;
    }
    throw std::logic_error("no call is broken in row " + std::string(row.id) + " alone by " +
                           std::string(violation));
  };
  for (const Row& row : Op::constraints()) {
    if (!row.has(spec::Side::reject)) continue;
    if (row.violations.empty())
      throw std::logic_error("row " + std::string(row.id) + " has a reject side and no violation");
    for (const auto& violation : row.violations) {
      cases.push_back(broken_call(row, violation.name));
      cases.back().note = row.statement;
    }
  }
  return cases;
}

}  // namespace assay::conformance::flash

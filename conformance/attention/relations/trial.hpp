#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/operands.hpp"

/// Problems with their numbers in plain rows, which relations between runs rearrange.
namespace assay::conformance::flash {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

/// One run: a problem and what it is given. Rows lie in the order of Extents::row; numbers are
/// values of their type.
struct Trial {
  Op::Problem problem;
  reference::Operands<double> rows;
  std::optional<spec::Tensor> atten_mask, pse_shift, drop_mask;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// The case's problem with the given tensors.
Trial trial_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// The tensors of a trial, strided as it says.
Op::Inputs inputs_of(const Trial& trial);

/// Whether two trials ask a kernel for the very same thing.
bool is_same_run(const Trial& a, const Trial& b);

/// Whether an entry point has all parameters that a problem needs.
bool offers(spec::FlashSurface surface, const Op::Problem& problem);
/// An entry point that has them.
spec::FlashSurface surface_of(const Op::Problem& problem);

/// Values of the five outputs, or something else that each of their elements has. Rows in the order
/// of Extents::row.
struct Gradients {
  std::vector<double> dq, dk, dv, dq_rope, dk_rope;
};
Gradients gradients_of(const Op::Problem& problem, const Op::Outputs& outputs);
/// Every element 0.
Gradients zero_gradients(const Op::Problem& problem);

/// One of the five; without rope the last two have no elements.
struct GradientTensor {
  const char* name;
  std::vector<double> Gradients::*member;
  spec::Extents (*extents)(const Op::Problem&);
  bool of_queries;
};
inline constexpr GradientTensor gradient_tensors[] = {
    {"dq", &Gradients::dq, spec::query_extents, true},
    {"dk", &Gradients::dk, spec::key_extents, false},
    {"dv", &Gradients::dv, spec::value_extents, false},
    {"dq_rope", &Gradients::dq_rope, spec::query_rope_extents, true},
    {"dk_rope", &Gradients::dk_rope, spec::key_rope_extents, false}};

/// Where a row comes from, told by where it goes to.
using Origin = std::function<spec::RowPosition(const spec::RowPosition&)>;
inline spec::RowPosition same_row(const spec::RowPosition& row) { return row; }

/// The rows from(position) of `values`, which `own` spans, for every position of `to`.
template <class Number>
std::vector<Number> gather(const std::vector<Number>& values, const spec::Extents& own,
                           const spec::Extents& to, const Origin& from) {
  std::vector<Number> rows;
  rows.reserve(static_cast<std::size_t>(to.rows() * to.dim));
  for (std::int64_t row = 0; row < to.rows(); ++row) {
    const spec::RowPosition source = from(to.position(row));
    const auto first = values.begin() + own.row(source.b, source.n, source.s) * to.dim;
    rows.insert(rows.end(), first, first + to.dim);
  }
  return rows;
}

/// The trial of `problem` whose query and key rows, with everything that mask, position bias and
/// dropout say of them, are those of `base` at other places. The shapes of pse and of a user mask
/// become (batch, heads_q, Sq, Skv), of a mask of TND (Sq, Skv), of slopes (batch, heads_q);
/// compressed masks stay what they are: `problem` must say the same of every pair.
Trial rearranged(const Trial& base, const Op::Problem& problem, const Origin& query,
                 const Origin& key);

/// A user mask, of shape BNSS or SS, that keeps what `keeps(b, n, i, j)` says; in SS it must say
/// the same of all b and n.
spec::Tensor written_mask(
    const Op::Problem& problem,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& keeps);

}  // namespace assay::conformance::flash

#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/status.hpp"

namespace assay::test {

using FlashOp = spec::FlashAttentionScoreGrad;
using FlashCall = spec::Call<FlashOp>;

/// A change of a legal call and the answer that phase 1 must give.
struct CheckCase {
  std::vector<spec::FlashEntryPoint> entry_points;
  void (*ask)(FlashOp::Problem& problem);  ///< first, of the problem behind the call; may be null
  void (*change)(FlashCall& call);         ///< then, of the call itself; may be null
  std::string_view message;                ///< empty: the call is legal
  spec::Status status = spec::Status::param_invalid;
};

/// Three sequences, four query heads on two, head sizes 24 and 16, a mask. In TND of 5, 20, 12
/// queries and 30, 25, 7 keys; else of 20 and 30.
FlashOp::Problem plain_problem(spec::FlashEntryPoint entry_point);
FlashCall call_of(const FlashOp::Problem& problem, spec::FlashEntryPoint entry_point);

std::span<const CheckCase> operand_cases();    ///< presence, types, formats, shapes, sizes
std::span<const CheckCase> attribute_cases();  ///< attributes, masks, windows, prefix, dropout
std::span<const CheckCase> pse_cases();

/// The cases of all parts, in their order.
std::vector<CheckCase> joined(std::initializer_list<std::span<const CheckCase>> parts);

/// A contiguous tensor.
spec::Parameter parameter(spec::DType dtype, const spec::Shape& shape);
void resize(spec::Parameter& tensor, std::size_t axis, std::int64_t extent);

/// Lists of entry points.
const std::vector<spec::FlashEntryPoint>& every_entry_point();
const std::vector<spec::FlashEntryPoint>& padded();
const std::vector<spec::FlashEntryPoint>& unpadding();
const std::vector<spec::FlashEntryPoint>& unpadding_without_rope();

}  // namespace assay::test

#include <algorithm>
#include <initializer_list>

#include "flash_attention_score_grad/arguments/checks.hpp"

namespace assay::mutants {
namespace {

using spec::Parameter;
using spec::Status;
using Member = Parameter Op::Parameters::*;
using P = Op::Parameters;

bool present(const FlashCall& c, std::initializer_list<Member> members) {
  return std::ranges::all_of(members, [&](Member m) { return (c.parameters.*m).present; });
}

bool computes_in(const FlashCall& c, std::initializer_list<Member> members) {
  return std::ranges::all_of(
      members, [&](Member m) { return spec::is_fp16_bf16_fp32((c.parameters.*m).dtype); });
}

/// FAG-C20 has the types that nothing is computed in.
bool have_type_of_query(const FlashCall& c, std::initializer_list<Member> members) {
  if (!spec::is_fp16_bf16_fp32(c.parameters.query.dtype)) return true;
  return std::ranges::all_of(
      members, [&](Member m) { return (c.parameters.*m).dtype == c.parameters.query.dtype; });
}

}  // namespace

bool given(const Parameter& parameter) { return parameter.present && !parameter.shape.empty(); }

std::vector<Check> presence_checks() {
  constexpr Status null = Status::param_nullptr;
  return {
      {"FAG-C01", null, "query, key, value and dy must be given",
       [](const FlashCall& c) {
         return present(c, {&P::query, &P::key, &P::value, &P::dy});
       }},
      {"FAG-C02", null, "dq, dk, dv, workspaceSize and executor must be given",
       [](const FlashCall& c) {
         return present(c, {&P::dq, &P::dk, &P::dv}) && c.parameters.workspace_size &&
                c.parameters.executor;
       }},
      {"FAG-C03", null, "attention_in must be given",
       [](const FlashCall& c) { return given(c.parameters.attention_in); }},
      {"FAG-C04", null, "softmax_max and softmax_sum must be given",
       [](const FlashCall& c) {
         return given(c.parameters.softmax_max) && given(c.parameters.softmax_sum);
       }},
      {"FAG-C05", null, "the lengths of the sequences must be given",
       [](const FlashCall& c) {
         return !is_unpadding(c.entry_point) ||
                (c.parameters.actual_seq_qlen && c.parameters.actual_seq_kvlen);
       }},
      {"FAG-C06", null, "the rope tensors must be given",
       [](const FlashCall& c) {
         return !has_rope(c.entry_point) ||
                present(c, {&P::query_rope, &P::key_rope, &P::dq_rope, &P::dk_rope});
       }},
      {"FAG-C07", null, "input_layout must be given",
       [](const FlashCall& c) { return c.attributes.input_layout.has_value(); }},
      {"FAG-C08", null, "atten_mask must be given with rope",
       [](const FlashCall& c) {
         return !has_rope(c.entry_point) || given(c.parameters.atten_mask);
       }},
  };
}

std::vector<Check> type_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"FAG-C20", invalid, "query, key and value must be fp16, bf16 or fp32",
       [](const FlashCall& c) {
         return computes_in(c, {&P::query, &P::key, &P::value});
       }},
      {"FAG-C21", invalid, "dy, attention_in and outputs must be fp16, bf16 or fp32",
       [](const FlashCall& c) {
         return computes_in(c, {&P::dy, &P::attention_in, &P::dq, &P::dk, &P::dv});
       }},
      {"FAG-C20a", invalid, "query, key and value must have one type",
       [](const FlashCall& c) {
         return have_type_of_query(c, {&P::key, &P::value});
       }},
      {"FAG-C21a", invalid, "attention_in must have the type of query",
       [](const FlashCall& c) { return have_type_of_query(c, {&P::attention_in}); }},
      {"FAG-C21b", invalid, "dy and outputs must have the type of query",
       [](const FlashCall& c) {
         return have_type_of_query(c, {&P::dy, &P::dq, &P::dk, &P::dv});
       }},
      {"FAG-C25", invalid, "atten_mask must be bool or uint8",
       [](const FlashCall& c) {
         const Parameter& mask = c.parameters.atten_mask;
         return !given(mask) || mask.dtype == spec::DType::boolean ||
                mask.dtype == spec::DType::uint8;
       }},
      {"FAG-C26", invalid, "softmax_max and softmax_sum must be fp32",
       [](const FlashCall& c) {
         return c.parameters.softmax_max.dtype == spec::DType::fp32 &&
                c.parameters.softmax_sum.dtype == spec::DType::fp32;
       }},
      {"FAG-C27", invalid, "query_rope and key_rope must be bf16",
       [](const FlashCall& c) {
         return !has_rope(c.entry_point) || (c.parameters.query_rope.dtype == spec::DType::bf16 &&
                                             c.parameters.key_rope.dtype == spec::DType::bf16);
       }},
  };
}

}  // namespace assay::mutants

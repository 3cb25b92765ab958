#include "nsa_selected_attention_grad/checks.hpp"
#include "selection/call_checks.hpp"

namespace assay::optimized::selected {
namespace {

using Call = Check::Call;
using Named = NamedParameter;

constexpr std::int64_t most_tokens = 2 * 1024 * 1024;

enum : std::size_t { tokens, heads, dim };

/// An axis of a tensor, and the name of its extent in error messages.
struct Axis {
  std::size_t number;
  std::string_view what;
};

/// Returns a text about the first tensor that has a different extent in this axis than `model`, or
/// nothing.
Refusal first_unequal(const Axis& axis, const Named& model, std::initializer_list<Named> tensors) {
  const std::int64_t expected = model.parameter->shape[axis.number];
  for (const Named& tensor : tensors) {
    const std::int64_t extent = tensor.parameter->shape[axis.number];
    if (extent != expected)
      return std::string(axis.what) + " of " + std::string(tensor.name) + " is " +
             std::to_string(extent) + ", that of " + std::string(model.name) + " is " +
             std::to_string(expected) + "; they must be equal";
  }
  return std::nullopt;
}

Refusal query_tokens(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal =
          within("number of tokens of query", p.query.shape[tokens], 1, most_tokens))
    return refusal;
  return first_unequal(
      {tokens, "number of tokens"}, {"query", &p.query},
      {{"attention_out", &p.attention_out}, {"attention_out_grad", &p.attention_out_grad}});
}

Refusal key_tokens(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal =
          within("number of tokens of key", p.key.shape[tokens], 1, most_tokens))
    return refusal;
  return first_unequal({tokens, "number of tokens"}, {"key", &p.key}, {{"value", &p.value}});
}

Refusal heads_of_value(const Call& call) {
  const auto& p = call.parameters;
  return first_unequal({heads, "number of heads"}, {"key", &p.key}, {{"value", &p.value}});
}

Refusal heads_of_attention(const Call& call) {
  const auto& p = call.parameters;
  return first_unequal(
      {heads, "number of heads"}, {"query", &p.query},
      {{"attention_out", &p.attention_out}, {"attention_out_grad", &p.attention_out_grad}});
}

Refusal head_size_of_attention(const Call& call) {
  const auto& p = call.parameters;
  return first_unequal(
      {dim, "head size"}, {"value", &p.value},
      {{"attention_out", &p.attention_out}, {"attention_out_grad", &p.attention_out_grad}});
}

Refusal head_size_of_key(const Call& call) {
  const auto& p = call.parameters;
  return first_unequal({dim, "head size"}, {"query", &p.query}, {{"key", &p.key}});
}

Refusal gradients(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal = shape_is({"dq", &p.dq}, p.query.shape)) return refusal;
  if (const Refusal refusal = shape_is({"dk", &p.dk}, p.key.shape)) return refusal;
  return shape_is({"dv", &p.dv}, p.value.shape);
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAS-C22", invalid, query_tokens},
    {"NSAS-C23", invalid, key_tokens},
    {"NSAS-C16", invalid, heads_of_value},
    {"NSAS-C17", invalid, heads_of_attention},
    {"NSAS-C18", invalid, head_size_of_attention},
    {"NSAS-C19", invalid, head_size_of_key},
    {"NSAS-C31", invalid, statistics_shape},
    {"NSAS-C32", invalid, indices_shape},
    {"NSAS-C37", invalid, gradients},
};

}  // namespace

std::span<const Check> shape_checks() { return checks; }

}  // namespace assay::optimized::selected

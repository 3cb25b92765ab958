#include <algorithm>
#include <initializer_list>

#include "nsa_selected_attention_grad/argument_checks.hpp"

namespace assay::mutants::selected {
namespace {

using spec::DType;
using spec::Format;
using spec::Parameter;
using spec::Status;
using Call = spec::Call<Op>;
using P = Op::Parameters;
using Member = Parameter P::*;
using Members = std::initializer_list<Member>;

constexpr Members input_members = {
    &P::query,       &P::key,         &P::value,       &P::attention_out, &P::attention_out_grad,
    &P::softmax_max, &P::softmax_sum, &P::topk_indices};
constexpr Members operands = {&P::query, &P::key, &P::value, &P::attention_out,
                              &P::attention_out_grad};
constexpr Members gradients = {&P::dq, &P::dk, &P::dv};

bool present(const Call& c, Members members) {
  return std::ranges::all_of(members, [&](Member m) { return (c.parameters.*m).present; });
}

bool given(const Parameter& tensor) { return tensor.present && !tensor.shape.empty(); }

bool is_half(const Parameter& tensor) {
  return tensor.dtype == DType::fp16 || tensor.dtype == DType::bf16;
}

/// Whether every tensor that is given passes.
template <class Passes>
bool each(const Call& c, Members members, const Passes& passes) {
  return std::ranges::all_of(members, [&](Member m) {
    const Parameter& tensor = c.parameters.*m;
    return !given(tensor) || passes(tensor);
  });
}

/// Other types are the business of the requirements about them.
bool like_query(const Call& c, Members members) {
  const Parameter& query = c.parameters.query;
  return !is_half(query) || each(c, members, [&](const Parameter& tensor) {
    return !is_half(tensor) || tensor.dtype == query.dtype;
  });
}

bool is_plain(const Parameter& tensor) {
  return tensor.format != Format::nc1hwc0 && tensor.format != Format::fractal_z &&
         tensor.format != Format::fractal_nz;
}

}  // namespace

bool has_three_axes(const Call& c) {
  return std::ranges::all_of(input_members, [&](Member m) {
    const Parameter& tensor = c.parameters.*m;
    return !tensor.present || tensor.shape.size() == 3;
  });
}

bool is_framed(const Call& c) { return present(c, input_members) && has_three_axes(c); }

std::vector<Check> presence_checks() {
  constexpr Status null = Status::param_nullptr;
  return {
      {"NSAS-C02", null, "the required tensors are given",
       [](const Call& c) { return present(c, input_members) && present(c, gradients); }},
      {"NSAS-C03", null, "inputLayout, workspaceSize and executor are given",
       [](const Call& c) {
         return c.attributes.input_layout && c.parameters.workspace_size && c.parameters.executor;
       }},
      {"NSAS-C14", null, "the lengths of the sequences are given",
       [](const Call& c) { return c.parameters.actual_seq_qlen && c.parameters.actual_seq_kvlen; }},
      {"NSAS-C24", Status::param_invalid, "there is a sequence", [](const Call& c) {
         const auto &q = c.parameters.actual_seq_qlen, &kv = c.parameters.actual_seq_kvlen;
         return (!q || !q->empty()) && (!kv || !kv->empty());
       }}};
}

std::vector<Check> type_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"NSAS-C04", invalid, "the operands are fp16 or bf16",
       [](const Call& c) { return each(c, operands, is_half); }},
      {"NSAS-C05", invalid, "the statistics are fp32",
       [](const Call& c) {
         return each(c, {&P::softmax_max, &P::softmax_sum},
                     [](const Parameter& tensor) { return tensor.dtype == DType::fp32; });
       }},
      {"NSAS-C06", invalid, "topk_indices is int32",
       [](const Call& c) { return c.parameters.topk_indices.dtype == DType::int32; }},
      {"NSAS-C07", invalid, "atten_mask is bool or uint8",
       [](const Call& c) {
         return each(c, {&P::atten_mask}, [](const Parameter& tensor) {
           return tensor.dtype == DType::boolean || tensor.dtype == DType::uint8;
         });
       }},
      {"NSAS-C08", invalid, "the gradients are fp16 or bf16",
       [](const Call& c) { return each(c, gradients, is_half); }},
      {"NSAS-C08a", invalid, "the gradients have the type of query",
       [](const Call& c) { return like_query(c, gradients); }},
      {"NSAS-C09", invalid, "the operands have one type",
       [](const Call& c) { return like_query(c, operands); }},
      {"NSAS-C10", invalid, "no tensor has a private format",
       [](const Call& c) {
         return each(c, operands, is_plain) && each(c, gradients, is_plain) &&
                each(c, {&P::softmax_max, &P::softmax_sum, &P::atten_mask}, is_plain);
       }},
      {"NSAS-C10a", invalid, "topk_indices has no private format",
       [](const Call& c) { return each(c, {&P::topk_indices}, is_plain); }},
  };
}

}  // namespace assay::mutants::selected

#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// Returns whether this file's requirements check the tensor. Requirement FAG-C29d checks all
/// tensors of entry point u3; FAG-C11 checks the paddingMask of u2 and u4.
template <FlashMember member>
bool takes(const FlashCall& c) {
  return !is_u3(c) && !(is_of_public_page(c) && member == &P::padding_mask);
}

template <FlashMember member, DType dtype, std::int64_t... extents>
void pass(FlashCall& call) {
  if (!takes<member>(call)) return;
  call.parameters.*member = {.present = true, .dtype = dtype};
  reshape(call.parameters.*member, {extents...});
}

bool passes_reserved_input(const FlashCall& c) {
  return (takes<&P::padding_mask>(c) && given(c.parameters.padding_mask)) ||
         (takes<&P::softmax_in>(c) && given(c.parameters.softmax_in));
}

bool passes_dpse(const FlashCall& c) { return !is_u3(c) && given(c.parameters.dpse); }
bool passes_dpse_of_u1(const FlashCall& c) { return is_u1(c) && passes_dpse(c); }

/// Requires legal types of the reserved inputs paddingMask and softmaxIn. The vendor's code never
/// uses their values, so nobody verified how the host code treats other types.
FlashRequirement reserved_types() {
  return stated(
      with_status(by("FAG-C29", {unpadding_page, "parameters"}, "FAG-Q39", u1_page),
                  Status::param_invalid),
      {.statement =
           "paddingMask is null, UINT8 or BOOL; softmaxIn is null, FLOAT16, BFLOAT16 or FLOAT32.",
       .applies = passes_reserved_input,
       .holds =
           [](const FlashCall& c) {
             const Parameter& mask = c.parameters.padding_mask;
             const Parameter& softmax_in = c.parameters.softmax_in;
             return (!takes<&P::padding_mask>(c) || !given(mask) || mask.dtype == DType::uint8 ||
                     mask.dtype == DType::boolean) &&
                    (is_u3(c) || !given(softmax_in) || is_fp16_bf16_fp32(softmax_in.dtype));
           },
       .violations = {{"padding_mask", pass<&P::padding_mask, DType::fp32, 1, 1, 8, 8>},
                      {"softmax_in", pass<&P::softmax_in, DType::int32, 1, 8, 8>}},
       .variants = {{"padding_mask_bool", pass<&P::padding_mask, DType::boolean, 8, 8>},
                    {"padding_mask_uint8", pass<&P::padding_mask, DType::uint8, 1, 1, 8, 8>},
                    {"softmax_in_fp16", pass<&P::softmax_in, DType::fp16, 8, 4, 8>},
                    {"softmax_in_bf16", pass<&P::softmax_in, DType::bf16, 8, 4, 8>},
                    {"softmax_in_fp32", pass<&P::softmax_in, DType::fp32, 1, 4, 8, 8>}}});
}

/// Requires legal types of the reserved output dpseOut. The documentation page lists its types, but
/// no error for other types, and no kernel writes this output.
FlashRequirement dpse_types() {
  return stated(
      by(Standing::open, "FAG-C29a", {unpadding_page, "parameters"}, "FAG-Q22", u1_page),
      {.statement =
           "dpseOut, if passed, is FLOAT16, BFLOAT16 or FLOAT32; no page promises a refusal.",
       .sides = {Side::reject},
       .applies = passes_dpse_of_u1,
       .holds =
           [](const FlashCall& c) {
             return !passes_dpse_of_u1(c) || is_fp16_bf16_fp32(c.parameters.dpse.dtype);
           },
       .violations = {{"dpse", [](FlashCall& c) {
                         if (is_u1(c)) pass<&P::dpse, DType::int32, 1, 1, 8, 8>(c);
                       }}}});
}

FlashRequirement passed_dpse() {
  return stated(by("FAG-C29b", {unpadding_page, "parameters"}, "FAG-Q22", u1_page),
                {.statement = "dpseOut may be passed; it has no meaning.",
                 .sides = {Side::accept},
                 .applies = passes_dpse,
                 .variants = {{"fp16", pass<&P::dpse, DType::fp16, 1, 4, 8, 8>},
                              {"bf16", pass<&P::dpse, DType::bf16, 1, 4, 8, 8>},
                              {"fp32", pass<&P::dpse, DType::fp32, 1, 4, 8, 8>}}});
}

/// Requires the documented number of axes of reserved tensors. The documentation page lists these
/// numbers but no error for other numbers, and the vendor's host code never checks them.
FlashRequirement reserved_ranks() {
  static constexpr auto has = [](const Parameter& p, std::initializer_list<std::size_t> ranks) {
    return !given(p) || std::ranges::count(ranks, p.shape.size()) > 0;
  };
  return stated(
      by(Standing::open, "FAG-C29c", {unpadding_page, "parameters"}, {}, u1_page),
      {.statement =
           "The page lists two or four axes for paddingMask, three or four for softmaxIn and "
           "four for dpseOut.",
       .sides = {Side::reject},
       .applies =
           [](const FlashCall& c) {
             return is_u1(c) && (passes_reserved_input(c) || passes_dpse(c));
           },
       .holds =
           [](const FlashCall& c) {
             const P& p = c.parameters;
             return !is_u1(c) ||
                    (has(p.padding_mask, {2, 4}) && has(p.softmax_in, {3, 4}) && has(p.dpse, {4}));
           },
       .violations = {{"padding_mask",
                       [](FlashCall& c) {
                         if (is_u1(c)) pass<&P::padding_mask, DType::uint8, 1, 8, 8>(c);
                       }},
                      {"softmax_in",
                       [](FlashCall& c) {
                         if (is_u1(c)) pass<&P::softmax_in, DType::fp32, 8, 8>(c);
                       }},
                      {"dpse", [](FlashCall& c) {
                         if (is_u1(c)) pass<&P::dpse, DType::fp32, 8, 8, 8>(c);
                       }}}});
}

template <FlashMember member, DType dtype, std::int64_t... extents>
void pass_on_u3(FlashCall& call) {
  if (!is_u3(call)) return;
  call.parameters.*member = {.present = true, .dtype = dtype};
  reshape(call.parameters.*member, {extents...});
}

/// Allows softmaxIn and dpseOut on entry point u3. The documentation page says "not used" and lists
/// neither types nor axes for them.
FlashRequirement unused_on_u3() {
  return stated(by("FAG-C29d", {rope_page, "parameters"}, {}, u3_page),
                {.statement = "softmaxIn and dpseOut may be passed; they have no meaning.",
                 .sides = {Side::accept},
                 .applies =
                     [](const FlashCall& c) {
                       return is_u3(c) &&
                              (given(c.parameters.softmax_in) || given(c.parameters.dpse));
                     },
                 .variants = {{"softmax_in", pass_on_u3<&P::softmax_in, DType::bf16, 8, 4, 8>},
                              {"dpse", pass_on_u3<&P::dpse, DType::bf16, 1, 4, 8, 8>}}});
}

/// Passes a tensor of rank 0, because the documentation page contains a "0" in its column of axes.
template <FlashMember member, DType dtype>
void pass_scalar(FlashCall& call) {
  if (is_u3(call) || (call.parameters.*member).present) return;
  call.parameters.*member = {.present = true, .dtype = dtype};
}

/// Allows optional tensors of rank 0. The documentation page lists rank 0 for every tensor; the
/// vendor's code reads such a tensor as a null pointer.
FlashRequirement scalars() {
  static constexpr FlashMember optional[] = {&P::pse_shift,  &P::drop_mask,  &P::padding_mask,
                                             &P::atten_mask, &P::softmax_in, &P::dpse};
  return stated(by("API-6", {unpadding_page, "parameters"}, {}, u1_page),
                {.statement = "An optional tensor may be null or have rank 0; both mean that it "
                              "is absent.",
                 .sides = {Side::accept},
                 .applies =
                     [](const FlashCall& c) {
                       return !is_u3(c) && std::ranges::any_of(optional, [&](FlashMember member) {
                         return (c.parameters.*member).present &&
                                (c.parameters.*member).shape.empty();
                       });
                     },
                 .variants = {{"pse_shift", pass_scalar<&P::pse_shift, DType::fp32>},
                              {"drop_mask", pass_scalar<&P::drop_mask, DType::uint8>},
                              {"padding_mask", pass_scalar<&P::padding_mask, DType::uint8>},
                              {"atten_mask", pass_scalar<&P::atten_mask, DType::boolean>},
                              {"softmax_in", pass_scalar<&P::softmax_in, DType::fp32>},
                              {"dpse", pass_scalar<&P::dpse, DType::fp32>}}});
}

template <std::int64_t value>
void set_inner_precise(FlashCall& call) {
  call.attributes.inner_precise = value;
}

/// Allows any value of innerPrecise. The documentation pages of the entry points u1 and u3 call
/// this attribute unused. Other pages give meanings to its values, but these meanings belong to the
/// forward operator.
FlashRequirement inner_precise() {
  return stated(by("FAG-C85", {unpadding_page, "parameters"}, {}, u_pages, public_pages),
                {.statement = "innerPrecise may have any value: it is not used.",
                 .sides = {Side::accept},
                 .variants = {{"two", set_inner_precise<2>}, {"negative", set_inner_precise<-1>}}});
}

}  // namespace

std::vector<FlashRequirement> reserved_requirements() {
  return {scalars(),        reserved_types(), dpse_types(),   passed_dpse(),
          reserved_ranks(), unused_on_u3(),   inner_precise()};
}

}  // namespace assay::spec::detail

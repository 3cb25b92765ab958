#include <algorithm>
#include <utility>

#include "operators/nsa_compress_grad/table.hpp"

namespace assay::spec::nsa {
namespace {

using Op = CompressOp;
using P = Op::Parameters;

enum : std::size_t { tokens, heads, dim };

constexpr std::int64_t most_heads = 128, largest_head = 256, largest_window = 128;

/// Changes the weights together with their gradient, so that the call still satisfies NSAC-C18.
template <std::size_t axis>
void grow_weights(CompressCall& call) {
  grow(call.parameters.weight, axis);
  grow(call.parameters.weight_grad, axis);
}

CompressRow ranks() {
  return {
      .id = "NSAC-C07",
      .statement = "outputGrad, input and inputGrad have three axes, weight and weightGrad two.",
      .source = {compress_page, "parameters"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAC-Q1",
      .applies = always<Op>,
      .holds =
          [](const CompressCall& c) {
            return all_have_rank<Op>(c, {&P::output_grad, &P::input, &P::input_grad}, 3) &&
                   all_have_rank<Op>(c, {&P::weight, &P::weight_grad}, 2);
          },
      .violations = {{"output_grad", add_axis<Op, &P::output_grad>},
                     {"input", add_axis<Op, &P::input>},
                     {"weight", add_axis<Op, &P::weight>},
                     {"input_grad", add_axis<Op, &P::input_grad>},
                     {"weight_grad", add_axis<Op, &P::weight_grad>},
                     {"input_of_two", drop_axis<Op, &P::input>},
                     {"weight_of_one", drop_axis<Op, &P::weight>}}};
}

CompressRow weight_shape() {
  return {.id = "NSAC-C08",
          .statement = "weight has the shape (compressBlockSize, N).",
          .source = {compress_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q3, NSAC-Q4",
          .status = exactly(Status::param_invalid),
          .applies = ranks_fit,
          .holds =
              [](const CompressCall& c) {
                if (!ranks_fit(c)) return true;
                return c.parameters.weight.shape ==
                       Shape{c.attributes.compress_block_size, c.parameters.input.shape[heads]};
              },
          .violations = {{"window", grow_weights<0>}, {"heads", grow_weights<1>}}};
}

/// The page calls outputGrad the gradient of the forward's output; only its example shows the
/// number of rows.
CompressRow output_gradient_shape() {
  return {.id = "NSAC-C16",
          .statement =
              "outputGrad has one row for each window of each sequence; its N and D are those "
              "of input.",
          .source = {compress_page, "parameters"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q12",
          .applies = [](const CompressCall& c) { return windows_as_given(c).has_value(); },
          .holds =
              [](const CompressCall& c) {
                const auto windows = windows_as_given(c);
                const P& p = c.parameters;
                return !windows || p.output_grad.shape ==
                                       Shape{*windows, p.input.shape[heads], p.input.shape[dim]};
              },
          .violations = {{"window_more", grow_one<Op, &P::output_grad, tokens>},
                         {"window_less",
                          [](CompressCall& c) {
                            Parameter& gradient = c.parameters.output_grad;
                            if (given(gradient) && gradient.shape[tokens] > 1)
                              grow(gradient, tokens, -1);
                          }},
                         {"heads", grow_one<Op, &P::output_grad, heads>},
                         {"head_dim", grow_one<Op, &P::output_grad, dim>}}};
}

template <Member<Op> tensor, Member<Op> model>
CompressRow shape_of(std::string_view id, std::string_view statement,
                     std::vector<Violation<Op>> violations) {
  return {.id = id,
          .statement = statement,
          .source = {compress_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const CompressCall& c) {
                return !ranks_fit(c) || (c.parameters.*tensor).shape == (c.parameters.*model).shape;
              },
          .violations = std::move(violations)};
}

CompressRow input_gradient_shape() {
  return shape_of<&P::input_grad, &P::input>("NSAC-C17", "inputGrad has the shape of input.",
                                             {{"tokens", grow_one<Op, &P::input_grad, tokens>},
                                              {"heads", grow_one<Op, &P::input_grad, heads>},
                                              {"head_dim", grow_one<Op, &P::input_grad, dim>}});
}

CompressRow weight_gradient_shape() {
  return shape_of<&P::weight_grad, &P::weight>(
      "NSAC-C18", "weightGrad has the shape of weight.",
      {{"window", grow_one<Op, &P::weight_grad, 0>}, {"heads", grow_one<Op, &P::weight_grad, 1>}});
}

/// The gradient's page limits neither heads and windows nor D. Only the host code requires
/// multiples of 16. Only the forward's page limits heads and windows to 128 and D to 256.
CompressRow offered_sizes(std::string_view id, std::string_view statement, Source source,
                          std::string_view notes, bool (*applies)(const CompressCall&)) {
  return {.id = id,
          .statement = statement,
          .source = source,
          .standing = Standing::derived,
          .sides = {Side::accept},
          .notes = notes,
          .applies = applies,
          .holds = always<Op>,
          .violations = {}};
}

CompressRow any_head_size() {
  return offered_sizes("NSAC-C19", "D need not be a multiple of 16.",
                       {compress_page, "constraints"}, {}, [](const CompressCall& c) {
                         return ranks_fit(c) && c.parameters.input.shape[dim] % 16 != 0;
                       });
}

CompressRow beyond_the_forward() {
  return offered_sizes("NSAC-C20", "N and compressBlockSize may be above 128, and D above 256.",
                       {compress_page, "constraints"}, "NSAC-Q13", [](const CompressCall& c) {
                         return ranks_fit(c) && (c.parameters.input.shape[heads] > most_heads ||
                                                 c.parameters.input.shape[dim] > largest_head ||
                                                 c.attributes.compress_block_size > largest_window);
                       });
}

}  // namespace

std::vector<CompressRow> compress_shape_requirements() {
  return {ranks(),
          weight_shape(),
          output_gradient_shape(),
          input_gradient_shape(),
          weight_gradient_shape(),
          any_head_size(),
          beyond_the_forward()};
}

}  // namespace assay::spec::nsa

#include "operators/compression/requirements.hpp"

#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::spec {
namespace nsa {
namespace {

using Op = NsaCompressGrad;
using P = Op::Parameters;
using Call = spec::Call<Op>;
using Row = Requirement<Op>;

constexpr Tensors<Op, &P::input, &P::weight> operands;
constexpr Tensors<Op, &P::output_grad, &P::input_grad, &P::weight_grad> gradients;

constexpr Source products = {compress_page, "products"};
constexpr Source returns = {compress_page, "return values"};
constexpr Source parameters = {compress_page, "parameters"};
constexpr Source constraints = {compress_page, "constraints"};
constexpr Standing documented = Standing::documented;
constexpr ExpectedStatus invalid = exactly(Status::param_invalid),
                         null = exactly(Status::param_nullptr);

/// Builds a requirement from a section of a documentation page, with the status code that the page
/// names.
Row stated(std::string_view id, Source source, std::string_view statement = {},
           std::string_view notes = {}, ExpectedStatus status = any_refusal) {
  return {.id = id,
          .statement = statement,
          .source = source,
          .standing = documented,
          .notes = notes,
          .status = status};
}

std::vector<Row> presence() {
  return {
      offered_on_a2<Op>(
          stated("NSAC-C01", products, "Atlas A2 training products offer aclnnNsaCompressGrad.")),
      not_offered_on_a3<Op>(
          stated("NSAC-C01a", products,
                 "Atlas A3 training and inference products do not offer aclnnNsaCompressGrad.",
                 "NSAC-Q11")),
      unexercised<Op>(
          "NSAC-C01b",
          "Ascend 910_95, Atlas 800I A2, A200I A2 Box, Atlas 200I/500 A2 inference, Atlas "
          "inference, Atlas training and Atlas 200I/300/500 inference products do not offer "
          "aclnnNsaCompressGrad.",
          products, documented, other_products_reason),
      not_null(all_tensors<Op>,
               stated("NSAC-C02", returns,
                      "input, weight, outputGrad, inputGrad and weightGrad are not null.",
                      "NSAC-Q1, NSAC-Q2", null)),
      pointers_not_null<Op>(of_standing(Standing::derived, stated("NSAC-C03", parameters))),
      // The gradient's documentation page does not mention empty tensors, but the page of the
      // forward forbids them. The gradients would be 0.
      with_elements(
          Tensors<Op, &P::output_grad, &P::input, &P::weight>(),
          contested(
              Standing::disputed,
              stated(
                  "NSAC-C21", {upstream_compress_forward, "constraints"},
                  "No tensor is empty; the documents do not say how an empty tensor is handled."))),
      first_phase<Op>("NSAC-C24", {compress_page, "prototypes"}, documented),
      one_second_phase<Op>("NSAC-C24a")};
}

std::vector<Row> types() {
  return {
      of_16_bits<DType::fp32, DType::int8>(
          operands, stated("NSAC-C04", returns, "input and weight are FLOAT16 or BFLOAT16.",
                           "NSAC-Q15", invalid)),
      of_16_bits<DType::fp32, DType::fp64, DType::fp32>(
          gradients, stated("NSAC-C05", parameters,
                            "outputGrad, inputGrad and weightGrad are FLOAT16 or BFLOAT16.")),
      of_type_of<&P::input>(
          Tensors<Op, &P::weight, &P::input_grad, &P::weight_grad>(),
          stated(
              "NSAC-C06", parameters,
              "weight and inputGrad have the type of input; weightGrad has the type of weight.")),
      of_type_of<&P::input>(
          Tensors<Op, &P::output_grad>(),
          of_standing(Standing::upstream,
                      stated("NSAC-C06a", {upstream_compress_tiling, "operator prototype"},
                             "outputGrad has the type of input."))),
      of_plain_format<Format::fractal_nz, Format::nc1hwc0, Format::fractal_z, Format::fractal_nz,
                      Format::fractal_z>(all_tensors<Op>, stated("NSAC-C22", parameters)),
      // Later editions of the documentation call strided outputs unsupported; this edition marks
      // them as supported.
      maybe_strided(all_tensors<Op>, stated("NSAC-C23", parameters))};
}

/// Requires that a gradient has the shape of the tensor to which it belongs.
template <Member<Op> gradient, Member<Op> tensor>
Row shape_of(Row row) {
  row.source = parameters;
  row.standing = documented;
  row.applies = ranks_fit<Op>;
  row.holds = [](const Call& c) {
    return !ranks_fit(c) || (c.parameters.*gradient).shape == (c.parameters.*tensor).shape;
  };
  return row;
}

/// Sizes that a kernel must accept, because the gradient's documentation page does not limit them:
/// the numbers of heads and windows, and the head size D. Other sources have limits: the vendor's
/// host code requires multiples of 16, and the page of the forward allows at most 128 heads, 128
/// windows and D = 256.
Row offered_sizes(Row row) {
  row.source = constraints;
  row.standing = Standing::derived;
  row.sides = {Side::accept};
  return row;
}

std::vector<Row> shapes() {
  return {
      of_listed_rank(all_tensors<Op>,
                     {.id = "NSAC-C07",
                      .statement = "outputGrad, input and inputGrad have three axes, and weight "
                                   "and weightGrad have two axes.",
                      .source = parameters,
                      .standing = documented,
                      .notes = "NSAC-Q1",
                      .violations = {{"input_of_two", drop_axis<Op, &P::input>},
                                     {"weight_of_one", drop_axis<Op, &P::weight>}}}),
      shaped_as_weights<Op>(stated("NSAC-C08", returns, {}, "NSAC-Q3, NSAC-Q4", invalid)),
      // The documentation page says only that outputGrad is the gradient of the forward's output.
      // The number of rows is visible only in the page's example.
      shaped_as_windows<Op, &P::output_grad>(of_standing(
          Standing::derived,
          stated(
              "NSAC-C16", parameters,
              "outputGrad has one row for each window of each sequence; its N and D are those of "
              "input.",
              "NSAC-Q12"))),
      shape_of<&P::input_grad, &P::input>(
          {.id = "NSAC-C17",
           .statement = "inputGrad has the shape of input.",
           .violations = {{"tokens", grow_one<Op, &P::input_grad, 0>},
                          {"heads", grow_one<Op, &P::input_grad, 1>},
                          {"head_dim", grow_one<Op, &P::input_grad, 2>}}}),
      shape_of<&P::weight_grad, &P::weight>(
          {.id = "NSAC-C18",
           .statement = "weightGrad has the shape of weight.",
           .violations = {{"window", grow_one<Op, &P::weight_grad, 0>},
                          {"heads", grow_one<Op, &P::weight_grad, 1>}}}),
      offered_sizes({.id = "NSAC-C19",
                     .statement = "D need not be a multiple of 16.",
                     .applies =
                         [](const Call& c) {
                           return ranks_fit(c) && c.parameters.input.shape[2] % 16 != 0;
                         }}),
      offered_sizes(
          {.id = "NSAC-C20",
           .statement = "N and compressBlockSize may be above 128, and D may be above 256.",
           .notes = "NSAC-Q13",
           .applies = [](const Call& c) {
             return ranks_fit(c) &&
                    (c.parameters.input.shape[1] > 128 || c.parameters.input.shape[2] > 256 ||
                     c.attributes.compress_block_size > 128);
           }})};
}

std::vector<Row> windows() {
  return {
      layout_is_tnd<Op>(stated("NSAC-C09", returns, {}, "NSAC-Q8", invalid)),
      // The documentation contradicts itself: the table of parameters calls layout optional, and
      // the table of return codes does not list it among the forbidden null pointers.
      layout_given<Op>(stated("NSAC-C09a", parameters, {}, "NSAC-Q2")),
      multiple_of_16<Op, &Attributes::compress_block_size>(stated("NSAC-C10", constraints)),
      multiple_of_16<Op, &Attributes::compress_stride>(stated("NSAC-C11", constraints)),
      // Read literally, the documentation page allows a stride of 0, because 0 is a multiple of 16
      // and smaller than every window. The vendor's host code accepts a stride of 0.
      positive_stride<Op>(
          contested(Standing::disputed,
                    stated("NSAC-C11a", constraints,
                           "compressStride is above 0, although no document says this."))),
      no_gaps<Op>(implying(stated("NSAC-C12", constraints, {}, "NSAC-Q7"), {"NSAC-C08"})),
      // The gradient's documentation page says that compressBlockSize is larger than
      // compressStride. The forward's page and the vendor's host code also accept equal sizes.
      contested(
          Standing::open,
          tested(
              stated("NSAC-C12a", constraints,
                     "compressBlockSize is larger than compressStride; the forward and the kernel "
                     "also accept equal sizes.",
                     "NSAC-Q7"),
              [](const Call& c) {
                return c.attributes.compress_block_size != c.attributes.compress_stride;
              },
              {{"equal", make_windows<32, 32, Op>}})),
      tested(stated("NSAC-C13", parameters, "actSeqLenType is 0 or 1.", "NSAC-Q5, NSAC-Q9"),
             [](const Call& c) {
               return c.attributes.act_seq_len_type == 0 || c.attributes.act_seq_len_type == 1;
             },
             {{"2", set<&Attributes::act_seq_len_type, 2, Op>},
              {"negative", set<&Attributes::act_seq_len_type, -1, Op>}}),
      // The documentation page says that actSeqLenType supports "only 0 at present". The vendor's
      // host code also accepts 1. The kernel then reads plain lengths instead of cumulative ones.
      contested(Standing::open,
                tested(stated("NSAC-C13a", parameters,
                              "actSeqLenType is 0: actSeqLen contains cumulative sums of the "
                              "lengths. If actSeqLenType is 1, the vendor's kernel reads lengths.",
                              "NSAC-Q9"),
                       [](const Call& c) { return c.attributes.act_seq_len_type != 1; },
                       {{"1", pass_lengths<Op>}})),
      ascending_sums<Op>(
          of_standing(Standing::derived, stated("NSAC-C14", parameters, {}, "NSAC-Q5, NSAC-Q6"))),
      sums_given<Op>(contested(Standing::disputed,
                               stated("NSAC-C14a", parameters,
                                      "actSeqLen is given; the documents do not say whether its "
                                      "absence means one sequence or several equal ones.",
                                      "NSAC-Q10, NSAC-Q14, NSAS-U5"))),
      sums_of_all_tokens<Op>(of_standing(
          Standing::upstream, stated("NSAC-C15", {upstream_compress_forward, "constraints"})))};
}

}  // namespace
}  // namespace nsa

std::span<const Requirement<NsaCompressGrad>> NsaCompressGrad::requirements() {
  static const auto requirements = nsa::sorted_requirements<NsaCompressGrad>(
      {nsa::presence, nsa::types, nsa::shapes, nsa::windows});
  return requirements;
}

bool supports(CompressEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(CompressEntryPoint, Product product) {
  return product == Product::a2 ? "NSAC-C01" : "NSAC-C01a";
}

}  // namespace assay::spec

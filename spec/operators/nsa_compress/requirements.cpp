#include "operators/compression/requirements.hpp"

#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::spec {
namespace nsa {
namespace {

using Op = NsaCompress;
using P = Op::Parameters;
using Row = Requirement<Op>;

constexpr auto tensors = all_tensors<Op>;
constexpr std::string_view returns = "return values", parameters = "parameters",
                           sizes = "constraints";
constexpr ExpectedStatus invalid = exactly(Status::param_invalid);

/// Builds a requirement from a section of the documentation page, with the status code that the
/// page names.
Row stated(std::string_view id, std::string_view section, std::string_view statement,
           std::string_view notes = {}, ExpectedStatus status = any_refusal) {
  return {.id = id,
          .statement = statement,
          .source = {upstream_compress_forward, section},
          .standing = Standing::page,
          .notes = notes,
          .status = status};
}
/// Builds a requirement that only the vendor's host code states.
Row coded(std::string_view id, std::string_view statement = {}, std::string_view notes = {}) {
  Row row = stated(id, "tiling", statement, notes);
  row.source.document = "ops-transformer: attention/nsa_compress/op_host";
  row.standing = Standing::upstream;
  return row;
}
/// Returns the extent of an axis of input; 0 if the call has a wrong rank, which another
/// requirement checks.
std::int64_t extent(const Call<Op>& c, std::size_t axis) {
  return ranks_fit(c) ? c.parameters.input.shape[axis] : 0;
}
std::int64_t window(const Call<Op>& c) { return c.attributes.compress_block_size; }

std::vector<Row> rows() {
  Row largest_head = contested(
      Standing::disputed, tested(stated("NSCF-C06b", sizes, "D is at most 256.", "NSAC-Q13"),
                                 [](const Call<Op>& c) { return extent(c, 2) <= 256; },
                                 {{"272", rewrite_with<&CompressionProblem::head_dim, 272, Op>}}));
  Row overlap = no_gaps<Op>(stated("NSCF-C07d", sizes, {}, "NSAC-Q7"));
  overlap.implies = {"NSCF-C04"};
  overlap.reaches = [](const Call<Op>& c) { return window(c) == c.attributes.compress_stride; };
  return {
      not_null(tensors, stated("NSCF-C01", returns, "input, weight and output are not null.", {},
                               exactly(Status::param_nullptr))),
      sums_given<Op>(
          stated("NSCF-C01a", parameters, "actSeqLen has at least one entry.", "NSCF-Q1")),
      pointers_not_null<Op>(coded("NSCF-C01b")),
      of_16_bits<DType::fp32, DType::int8, DType::fp64>(
          tensors, stated("NSCF-C02", returns, "input, weight and output are FLOAT16 or BFLOAT16.",
                          {}, invalid)),
      of_type_of<&P::input>(
          Tensors<Op, &P::weight, &P::output>(),
          stated("NSCF-C02a", parameters, "weight and output have the type of input.")),
      of_listed_rank(tensors, stated("NSCF-C03", parameters,
                                     "input and output have three axes, and weight has two axes.")),
      with_elements(tensors, stated("NSCF-C03a", parameters, "No tensor is empty.")),
      shaped_as_weights<Op>(stated("NSCF-C04", returns, {}, "NSAC-Q4", invalid)),
      layout_is_tnd<Op>(stated("NSCF-C05", returns, {}, {}, invalid)),
      layout_given<Op>(stated("NSCF-C05a", parameters, {})),
      tested(
          stated("NSCF-C06", sizes, "N is at most 128."),
          [](const Call<Op>& c) { return extent(c, 1) <= 128; },
          {{"129", rewrite_with<&CompressionProblem::heads, 129, Op>}},
          [](const Call<Op>& c) { return extent(c, 1) == 128; }),
      tested(stated("NSCF-C06a", sizes, "D is a multiple of 16."),
             [](const Call<Op>& c) { return extent(c, 2) % 16 == 0; },
             {{"24", rewrite_with<&CompressionProblem::head_dim, 24, Op>}}),
      largest_head,
      multiple_of_16<Op, &Attributes::compress_block_size>(stated("NSCF-C07", sizes, {})),
      tested(
          stated("NSCF-C07a", sizes, "compressBlockSize is at most 128."),
          [](const Call<Op>& c) { return window(c) <= 128; }, {{"144", make_windows<144, 16, Op>}},
          [](const Call<Op>& c) { return window(c) == 128; }),
      multiple_of_16<Op, &Attributes::compress_stride>(stated("NSCF-C07b", sizes, {})),
      positive_stride<Op>(stated("NSCF-C07c", sizes, "compressStride is above 0.")),
      overlap,
      tested(stated("NSCF-C08", parameters, "actSeqLenType is 0."),
             [](const Call<Op>& c) { return c.attributes.act_seq_len_type == 0; },
             {{"1", pass_lengths<Op>}, {"2", set<&Attributes::act_seq_len_type, 2, Op>}}),
      sums_of_all_tokens<Op>(stated("NSCF-C08a", sizes, {})),
      ascending_sums<Op>(coded("NSCF-C08b", {}, "NSAC-Q6")),
      shaped_as_windows<Op, &P::output>(
          coded("NSCF-C09",
                "output has one row for each window of each sequence; its N and D are those of "
                "input.",
                "NSCF-Q2, NSCF-Q3")),
      offered_on_a2<Op>(
          stated("NSCF-C10", "products", "Atlas A2 products offer aclnnNsaCompress.")),
      not_offered_on_a3<Op>(
          stated("NSCF-C10a", "products", "Atlas A3 products do not offer aclnnNsaCompress.")),
      of_plain_format<Format::fractal_nz, Format::fractal_z, Format::nc1hwc0>(
          tensors, stated("NSCF-C11", returns, {}, {}, invalid)),
      maybe_strided(tensors, stated("NSCF-C12", parameters, {})),
      first_phase<Op>("NSCF-C13", {upstream_compress_forward, "prototypes"}, Standing::page),
      one_second_phase<Op>("NSCF-C13a")};
}

}  // namespace
}  // namespace nsa

std::span<const Requirement<NsaCompress>> NsaCompress::requirements() {
  static const auto requirements = nsa::sorted_requirements<NsaCompress>({nsa::rows});
  return requirements;
}

bool supports(NsaCompressEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(NsaCompressEntryPoint, Product product) {
  return product == Product::a2 ? "NSCF-C10" : "NSCF-C10a";
}

}  // namespace assay::spec

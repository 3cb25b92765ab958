#include "operators/selection/requirements.hpp"

#include "operators/nsa_selected_attention/table.hpp"

namespace assay::spec {
namespace nsa::selection::forward {
namespace {

using Op = NsaSelectedAttention;
using P = Op::Parameters;
using Row = Requirement<Op>;

constexpr auto tensors = ranked<Op>;
constexpr Tensors<Op, &P::query, &P::key, &P::value, &P::attention_out> of_16;
constexpr std::string_view returns = "return values", parameters = "parameters",
                           limits = "constraints";
constexpr ExpectedStatus invalid = exactly(Status::param_invalid);

/// Builds a requirement from a section of the documentation page, with the status code that the
/// page names.
Row stated(std::string_view id, std::string_view section, std::string_view statement = {},
           std::string_view notes = {}, ExpectedStatus status = any_refusal) {
  return {.id = id,
          .statement = statement,
          .source = {upstream_selected_forward, section},
          .standing = Standing::page,
          .notes = notes,
          .status = status};
}
Row coded(std::string_view id, std::string_view statement = {}) {
  Row row = stated(id, "tiling", statement);
  row.source.document = "ops-transformer: attention/nsa_selected_attention/op_host";
  row.standing = Standing::upstream;
  return row;
}
/// Builds a requirement about a limit on which the documentation pages or the vendor's code
/// disagree.
Row disputed(Row row) { return contested(Standing::disputed, std::move(row)); }

std::int64_t listed(const Call<Op>& c) {
  return c.attributes.selected_block_size * c.attributes.selected_block_count;
}
bool is_small(const Call<Op>& c) {
  const auto& a = c.attributes;
  return has_lengths(c) && a.selected_block_size > 0 && a.selected_block_size <= 128 &&
         a.selected_block_count <= 128;
}

std::vector<Row> presence_and_types() {
  return {
      not_null(tensors, stated("NSSF-C01", returns,
                               "query, key, value, topkIndices, softmaxMaxOut, softmaxSumOut and "
                               "attentionOut are not null.",
                               "NSSF-Q1")),
      tested(stated("NSSF-C01a", returns, "inputLayout is not null.", "NSSF-Q1"),
             [](const Call<Op>& c) { return c.attributes.input_layout.has_value(); },
             {{"input_layout", [](Call<Op>& c) { c.attributes.input_layout.reset(); }}}),
      pointers_not_null<Op>(stated("NSSF-C01b", returns, {}, "NSSF-Q1")),
      of_16_bits<DType::fp32, DType::int8, DType::fp64, DType::fp32>(
          of_16,
          stated("NSSF-C02", returns, "query, key, value and attentionOut are FLOAT16 or BFLOAT16.",
                 {}, invalid)),
      mask_of_bytes<Op>(stated("NSSF-C02a", returns, {}, {}, invalid)),
      statistics_of_fp32<Op>(
          stated("NSSF-C02b", returns, "softmaxMaxOut and softmaxSumOut are FLOAT.", {}, invalid)),
      of_plain_format<Format::fractal_nz, Format::fractal_z, Format::nc1hwc0, Format::fractal_nz,
                      Format::fractal_z, Format::nc1hwc0, Format::fractal_nz>(
          tensors, stated("NSSF-C02c", returns, {}, {}, invalid)),
      tested(stated("NSSF-C02d", returns, "attenMask has storage format ND, never a private one.",
                    {}, invalid),
             [](const Call<Op>& c) { return all_plain<Op>(c, {&P::atten_mask}); },
             {{"atten_mask", put_private_mask<Op>}}),
      of_type_of<&P::query>(
          Tensors<Op, &P::key, &P::value, &P::attention_out>(),
          stated("NSSF-C03", parameters, "key, value and attentionOut have the type of query.")),
      indices_of_int32<Op>(stated("NSSF-C03a", parameters)),
      of_listed_rank(tensors, stated("NSSF-C03b", parameters,
                                     "Tensors other than attenMask have three axes, like TND.")),
      layout_is_tnd<Op>(stated("NSSF-C04", returns, {}, "NSSF-Q2"))};
}

std::vector<Row> lengths() {
  Row more_keys = stated("NSSF-C09a", limits,
                         "Every sequence of key has more than selectedBlockSize * "
                         "selectedBlockCount tokens.",
                         "NSSF-Q5");
  more_keys.applies = is_small;
  more_keys.holds = [](const Call<Op>& c) {
    return !is_small(c) || every_length(c.parameters.actual_seq_kvlen,
                                        [&](std::int64_t length) { return length != listed(c); });
  };
  more_keys.violations = {{"equal", [](Call<Op>& c) {
                             rewrite(c, [](SelectionProblem& p) {
                               p.seq_kv = p.selected_block_size * p.selected_block_count;
                             });
                           }}};
  Row many_sequences = tested(
      stated("NSSF-C10c", limits, "There are at most 1024 sequences.", "NSSF-Q6"),
      [](const Call<Op>& c) {
        const Sums& sums = c.parameters.actual_seq_qlen;
        return !sums || std::ssize(*sums) <= 1024;
      },
      {{"1025", [](Call<Op>& c) { rewrite(c, [](SelectionProblem& p) { p.batch = 1025; }); }}});
  return {lengths_not_null<Op>(stated("NSSF-C05", parameters)),
          some_entries(stated("NSSF-C05a", parameters,
                              "actualSeqQLen and actualSeqKvLen have at least one entry.")),
          equal_numbers_of_lengths<Op>(stated("NSSF-C05b", limits)),
          rising_sums<Op>(coded("NSSF-C05c")),
          enough_keys<Op>(stated("NSSF-C09", limits)),
          disputed(more_keys),
          implying(whole_blocks<Op>(stated("NSSF-C09b", limits)), {"NSSF-C07"}),
          disputed(many_sequences),
          disputed(short_sequences<128 * 1024>(
              stated("NSSF-C10d", limits, "Every sequence has 1 to 128K tokens.", "NSSF-Q6")))};
}

/// Returns whether `member` has the same numbers of tokens and heads as `model` and, if `with_dim`,
/// the same last extent.
bool is_like(const Call<Op>& c, Member<Op> member, Member<Op> model, bool with_dim) {
  const Shape &own = (c.parameters.*member).shape, &other = (c.parameters.*model).shape;
  return own[0] == other[0] && own[1] == other[1] && (!with_dim || own[2] == other[2]);
}

std::vector<Row> shapes_and_sizes() {
  return {
      limited(stated("NSSF-C06", limits, "query and key have the same head size."),
              [](const Call<Op>& c) {
                return !ranks_fit(c) || c.parameters.key.shape[2] == head_dim(c);
              },
              {{"key", grow_one<Op, &P::key, 2, -16>}}),
      limited(
          stated("NSSF-C06a", limits, "The head size of value is at most the head size of query."),
          [](const Call<Op>& c) { return !ranks_fit(c) || head_dim_v(c) <= head_dim(c); },
          {{"wider_value", make_head_sizes<128, 192, Op>}}),
      disputed(limited(
          stated("NSSF-C06b", limits,
                 "The head size of query is 192, and the head size of value is 128.", "NSSF-Q3"),
          [](const Call<Op>& c) {
            if (!ranks_fit(c) || head_dim_v(c) > head_dim(c) ||
                c.parameters.key.shape[2] != head_dim(c))
              return true;
            return head_dim(c) == 192 && head_dim_v(c) == 128;
          },
          {{"192", make_head_sizes<192, 192, Op>},
           {"128", make_head_sizes<128, 128, Op>},
           {"64", make_head_sizes<64, 64, Op>}})),
      small_blocks<Op>(stated("NSSF-C07", limits)),
      some_block<Op>(stated("NSSF-C08", limits)),
      disputed(limited(stated("NSSF-C08a", limits, "selectedBlockCount is at most 32.", "NSSF-Q4"),
                       [](const Call<Op>& c) { return c.attributes.selected_block_count <= 32; },
                       {{"33",
                         [](Call<Op>& c) {
                           rewrite(c, [](SelectionProblem& p) {
                             p.selected_block_count = 33;
                             p.seq_kv = 34 * p.selected_block_size;
                           });
                         }}})),
      limited(stated("NSSF-C10", limits,
                     "The number of heads of query is a multiple of the number of heads of key."),
              [](const Call<Op>& c) {
                return !ranks_fit(c) || (heads_kv(c) > 0 && heads_q(c) % heads_kv(c) == 0);
              },
              {{"remainder", make_heads<3, 2, Op>}}),
      small_groups<Op>(stated("NSSF-C10a", limits)),
      disputed(limited(stated("NSSF-C10b", limits, "query has at most 128 heads.", "NSSF-Q6"),
                       [](const Call<Op>& c) { return !ranks_fit(c) || heads_q(c) <= 128; },
                       {{"129", make_heads<129, 43, Op>}})),
      implying(lists_of_blocks<Op>(stated("NSSF-C11", parameters)), {"NSSF-C08"}),
      counts_query_heads<Op>(coded("NSSF-C11a")),
      mask_of_two_axes<Op>(stated("NSSF-C11b", parameters)),
      statistics_of_rows<Op>(stated("NSSF-C11c", parameters,
                                    "softmaxMaxOut and softmaxSumOut have the shape (T1, N1, 8).")),
      limited(stated("NSSF-C11d", parameters,
                     "attentionOut has the same numbers of tokens and heads as query, and the head "
                     "size of value."),
              [](const Call<Op>& c) {
                return !ranks_fit(c) || (is_like(c, &P::attention_out, &P::query, false) &&
                                         c.parameters.attention_out.shape[2] == head_dim_v(c));
              },
              {{"tokens", grow_one<Op, &P::attention_out, 0>},
               {"heads", grow_one<Op, &P::attention_out, 1>},
               {"head_dim", grow_one<Op, &P::attention_out, 2>}}),
      limited(
          stated("NSSF-C11e", parameters,
                 "key and value have the same numbers of tokens and heads."),
          [](const Call<Op>& c) { return !ranks_fit(c) || is_like(c, &P::value, &P::key, false); },
          {{"tokens", grow_one<Op, &P::value, 0>}, {"heads", grow_one<Op, &P::value, 1>}}),
      mode_0_or_2<Op>(stated("NSSF-C12", parameters))};
}

std::vector<Row> others() {
  const Source code = coded({}).source;
  return {
      allowed(stated("NSSF-C12a", parameters,
                     "sparseMode 2 without attenMask masks nothing, like sparseMode 0."),
              [](const Call<Op>& c) { return c.attributes.sparse_mode == 2 && !has_mask(c); }),
      content<Op>("NSSF-C13",
                  "Every index names a block whose keys are all in the query's sequence, and with "
                  "the mask every query sees at least one key of the blocks that it lists.",
                  code, Standing::upstream),
      offered_on_a2<Op>(
          stated("NSSF-C14", "products", "Atlas A2 products offer aclnnNsaSelectedAttention.")),
      not_offered_on_a3<Op>(stated("NSSF-C14a", "products",
                                   "Atlas A3 products do not offer aclnnNsaSelectedAttention.")),
      maybe_strided(tensors, stated("NSSF-C15", parameters)),
      first_phase<Op>("NSSF-C16", {upstream_selected_forward, "prototypes"}, Standing::page),
      one_second_phase<Op>("NSSF-C16a")};
}

}  // namespace
}  // namespace nsa::selection::forward

std::span<const Requirement<NsaSelectedAttention>> NsaSelectedAttention::requirements() {
  using namespace nsa::selection::forward;
  static const auto requirements = nsa::sorted_requirements<NsaSelectedAttention>(
      {presence_and_types, lengths, shapes_and_sizes, others});
  return requirements;
}

bool supports(SelectedForwardEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(SelectedForwardEntryPoint, Product product) {
  return product == Product::a2 ? "NSSF-C14" : "NSSF-C14a";
}

}  // namespace assay::spec

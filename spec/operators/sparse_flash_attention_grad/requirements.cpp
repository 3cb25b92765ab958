#include "operators/sparse_flash_attention_grad/table.hpp"

namespace assay::spec {
namespace sparse_flash {
namespace {

using namespace nsa;

constexpr std::string_view parameters = "parameters", returns = "return values",
                           limits = "constraints";
constexpr ExpectedStatus invalid = exactly(Status::param_invalid),
                         null = exactly(Status::param_nullptr),
                         tiling = exactly(Status::inner_tiling_error);

/// Builds a requirement from a section of the documentation page, with the status code that the
/// page names.
Row stated(std::string_view id, std::string_view section, std::string_view statement = {},
           ExpectedStatus status = any_refusal, std::string_view notes = {}) {
  return {.id = id,
          .statement = statement,
          .source = {page, section},
          .standing = Standing::page,
          .notes = notes,
          .status = status};
}
Row with(Row row, Standing standing) {
  row.standing = standing;
  if (standing != Standing::disputed) row.status = any_refusal;
  if (standing == Standing::disputed) row.sides = {Side::reject};
  return row;
}
/// Adds to a requirement about shapes the condition `holds` and the changes of a call that violate
/// it. The requirement applies to calls whose tensors have the correct ranks.
Row shaped(Row row, Predicate<Op> holds, std::vector<Violation<Op>> violations) {
  row.applies = ranks_fit;
  return tested(std::move(row), holds, std::move(violations));
}

/// Groups of tensors that the requirements name.
constexpr Tensors<Op, &P::query, &P::key, &P::sparse_indices, &P::d_out, &P::out, &P::softmax_max,
                  &P::softmax_sum, &P::d_query, &P::d_key>
    required;
constexpr Tensors<Op, &P::query, &P::key, &P::value, &P::d_out, &P::out, &P::query_rope,
                  &P::key_rope>
    operands;
constexpr Tensors<Op, &P::d_query, &P::d_key, &P::d_value, &P::d_query_rope, &P::d_key_rope>
    gradients;
constexpr Tensors<Op, &P::query, &P::key, &P::value, &P::sparse_indices, &P::d_out, &P::out,
                  &P::softmax_max, &P::softmax_sum, &P::query_rope, &P::key_rope>
    inputs;

bool is_absent(const Parameter& parameter) { return !given(parameter); }
bool has_rope(const SparseCall& c) {
  return given(c.parameters.query_rope) && given(c.parameters.key_rope);
}
template <std::int64_t extent>
void set_heads(SparseCall& c) {
  set_from_last(c, of_query, 1, extent);
  set_from_last(c, std::to_array({&P::softmax_max, &P::softmax_sum}), 0, extent);
}
/// Changes the call to two key heads. The statistics of the first half of the query heads then
/// precede those of the second half.
void two_key_heads(SparseCall& c) {
  if (!ranks_fit(c) || heads_q(c) % 2 != 0) return;
  set_from_last(c, of_key, 1, 2);
  set_from_last(c, std::to_array({&P::sparse_indices}), 1, 2);
  const std::size_t head_axis = rank_of(c) - 1;
  for (const Member<Op> member : {&P::softmax_max, &P::softmax_sum}) {
    Shape shape = (c.parameters.*member).shape;
    if (shape.size() != rank_of(c)) continue;
    shape[head_axis == 2 ? 0 : 1] = 2;
    shape.back() = heads_q(c) / 2;
    reshape(c.parameters.*member, shape);
  }
}
template <std::int64_t extent>
void set_head_size(SparseCall& c) {
  set_from_last(c,
                std::to_array({&P::query, &P::key, &P::value, &P::d_out, &P::out, &P::d_query,
                               &P::d_key, &P::d_value}),
                0, extent);
}
template <std::int64_t extent>
void set_rope_size(SparseCall& c) {
  set_from_last(c, std::to_array({&P::query_rope, &P::key_rope, &P::d_query_rope, &P::d_key_rope}),
                0, extent);
}
/// Applies `change` to the sizes and options of the call, then builds the call again: contiguous in
/// BSND, with the same optional tensors.
void rewrite(SparseCall& c, void (*change)(SparseFlashProblem&)) {
  if (!is_layout(c, Layout::bsnd) || !ranks_fit(c)) return;
  SparseFlashProblem problem = {
      .dtype = c.parameters.query.dtype,
      .batch = c.parameters.query.shape[0],
      .heads_q = heads_q(c),
      .seq_q = c.parameters.query.shape[1],
      .seq_kv = c.parameters.key.shape[1],
      .head_dim_rope = has_rope(c) ? SparseFlashProblem::most_rope : 0,
      .value_form = given(c.parameters.value) ? SparseValue::given : SparseValue::merged,
      .scale_value = c.attributes.scale_value,
      .sparse_block_size = c.attributes.sparse_block_size,
      .sparse_block_count = from_last(c.parameters.sparse_indices, 0),
      .sparse_mode = c.attributes.sparse_mode};
  change(problem);
  c = call_of(problem, c.entry_point, c.product, Striding::contiguous, Striding::contiguous);
}
/// Makes axis 1 of some tensors too long.
template <Member<Op>... members>
void grow_all(SparseCall& c) {
  (grow(c.parameters.*members, 1), ...);
}

std::vector<Row> lengths() {
  Row both =
      stated("SFAG-C08", limits, "In TND, actualSeqLengthsQuery and actualSeqLengthsKv are given.");
  both.applies = [](const SparseCall& c) { return is_layout(c, Layout::tnd); };
  return {
      tested(both,
             [](const SparseCall& c) {
               const auto& p = c.parameters;
               return !is_layout(c, Layout::tnd) ||
                      (p.actual_seq_lengths_query.present && p.actual_seq_lengths_kv.present);
             },
             {{"query", remove<Op, &P::actual_seq_lengths_query>},
              {"kv", remove<Op, &P::actual_seq_lengths_kv>}}),
      tested(stated("SFAG-C26", limits, "Both tensors of lengths have one entry per sequence.",
                    tiling),
             [](const SparseCall& c) {
               const auto& p = c.parameters;
               return !is_layout(c, Layout::tnd) ||
                      is_like(p.actual_seq_lengths_query, p.actual_seq_lengths_kv);
             },
             {{"kv", grow_one<Op, &P::actual_seq_lengths_kv, 0>}}),
      tested(stated("SFAG-C27", limits, "There are 1 to 256 sequences.", tiling),
             [](const SparseCall& c) {
               return !is_layout(c, Layout::bsnd) || !ranks_fit(c) ||
                      c.parameters.query.shape[0] <= 256;
             },
             {{"257",
               [](SparseCall& c) { rewrite(c, [](SparseFlashProblem& p) { p.batch = 257; }); }}}),
      tested(stated("SFAG-C28", limits, "A sequence of query has 1 to 128K tokens.", tiling),
             [](const SparseCall& c) {
               return !is_layout(c, Layout::bsnd) || !ranks_fit(c) ||
                      c.parameters.query.shape[1] <= 128 * 1024;
             },
             {{"too_many",
               [](SparseCall& c) {
                 rewrite(c, [](SparseFlashProblem& p) { p.seq_q = 128 * 1024 + 1; });
               }}}),
      tested(with(stated("SFAG-C29", limits, "A sequence of key has 1 to 1M tokens.", any_refusal,
                         "SFAG-Q9"),
                  Standing::disputed),
             [](const SparseCall& c) {
               return !is_layout(c, Layout::bsnd) || !ranks_fit(c) ||
                      c.parameters.key.shape[1] <= 1024 * 1024;
             },
             {{"too_many", [](SparseCall& c) {
                 rewrite(c, [](SparseFlashProblem& p) { p.seq_kv = 1024 * 1024 + 1; });
               }}})};
}

}  // namespace

std::vector<Row> presence_and_types() {
  using enum DType;
  constexpr Format nz = Format::fractal_nz, z = Format::fractal_z, c0 = Format::nc1hwc0;
  Row offered = stated("SFAG-C01", "products", "Atlas A2 and A3 products offer the operator.");
  offered.sides = {Side::accept};
  Row of_one_type =
      with(stated("SFAG-C13a", "types", "All inputs of a 16-bit type have the type of query."),
           Standing::upstream);
  of_one_type.source.document = host;
  Row layout = with(stated("SFAG-C03", parameters, "layout is not null.", any_refusal, "SFAG-Q14"),
                    Standing::disputed);
  return {
      offered,
      not_null(required, stated("SFAG-C02", returns,
                                "query, key, sparseIndices, dOut, out, softmaxMax, softmaxSum, "
                                "dQueryOut and dKeyOut are not null.",
                                null)),
      pointers_not_null<Op>(stated("SFAG-C02a", returns, {}, null)),
      tested(layout, [](const SparseCall& c) { return c.attributes.layout.has_value(); },
             {{"layout", [](SparseCall& c) { c.attributes.layout.reset(); }}}),
      tested(stated("SFAG-C04", parameters, "If value is null, dValueOut is null.", any_refusal,
                    "SFAG-Q6"),
             [](const SparseCall& c) {
               return given(c.parameters.value) || is_absent(c.parameters.d_value);
             },
             {{"value", remove<Op, &P::value>}}),
      tested(
          stated("SFAG-C05", parameters, "If value is given, dValueOut is given.", null, "SFAG-Q5"),
          [](const SparseCall& c) {
            return is_absent(c.parameters.value) || given(c.parameters.d_value);
          },
          {{"d_value", remove<Op, &P::d_value>}}),
      tested(stated("SFAG-C06", parameters, "queryRope and keyRope are both given or both null."),
             [](const SparseCall& c) {
               return given(c.parameters.query_rope) == given(c.parameters.key_rope);
             },
             {{"query_rope", remove<Op, &P::query_rope>}, {"key_rope", remove<Op, &P::key_rope>}}),
      tested(with(stated("SFAG-C07", parameters,
                         "If the rope inputs are given, dQueryRopeOut and dKeyRopeOut are given."),
                  Standing::derived),
             [](const SparseCall& c) {
               return !has_rope(c) ||
                      (given(c.parameters.d_query_rope) && given(c.parameters.d_key_rope));
             },
             {{"d_query_rope", remove<Op, &P::d_query_rope>},
              {"d_key_rope", remove<Op, &P::d_key_rope>}}),
      of_16_bits<fp32, int8, fp64, fp32, int32, fp32, fp64>(
          operands, stated("SFAG-C13", returns,
                           "query, key, value, dOut, out, queryRope and keyRope are FLOAT16 or "
                           "BFLOAT16.",
                           invalid)),
      of_type_of<&P::query>(
          Tensors<Op, &P::key, &P::value, &P::d_out, &P::out, &P::query_rope, &P::key_rope>(),
          of_one_type),
      tested(
          stated("SFAG-C14", returns,
                 "softmaxMax and softmaxSum are FLOAT; sparseIndices and the lengths are INT32."),
          [](const SparseCall& c) {
            const auto is = [](DType type) {
              return [type](DType dtype) { return dtype == type; };
            };
            return all_have_type<Op>(c, {&P::softmax_max, &P::softmax_sum}, is(fp32)) &&
                   all_have_type<Op>(c,
                                     {&P::sparse_indices, &P::actual_seq_lengths_query,
                                      &P::actual_seq_lengths_kv},
                                     is(int32));
          },
          {{"softmax_max", retype<Op, &P::softmax_max, fp16>},
           {"softmax_sum", retype<Op, &P::softmax_sum, fp64>},
           {"sparse_indices", retype<Op, &P::sparse_indices, int64>},
           {"query_lengths", retype<Op, &P::actual_seq_lengths_query, int64>},
           {"kv_lengths", retype<Op, &P::actual_seq_lengths_kv, fp32>}}),
      of_16_bits<fp32, fp64, int16, fp32, fp32>(
          gradients, stated("SFAG-C15", returns, "The outputs are FLOAT16 or BFLOAT16.", invalid)),
      of_type_of<&P::query>(
          gradients, with(stated("SFAG-C15a", returns, "The outputs have the type of query."),
                          Standing::derived)),
      of_plain_format<nz, z, c0, nz, z, c0, nz, z, c0, nz, z, c0, nz, z, c0, nz, z>(
          all_tensors<Op>, stated("SFAG-C16", returns, {}, invalid))};
}

std::vector<Row> shapes_and_sizes() {
  Row ranks = stated("SFAG-C17", returns,
                     "Tensors other than the statistics and the lengths have the axes of the "
                     "layout.",
                     tiling);
  ranks.holds = [](const SparseCall& c) { return rank_of(c) == 0 || have_rank(c, ranked); };
  const auto with_ranks = []<Member<Op>... members>(Row row, Tensors<Op, members...> tensors) {
    stock::add_violations(row, tensors, {add_axis<Op, members>...});
    return row;
  };
  std::vector<Row> rows = lengths();
  const std::vector<Row> more = {
      with_ranks(ranks, ranked),
      shaped(with(stated("SFAG-C18", limits, "The head size is 512.", any_refusal, "SFAG-Q9"),
                  Standing::disputed),
             [](const SparseCall& c) {
               return !ranks_fit(c) ||
                      from_last(c.parameters.query, 0) == SparseFlashProblem::head_dim;
             },
             {{"128", set_head_size<128>}}),
      shaped(stated("SFAG-C19", limits, "The head size of queryRope and keyRope is 64.", tiling),
             [](const SparseCall& c) {
               const auto fits = [](const Parameter& tensor) {
                 return !given(tensor) || from_last(tensor, 0) == SparseFlashProblem::most_rope;
               };
               return !ranks_fit(c) ||
                      (fits(c.parameters.query_rope) && fits(c.parameters.key_rope));
             },
             {{"32", set_rope_size<32>}}),
      shaped(stated("SFAG-C20", limits,
                    "key has one head, and query has 1, 2, 4, 8, 16, 32, 64 or 128 heads.", tiling),
             [](const SparseCall& c) {
               const std::int64_t heads = ranks_fit(c) ? heads_q(c) : 1;
               return heads > 0 && heads <= 128 && (heads & (heads - 1)) == 0 &&
                      (!ranks_fit(c) || heads_kv(c) == 1);
             },
             {{"three", set_heads<3>}, {"256", set_heads<256>}, {"two_of_key", two_key_heads}}),
      shaped(stated("SFAG-C21", limits,
                    "value has the shape of key; every output has the shape of its input.", tiling),
             [](const SparseCall& c) {
               const auto& p = c.parameters;
               return !ranks_fit(c) ||
                      (is_like(p.value, p.key) && is_like(p.d_query, p.query) &&
                       is_like(p.d_key, p.key) && is_like(p.d_value, p.key) &&
                       is_like(p.d_query_rope, p.query_rope) && is_like(p.d_key_rope, p.key_rope));
             },
             {{"value", grow_one<Op, &P::value, 1>},
              {"d_query", grow_one<Op, &P::d_query, 1>},
              {"d_key", grow_one<Op, &P::d_key, 1>},
              {"d_value", grow_one<Op, &P::d_value, 1>},
              {"d_query_rope", grow_one<Op, &P::d_query_rope, 1>},
              {"d_key_rope", grow_one<Op, &P::d_key_rope, 1>}}),
      shaped(stated("SFAG-C22", limits, "dOut and out have the shape of query.", tiling),
             [](const SparseCall& c) {
               const auto& p = c.parameters;
               return !ranks_fit(c) || (is_like(p.d_out, p.query) && is_like(p.out, p.query));
             },
             {{"d_out", grow_one<Op, &P::d_out, 1>}, {"out", grow_one<Op, &P::out, 1>}}),
      shaped(stated("SFAG-C23", limits,
                    "softmaxMax and softmaxSum are (N2, T1, N1 / N2) in TND and (B, N2, S1, N1 / "
                    "N2) in BSND.",
                    tiling),
             [](const SparseCall& c) {
               if (!ranks_fit(c) || heads_kv(c) < 1 || heads_q(c) % heads_kv(c) != 0) return true;
               const Shape& query = c.parameters.query.shape;
               Shape shape = {heads_kv(c), query[query.size() - 3], heads_q(c) / heads_kv(c)};
               if (query.size() == 4) shape.insert(shape.begin(), query[0]);
               const auto fits = [&](const Parameter& tensor) {
                 return !tensor.present || tensor.shape == shape;
               };
               return fits(c.parameters.softmax_max) && fits(c.parameters.softmax_sum);
             },
             {{"softmax_max", grow_one<Op, &P::softmax_max, 1>},
              {"softmax_sum", grow_one<Op, &P::softmax_sum, 1>}}),
      shaped(with(stated("SFAG-C24", limits, "A list has 1024, 2048, ... or 8192 entries.",
                         any_refusal, "SFAG-Q9"),
                  Standing::disputed),
             [](const SparseCall& c) {
               const std::int64_t count =
                   ranks_fit(c) ? from_last(c.parameters.sparse_indices, 0) : 1024;
               return count >= 1024 && count <= 8192 && count % 1024 == 0;
             },
             {{"4",
               [](SparseCall& c) { set_from_last(c, std::to_array({&P::sparse_indices}), 0, 4); }},
              {"2051",
               [](SparseCall&
                      c) { set_from_last(c, std::to_array({&P::sparse_indices}), 0, 2051); }}}),
      shaped(
          stated("SFAG-C25", limits,
                 "sparseIndices and queryRope have the same number of tokens as query, and keyRope "
                 "has the same number as key; sparseIndices has the same number of heads as key.",
                 tiling, "SFAG-Q8"),
          [](const SparseCall& c) {
            const auto& p = c.parameters;
            if (!ranks_fit(c)) return true;
            Shape lists = p.query.shape;
            lists[lists.size() - 2] = heads_kv(c);
            lists.back() = from_last(p.sparse_indices, 0);
            return p.sparse_indices.shape == lists && is_like(p.query_rope, p.query, false) &&
                   is_like(p.key_rope, p.key, false);
          },
          {{"sparse_indices", grow_one<Op, &P::sparse_indices, 1>},
           {"query_rope", grow_all<&P::query_rope, &P::d_query_rope>},
           {"key_rope", grow_all<&P::key_rope, &P::d_key_rope>}}),
      shaped(with(stated("SFAG-C37", limits,
                         "In BSND, query and key have the same number of sequences."),
                  Standing::derived),
             [](const SparseCall& c) {
               return !is_layout(c, Layout::bsnd) || !ranks_fit(c) ||
                      c.parameters.query.shape[0] == c.parameters.key.shape[0];
             },
             {{"key", [](SparseCall& c) {
                 if (is_layout(c, Layout::bsnd))
                   for (const Member<Op> member : of_key)
                     if (given(c.parameters.*member)) grow(c.parameters.*member, 0);
               }}})};
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::vector<Row> attributes_and_contents() {
  Row blocks =
      stated("SFAG-C11", limits, "sparseBlockSize is 1, 8, 16, 32 or 64.", tiling, "SFAG-Q10");
  blocks.holds = [](const SparseCall& c) {
    const std::int64_t size = c.attributes.sparse_block_size;
    return size == 1 || size == 8 || size == 16 || size == 32 || size == 64;
  };
  blocks.violations = {{"zero", [](SparseCall& c) { c.attributes.sparse_block_size = 0; }},
                       {"2", [](SparseCall& c) { c.attributes.sparse_block_size = 2; }},
                       {"128", [](SparseCall& c) { c.attributes.sparse_block_size = 128; }},
                       {"negative", [](SparseCall& c) { c.attributes.sparse_block_size = -1; }}};
  Row views = maybe_strided(inputs, stated("SFAG-C36a", parameters));
  views.statement =
      "Every input may be a strided view of a tensor, if its storage format is not private.";
  const auto of_contents = [](std::string_view id, std::string_view statement, Standing standing,
                              std::string_view notes = {}, std::string_view document = page) {
    Row row = content<Op>(id, statement, {document, limits}, standing);
    row.notes = notes;
    return row;
  };
  return {
      tested(stated("SFAG-C09", limits, "layout is TND or BSND.", tiling),
             [](const SparseCall& c) { return !c.attributes.layout || rank_of(c) != 0; },
             {{"BNSD", [](SparseCall& c) { c.attributes.layout = "BNSD"; }},
              {"SBH", [](SparseCall& c) { c.attributes.layout = "SBH"; }},
              {"lower_case", [](SparseCall& c) { c.attributes.layout = "bsnd"; }}}),
      tested(stated("SFAG-C10", limits, "sparseMode is 0 or 3.", tiling, "SFAG-Q12"),
             [](const SparseCall& c) {
               return c.attributes.sparse_mode == 0 || c.attributes.sparse_mode == 3;
             },
             {{"1", [](SparseCall& c) { c.attributes.sparse_mode = 1; }},
              {"2", [](SparseCall& c) { c.attributes.sparse_mode = 2; }},
              {"4", [](SparseCall& c) { c.attributes.sparse_mode = 4; }}}),
      blocks,
      tested(with(stated("SFAG-C12", parameters, "preTokens and nextTokens are 2147483647.",
                         any_refusal, "SFAG-Q11, SFAG-Q15"),
                  Standing::disputed),
             [](const SparseCall& c) {
               return c.attributes.pre_tokens == 2147483647 &&
                      c.attributes.next_tokens == 2147483647;
             },
             {{"int64",
               [](SparseCall& c) {
                 c.attributes.pre_tokens = c.attributes.next_tokens = INT64_MAX;
               }}}),
      of_contents(
          "SFAG-C30",
          "The lengths are inclusive cumulative sums: they are not negative and do not decrease.",
          Standing::upstream, "SFAG-Q1", kernels),
      of_contents("SFAG-C31", "The last cumulative length is the number of tokens.",
                  Standing::page),
      of_contents(
          "SFAG-C32",
          "A list begins with different blocks, each with a visible key. It contains all such "
          "blocks, or, if the list is too short, all its entries are such blocks. If the last "
          "visible block is incomplete, no block follows it. All later entries are -1.",
          Standing::derived, "SFAG-Q2, SFAG-Q3, SFAG-Q4"),
      of_contents("SFAG-C33", "value contains the same elements as key.", Standing::page),
      of_contents("SFAG-C34",
                  "In rows with a visible key the statistics are finite and softmaxSum is above 0.",
                  Standing::derived, "SFAG-Q7"),
      unexercised<Op>("SFAG-C35", "A query lists at most about 100k keys.", {page, limits},
                      Standing::advice,
                      "the page only warns that memory may not suffice for more keys"),
      tested(
          with(stated("SFAG-C36", parameters, "Outputs are contiguous.", any_refusal, "SFAG-Q13"),
               Standing::disputed),
          [](const SparseCall& c) {
            return !some_strided<Op>(
                c, {&P::d_query, &P::d_key, &P::d_value, &P::d_query_rope, &P::d_key_rope});
          },
          {{"d_query",
            [](SparseCall& c) { apply_striding(c.parameters.d_query, Striding::padded); }}}),
      views,
      first_phase<Op>("SFAG-C38", {page, "prototypes"}, Standing::page),
      one_second_phase<Op>("SFAG-C38a")};
}

}  // namespace sparse_flash

std::span<const Requirement<SparseFlashAttentionGrad>> SparseFlashAttentionGrad::requirements() {
  using namespace sparse_flash;
  static const auto requirements = nsa::sorted_requirements<SparseFlashAttentionGrad>(
      {presence_and_types, shapes_and_sizes, attributes_and_contents});
  return requirements;
}

}  // namespace assay::spec

#include <algorithm>
#include <utility>

#include "operators/nsa_compress_grad/table.hpp"

namespace assay::spec::nsa {
namespace {

using Op = CompressOp;

template <std::int64_t size, std::int64_t stride>
void make_windows(CompressCall& call) {
  rewrite(call, [](CompressProblem& p) {
    p.compress_block_size = size;
    p.compress_stride = stride;
    p.seq = std::max(p.seq, size);
  });
}

/// Set an attribute to a value that defines no number of windows; the tensors stay unchanged.
template <std::int64_t size>
void set_size(CompressCall& call) {
  call.attributes.compress_block_size = size;
}
template <std::int64_t stride>
void set_stride(CompressCall& call) {
  call.attributes.compress_stride = stride;
}
template <std::int64_t type>
void set_type(CompressCall& call) {
  call.attributes.act_seq_len_type = type;
}

/// Passes the lengths themselves in place of their sums.
void pass_lengths(CompressCall& call) {
  call.attributes.act_seq_len_type = 1;
  if (!has_sums(call) || !is_ascending(call.parameters.act_seq_len)) return;
  std::int64_t before = 0;
  for (std::int64_t& entry : *call.parameters.act_seq_len) entry -= std::exchange(before, entry);
}

CompressRow layout() {
  return {
      .id = "NSAC-C09",
      .statement = "layout is exactly TND.",
      .source = {compress_page, "return values"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .notes = "NSAC-Q8",
      .status = exactly(Status::param_invalid),
      .applies = [](const CompressCall& c) { return c.attributes.layout.has_value(); },
      .holds = [](const CompressCall& c) { return c.attributes.layout.value_or("TND") == "TND"; },
      .violations = {{"lower_case", [](CompressCall& c) { c.attributes.layout = "tnd"; }},
                     {"bsnd", [](CompressCall& c) { c.attributes.layout = "BSND"; }},
                     {"empty", [](CompressCall& c) { c.attributes.layout = ""; }}}};
}

/// The table of parameters calls actSeqLen optional; the table of return codes does not list it
/// among the null pointers.
CompressRow layout_present() {
  return {.id = "NSAC-C09a",
          .statement =
              "layout is not null; the documents do not say whether a null pointer means "
              "TND.",
          .source = {compress_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "NSAC-Q2",
          .applies = always<Op>,
          .holds = [](const CompressCall& c) { return c.attributes.layout.has_value(); },
          .violations = {{"layout", [](CompressCall& c) { c.attributes.layout.reset(); }}}};
}

template <std::int64_t Op::Attributes::*size>
CompressRow multiple_of_16(std::string_view id, std::string_view statement,
                           std::vector<Violation<Op>> violations) {
  return {.id = id,
          .statement = statement,
          .source = {compress_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds = [](const CompressCall& c) { return c.attributes.*size % 16 == 0; },
          .violations = std::move(violations)};
}

CompressRow window_sizes() {
  return multiple_of_16<&Op::Attributes::compress_block_size>(
      "NSAC-C10", "compressBlockSize is a multiple of 16.",
      {{"24", make_windows<24, 16>}, {"40", make_windows<40, 16>}});
}

CompressRow strides() {
  return multiple_of_16<&Op::Attributes::compress_stride>(
      "NSAC-C11", "compressStride is a multiple of 16.",
      {{"8", make_windows<32, 8>}, {"24", make_windows<48, 24>}});
}

/// By the words of the page, a stride of 0 is legal: 0 is a multiple of 16 and smaller than every
/// window. The host code accepts it.
CompressRow positive_stride() {
  return {.id = "NSAC-C11a",
          .statement = "compressStride is above 0, although no document says this.",
          .source = {compress_page, "constraints"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = always<Op>,
          .holds = [](const CompressCall& c) { return c.attributes.compress_stride > 0; },
          .violations = {{"zero", set_stride<0>}, {"negative", set_stride<-16>}}};
}

/// If compressBlockSize is negative, weight cannot have that number of rows, so this change also
/// breaks NSAC-C08.
CompressRow no_gaps() {
  return {.id = "NSAC-C12",
          .statement = "compressBlockSize is not below compressStride.",
          .source = {compress_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q7",
          .implies = {"NSAC-C08"},
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return c.attributes.compress_block_size >= c.attributes.compress_stride;
              },
          .violations = {
              {"gaps", make_windows<16, 32>}, {"zero", set_size<0>}, {"negative", set_size<-32>}}};
}

/// The page says "larger than"; the forward's page and the host code accept equal sizes.
CompressRow overlap() {
  return {
      .id = "NSAC-C12a",
      .statement =
          "compressBlockSize is larger than compressStride; the forward and the kernel also accept "
          "equal sizes.",
      .source = {compress_page, "constraints"},
      .standing = Standing::open,
      .sides = {Side::reject},
      .notes = "NSAC-Q7",
      .applies = always<Op>,
      .holds =
          [](const CompressCall& c) {
            return c.attributes.compress_block_size != c.attributes.compress_stride;
          },
      .violations = {{"equal", make_windows<32, 32>}}};
}

CompressRow known_kind_of_lengths() {
  static constexpr auto is_known = [](const CompressCall& c) {
    return c.attributes.act_seq_len_type == 0 || c.attributes.act_seq_len_type == 1;
  };
  return {.id = "NSAC-C13",
          .statement = "actSeqLenType is 0 or 1.",
          .source = {compress_page, "parameters"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q5, NSAC-Q9",
          .applies = always<Op>,
          .holds = is_known,
          .violations = {{"2", set_type<2>}, {"negative", set_type<-1>}}};
}

/// The page says "only 0 at present"; the host code accepts 1, and the kernel then reads lengths.
CompressRow kind_of_lengths() {
  return {.id = "NSAC-C13a",
          .statement = "actSeqLenType is 0, which means sums; with 1 the kernel reads lengths.",
          .source = {compress_page, "parameters"},
          .standing = Standing::open,
          .sides = {Side::reject},
          .notes = "NSAC-Q9",
          .applies = always<Op>,
          .holds = [](const CompressCall& c) { return c.attributes.act_seq_len_type != 1; },
          .violations = {{"1", pass_lengths}}};
}

CompressRow ascending_sums() {
  return {.id = "NSAC-C14",
          .statement =
              "The sums of the lengths are at least 0 and never decrease; two equal sums, or a 0 "
              "in front, mean an empty sequence.",
          .source = {compress_page, "parameters"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q5, NSAC-Q6",
          .applies = has_sums,
          .holds = [](const CompressCall& c) { return !has_sums(c) || is_ascending(sums_of(c)); },
          .violations = {{"falling",
                          [](CompressCall& c) {
                            if (!has_sums(c)) return;
                            auto& sums = *c.parameters.act_seq_len;
                            sums.insert(sums.end() - 1, sums.back() + 1);
                          }},
                         {"negative", [](CompressCall& c) {
                            if (!has_sums(c)) return;
                            auto& sums = *c.parameters.act_seq_len;
                            sums.insert(sums.begin(), -1);
                          }}}};
}

CompressRow sums_present() {
  return {.id = "NSAC-C14a",
          .statement =
              "actSeqLen is given; the documents do not say whether its absence means one sequence "
              "or several equal ones.",
          .source = {compress_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .notes = "NSAC-Q10, NSAC-Q14, NSAS-U5",
          .applies = always<Op>,
          .holds = has_sums,
          .violations = {{"null", [](CompressCall& c) { c.parameters.act_seq_len.reset(); }},
                         {"empty", [](CompressCall& c) { c.parameters.act_seq_len.emplace(); }}}};
}

CompressRow all_tokens() {
  static constexpr auto concerned = [](const CompressCall& c) {
    return ranks_fit(c) && is_ascending(sums_of(c));
  };
  return {.id = "NSAC-C15",
          .statement = "The last sum is the number of tokens of input.",
          .source = {upstream_compress_forward, "constraints"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds =
              [](const CompressCall& c) {
                return !concerned(c) || sums_of(c)->back() == c.parameters.input.shape[0];
              },
          .violations = {{"less",
                          [](CompressCall& c) {
                            if (!has_sums(c)) return;
                            auto& sums = *c.parameters.act_seq_len;
                            const std::int64_t last = sums.back() - 1;
                            for (std::int64_t& sum : sums) sum = std::min(sum, last);
                          }},
                         {"more", [](CompressCall& c) {
                            if (has_sums(c)) ++c.parameters.act_seq_len->back();
                          }}}};
}

}  // namespace

std::vector<CompressRow> compress_window_requirements() {
  return {layout(),          layout_present(), window_sizes(), strides(),
          positive_stride(), no_gaps(),        overlap(),      known_kind_of_lengths(),
          kind_of_lengths(), ascending_sums(), sums_present(), all_tokens()};
}

}  // namespace assay::spec::nsa

#include "operators/nsa_compress_grad_limits.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

#include "assay/conformance/inputs.hpp"
#include "operators/nsa_compress_grad_dense.hpp"
#include "operators/nsa_compress_grad_relations.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;

void require_profile(const Case<Op>& c) {
  const auto known = profiles<Op>();
  if (std::ranges::find(known, c.profile, &InputProfile::name) != known.end()) return;
  std::string names;
  for (const InputProfile& profile : known)
    names += (names.empty() ? "" : ", ") + std::string(profile.name);
  refuse("profile", c.profile, names);
}

/// What a kernel makes of empty tensors no document says.
void require_windows(const Op::Problem& p) {
  if (compress::all_windows(p) > 0) return;
  const std::string accepted = "a sequence of at least compress_block_size, which is " +
                               std::to_string(p.compress_block_size) +
                               ": without windows output_grad is empty, see NSAC-C21";
  if (p.lengths.empty()) refuse("seq", std::to_string(p.seq), accepted);
  refuse("lengths", list_text(p.lengths), accepted);
}

/// A relation and its track come together, on a problem of its domain.
void require_relation(const Case<Op>& c) {
  if (c.track != Track::relation) {
    if (c.relation.empty()) return;
    refuse("relation", c.relation, "a relation only with --track=relation");
  }
  if (c.relation.empty()) {
    std::string names;
    for (const compress::Relation* relation : compress::relations())
      names += (names.empty() ? "" : ", ") + std::string(relation->name);
    refuse("track", std::string(spec::to_string(c.track)), "with --relation=NAME, one of " + names);
  }
  // Hard data would leave the domain of a relation by overflow or underflow.
  if (c.profile != "normal") refuse("profile", c.profile, "normal with --track=relation");
  const compress::Relation& relation = compress::relation(c.relation);
  if (!relation.applies(c.problem))
    refuse("relation", c.relation,
           "only in its domain, " + std::string(relation.domain) + "; 'assay explain " +
               c.relation + "' prints lines of it");
}

std::string gib(double bytes) {
  char characters[64];
  const double value = bytes / (1024.0 * 1024 * 1024);
  return std::string(characters, std::to_chars(characters, characters + sizeof characters, value,
                                               std::chars_format::fixed, 1)
                                     .ptr) +
         " GiB";
}

void require_size(const Case<Op>& c) {
  // Beyond this, 64-bit indices of a byte may overflow.
  constexpr double most_elements = 0x1p59;
  if (const double most = largest_tensor(c.problem); most > most_elements)
    throw std::invalid_argument("a tensor of the case has " + std::to_string(most) +
                                " elements, at most 2^59 can be numbered: reduce batch, heads or seq");
  if (c.track == Track::phase1) return;
  const double bytes = memory_estimate(c);
  if (bytes > memory_limit)
    throw std::invalid_argument("the case needs about " + gib(bytes) +
                                " for its tensors and their copies, the limit is " +
                                gib(memory_limit) + ": reduce batch, heads, seq or rows");
}

}  // namespace

std::span<const FieldRange> field_ranges(std::type_identity<Op>) {
  constexpr std::int64_t mebi = 1024 * 1024, largest_window = 65536;
  static constexpr FieldRange ranges[] = {
      {"batch", 1, mebi},
      {"heads", 1, 256},
      {"seq", 1, 16 * mebi},
      {"lengths", 0, 16 * mebi},
      {"head_dim", 1, 1024},
      {"compress_block_size", 16, largest_window, "NSAC-C10"},
      {"compress_stride", 16, largest_window, "NSAC-C11"},
      {"rows", 0, 16 * mebi},
  };
  return ranges;
}

void imply_extents(const Op::Problem& given, Op::Problem& implied) {
  if (!given.lengths.empty()) implied.batch = given.batch, implied.seq = given.seq;
}

void settle_extents(Op::Problem& p, const std::function<bool(std::string_view)>& given) {
  if (p.lengths.empty()) return;
  const auto imply = [&](std::string_view name, std::int64_t& field, std::int64_t value) {
    if (given(name) && field != value)
      refuse(name, std::to_string(field),
             std::to_string(value) + ", which --lengths implies; leave it out");
    field = value;
  };
  imply("batch", p.batch, static_cast<std::int64_t>(p.lengths.size()));
  imply("seq", p.seq, std::ranges::max(p.lengths));
  if (std::ranges::all_of(p.lengths, [&](std::int64_t length) { return length == p.seq; }))
    p.lengths.clear();
}

void require_possible(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  if (p.dtype != spec::DType::fp16 && p.dtype != spec::DType::bf16)
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16");
  require_windows(p);
  require_profile(c);
  if (c.track != Track::phase1 && !c.violate.empty())
    refuse("violate", c.violate, "a violation only with --track=phase1");
  require_relation(c);
  require_size(c);
}

}  // namespace assay::conformance

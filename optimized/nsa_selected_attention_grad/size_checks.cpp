#include "nsa_selected_attention_grad/checks.hpp"
#include "selection/call_checks.hpp"

namespace assay::optimized::selected {
namespace {

using Call = Check::Call;

constexpr std::int64_t most_heads = 128;
constexpr std::int64_t longest = 128 * 1024;

std::int64_t heads_q(const Call& call) { return call.parameters.query.shape[1]; }
std::int64_t heads_kv(const Call& call) { return call.parameters.key.shape[1]; }

Refusal key_heads(const Call& call) {
  return within("number of heads of key", heads_kv(call), 1, most_heads);
}

Refusal query_heads(const Call& call) {
  const std::int64_t q = heads_q(call), kv = heads_kv(call);
  if (const Refusal refusal = within("number of heads of query", q, 1, most_heads)) return refusal;
  return whole_groups(q, kv);
}

Refusal head_size(const std::string& name, std::int64_t dim) {
  return unless(dim == 192 || dim == 128,
                "head size of " + name + " is " + std::to_string(dim) + "; it must be 192 or 128");
}

/// Checks the head sizes. The documentation contradicts itself about which head size is larger, so
/// the check accepts both orders.
Refusal head_sizes(const Call& call) {
  const auto& p = call.parameters;
  const Refusal refusal = head_size("query", p.query.shape[2]);
  return refusal ? refusal : head_size("value", p.value.shape[2]);
}

/// Cumulative lengths, and the name of the argument that contains them.
struct NamedSums {
  std::string_view of;
  const std::vector<std::int64_t>& sums;
};

/// Returns a text about the first length for which `holds` is false, or nothing. `limit` describes
/// the accepted lengths.
template <class Holds>
Refusal first_unless(const NamedSums& lengths, const Holds& holds, const std::string& limit) {
  std::int64_t start = 0;
  for (std::size_t b = 0; b < lengths.sums.size(); ++b) {
    const std::int64_t length = lengths.sums[b] - start;
    if (!holds(length))
      return "length of " + std::string(lengths.of) + " of sequence " + std::to_string(b) + " is " +
             std::to_string(length) + "; it must " + limit;
    start = lengths.sums[b];
  }
  return std::nullopt;
}

Refusal lengths(const Call& call) {
  const auto holds = [](std::int64_t length) { return 1 <= length && length <= longest; };
  const std::string limit = "be 1 to " + std::to_string(longest);
  const auto& p = call.parameters;
  const Refusal refusal = first_unless({"query", *p.actual_seq_qlen}, holds, limit);
  return refusal ? refusal : first_unless({"key", *p.actual_seq_kvlen}, holds, limit);
}

/// Checks that each length is a multiple of the block size. A sequence may have fewer blocks than a
/// list has entries; the list then repeats blocks, like the lists that the preceding operator
/// computes.
Refusal whole_blocks(const Call& call) {
  const std::int64_t size = call.attributes.selected_block_size;
  return first_unless(
      {"key", *call.parameters.actual_seq_kvlen},
      [&](std::int64_t length) { return length % size == 0; },
      "be a multiple of selectedBlockSize, which is " + std::to_string(size));
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAS-C26", invalid, key_heads}, {"NSAS-C25", invalid, query_heads},
    {"NSAS-C27", invalid, group},     {"NSAS-C21", invalid, head_sizes},
    {"NSAS-C28", invalid, lengths},   {"NSAS-C30", invalid, whole_blocks},
};

}  // namespace

std::span<const Check> size_checks() { return checks; }

}  // namespace assay::optimized::selected

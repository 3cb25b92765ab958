#include <algorithm>
#include <iterator>

#include "checked.hpp"
#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using Call = spec::Call<Op>;

/// Returns whether every key sequence has more blocks than a list has entries. A later edition of
/// the documentation page requires this.
bool has_more_blocks_than_listed(const Call& c) {
  const auto& a = c.attributes;
  std::int64_t start = 0;
  for (const std::int64_t end : *c.parameters.actual_seq_kvlen) {
    if (end - start <= a.selected_block_size * a.selected_block_count) return false;
    start = end;
  }
  return true;
}

/// Returns whether all positions fit in 16 bits.
bool has_positions_of_16_bits(const Call& c) {
  for (const auto& sums : {c.parameters.actual_seq_qlen, c.parameters.actual_seq_kvlen}) {
    std::int64_t start = 0;
    for (const std::int64_t end : *sums) {
      if (end - start > 65536) return false;
      start = end;
    }
  }
  return true;
}

bool has_one_head_in_a_group(const Call& c) {
  return c.parameters.query.shape[1] == c.parameters.key.shape[1];
}

bool has_narrow_value(const Call& c) { return c.parameters.value.shape[2] == 128; }

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {checking<Kernel, Op>("argument_checks",
                                                  "a correct kernel that checks its "
                                                  "arguments",
                                                  flash_like, {})};
  all.front().healthy = true;
  std::ranges::move(
      careless<Kernel, Op>(
          flash_like,
          {{"refuses_groups", "refuses legal calls with several query heads per key head",
            "query and key must have the same number of heads", has_one_head_in_a_group},
           {"refuses_as_many_blocks_as_listed",
            "refuses legal calls in which the number of blocks of a sequence equals "
            "selected_block_count",
            "a sequence must have more blocks than are listed", has_more_blocks_than_listed},
           {"refuses_long_sequences", "refuses legal sequences of more than 64K tokens",
            "positions must fit in 16 bits", has_positions_of_16_bits},
           {"refuses_wide_value", "refuses head_dim 192 of value", "head_dim of value must be 128",
            has_narrow_value}}),
      std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants::selected

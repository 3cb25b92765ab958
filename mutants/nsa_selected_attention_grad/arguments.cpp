#include <algorithm>
#include <iterator>

#include "checked.hpp"
#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using Call = spec::Call<Op>;

Mutant with_checks(const std::string& name, std::string bug, const Checks<Op>& checks) {
  return checking<Kernel>(name, std::move(bug), flash_like, checks);
}

/// Refuses keys of no more blocks than are listed, as a later edition of the page does.
bool has_more_blocks_than_listed(const Call& c) {
  const auto& a = c.attributes;
  std::int64_t start = 0;
  for (const std::int64_t end : *c.parameters.actual_seq_kvlen) {
    if (end - start <= a.selected_block_size * a.selected_block_count) return false;
    start = end;
  }
  return true;
}

/// Refuses sequences whose positions do not fit 16 bits.
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

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {
      with_checks("selected_argument_checks", "checks its arguments itself", {})};
  all.front().healthy = true;
  std::ranges::move(careless<Kernel, Op>("selected_", flash_like), std::back_inserter(all));
  const auto refusing = [&](const std::string& name, std::string bug, std::string demand,
                            Passes<Op> passes) {
    all.push_back(
        with_checks(name, std::move(bug), {.beyond = std::move(demand), .passes_beyond = passes}));
  };
  refusing("refuses_groups", "refuses legal calls whose query heads share key heads",
           "grouped heads are not taken",
           [](const Call& c) { return c.parameters.query.shape[1] == c.parameters.key.shape[1]; });
  refusing("refuses_as_many_blocks_as_listed", "refuses keys of as many blocks as are listed",
           "some block is not listed", has_more_blocks_than_listed);
  refusing("refuses_long_sequences", "refuses legal sequences of more than 64K tokens",
           "positions fit 16 bits", has_positions_of_16_bits);
  refusing("refuses_wide_value", "refuses a head size of value of 192",
           "value has a head size of 128",
           [](const Call& c) { return c.parameters.value.shape[2] == 128; });
  return all;
}

}  // namespace assay::mutants::selected

#include "nsa_selected_attention_grad/argument_checks.hpp"
#include "nsa_selected_attention_grad/families.hpp"

namespace assay::mutants::selected {
namespace {

using spec::Status;
using Call = spec::Call<Op>;

Mutant with_checks(const std::string& name, std::string bug, const std::vector<Check>& checks) {
  return checking<Kernel>(name, std::move(bug), flash_like, checks);
}

Mutant without_check(const std::string& id) {
  return with_checks("without_" + id, "does not check that " + demand_of(all_checks(), id),
                     without(all_checks(), id));
}

/// All checks, and one that the documents do not know.
std::vector<Check> and_also(const Check& more) { return mutants::and_also(all_checks(), more); }

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

std::vector<std::string> checked_requirements() { return requirements_of(all_checks()); }

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {
      with_checks("selected_argument_checks", "checks its arguments itself", all_checks())};
  all.front().healthy = true;
  for (const std::string& id : checked_requirements()) all.push_back(without_check(id));
  all.push_back(with_checks("selected_null_is_invalid", "answers 161002 for a null pointer",
                            with_status_for_null(all_checks(), Status::param_invalid)));
  all.push_back(with_checks("selected_no_checks", "accepts every call", {}));
  const Status invalid = Status::param_invalid;
  all.push_back(
      with_checks("refuses_groups", "refuses legal calls whose query heads share key heads",
                  and_also({"one head", invalid, "grouped heads are not taken", [](const Call& c) {
                              return c.parameters.query.shape[1] == c.parameters.key.shape[1];
                            }})));
  all.push_back(with_checks(
      "refuses_as_many_blocks_as_listed", "refuses keys of as many blocks as are listed",
      and_also({"more blocks", invalid, "some block is not listed", has_more_blocks_than_listed})));
  all.push_back(with_checks(
      "refuses_long_sequences", "refuses legal sequences of more than 64K tokens",
      and_also({"64K tokens", invalid, "positions fit 16 bits", has_positions_of_16_bits})));
  all.push_back(
      with_checks("refuses_wide_value", "refuses a head size of value of 192",
                  and_also({"128 of value", invalid, "value has a head size of 128",
                            [](const Call& c) { return c.parameters.value.shape[2] == 128; }})));
  return all;
}

}  // namespace assay::mutants::selected

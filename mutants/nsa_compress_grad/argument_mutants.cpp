#include <algorithm>
#include <utility>

#include "nsa_compress_grad/checks.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

using spec::Status;

Mutant with_checks(const std::string& name, std::string bug, const std::vector<Check>& checks) {
  return checking<Kernel>(name, std::move(bug), device_like, checks);
}

Mutant without_check(const Check& dropped) {
  return with_checks("without_" + dropped.requirement, "does not check that " + dropped.demand,
                     without(all_checks(), dropped.requirement));
}

std::vector<Check> with_one(const Check& more) { return and_also(all_checks(), more); }

bool has_no_empty_sequence(const CompressCall& c) {
  const auto& sums = c.parameters.act_seq_len;
  return !sums || sums->empty() ||
         (sums->front() > 0 && std::ranges::adjacent_find(*sums) == sums->end());
}

bool has_whole_granules(const CompressCall& c) {
  const spec::Shape& shape = c.parameters.input.shape;
  return shape.size() != 3 || shape[2] % 16 == 0;
}

bool has_whole_strides(const CompressCall& c) {
  return c.attributes.compress_stride == 0 ||
         c.attributes.compress_block_size % c.attributes.compress_stride == 0;
}

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Check> strict = all_checks();
  std::ranges::move(checks_beyond_duty(), std::back_inserter(strict));
  std::vector<Mutant> all = {
      with_checks("compress_argument_checks", "checks its arguments itself", all_checks()),
      with_checks("compress_strict_checks", "refuses what is open or disputed, too", strict)};
  for (Mutant& mutant : all) mutant.healthy = true;
  for (const Check& check : all_checks()) all.push_back(without_check(check));
  all.push_back(with_checks("compress_null_is_invalid", "answers 161002 for a null pointer",
                            with_status_for_null(all_checks(), Status::param_invalid)));
  all.push_back(with_checks("compress_no_checks", "accepts every call", {}));
  constexpr Status invalid = Status::param_invalid;
  all.push_back(with_checks(
      "compress_refuses_empty", "refuses legal calls with an empty sequence",
      with_one({"no empty sequence", invalid, "sums rise strictly", has_no_empty_sequence})));
  all.push_back(with_checks(
      "compress_refuses_rests", "refuses legal calls whose windows are no whole strides",
      with_one({"whole strides", invalid, "windows are whole strides", has_whole_strides})));
  all.push_back(with_checks(
      "compress_refuses_head_sizes", "refuses legal calls whose D is no multiple of 16",
      with_one({"whole granules", invalid, "D is a multiple of 16", has_whole_granules})));
  return all;
}

}  // namespace assay::mutants::compress

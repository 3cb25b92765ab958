#include <algorithm>
#include <string>
#include <vector>

#include "flash_attention_score_grad/arguments/checks.hpp"
#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

using spec::Status;

Mutant with_checks(const std::string& name, std::string bug, const std::vector<Check>& checks) {
  return checking<Kernel>(name, std::move(bug), flash_like, checks);
}

Mutant without_check(const std::string& id) {
  return with_checks("without_" + id, "does not check that " + demand_of(all_checks(), id),
                     without(all_checks(), id));
}

/// In sparse_mode 6 the mask is looked at as if the mode were 3.
std::vector<Check> with_square_masks() {
  std::vector<Check> checks = all_checks();
  std::ranges::find(checks, "FAG-C67b", &Check::requirement)->holds = [](const FlashCall& call) {
    FlashCall other = call;
    spec::Shape& shape = other.parameters.atten_mask.shape;
    if (other.attributes.sparse_mode == 6 && shape == spec::Shape{2048, 2048}) shape[0] = 3072;
    return !has_compressing_mode(other) || has_mask_shape_of_mode(other);
  };
  return checks;
}

}  // namespace

std::vector<std::string> checked_requirements() { return requirements_of(all_checks()); }

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {
      with_checks("argument_checks", "checks its arguments itself", all_checks())};
  all.front().healthy = true;
  for (const char* id :
       {"FAG-C02", "FAG-C05", "FAG-C06", "FAG-C08", "FAG-C09", "FAG-C12", "FAG-C20", "FAG-C21a",
        "FAG-C25", "FAG-C26", "FAG-C27", "FAG-C31", "FAG-C34", "FAG-C35", "FAG-C37", "FAG-C38",
        "FAG-C45", "FAG-C46", "FAG-C60", "FAG-C61", "FAG-C62", "FAG-C63", "FAG-C65", "FAG-C67",
        "FAG-C72", "FAG-C75", "FAG-C79", "FAG-C82", "FAG-C83"})
    all.push_back(without_check(id));
  all.push_back(with_checks("null_is_invalid", "answers 161002 for a null pointer",
                            with_status_for_null(all_checks(), Status::param_invalid)));
  all.push_back(with_checks("no_checks", "accepts every call", {}));
  all.push_back(with_checks("prefix_mask_as_others", "takes a mask of 2048 rows in sparse_mode 6",
                            with_square_masks()));
  const Check one_head = {"one head", Status::param_invalid, "grouped heads are not taken",
                          [](const FlashCall& c) { return heads_q_of(c) == heads_kv_of(c); }};
  all.push_back(with_checks("refuses_grouped_heads", "refuses legal calls with grouped heads",
                            and_also(all_checks(), one_head)));
  return all;
}

}  // namespace assay::mutants

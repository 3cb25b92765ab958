#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trial.hpp"

namespace assay::test {

/// Changes each call so that it violates a requirement, for every requirement and in every listed
/// way that does not change the entry point. Expects the same answer from phase 1 (argument check)
/// and from `own`. Returns the number of violated requirements.
template <class Op>
std::size_t expect_same_refusals(const std::vector<spec::Call<Op>>& calls,
                                 const spec::Implementation<Op>& own, const std::string& function) {
  std::set<std::string_view> broken;
  for (const spec::Call<Op>& whole : calls)
    for (const auto& row : Op::requirements())
      for (const auto& violation : row.violations) {
        spec::Call<Op> call = whole;
        violation.apply(call);
        if (call.entry_point != whole.entry_point || row.holds(call)) continue;
        SCOPED_TRACE(std::string(row.id) + " " + std::string(violation.name));
        expect_same_answer(call, own, function);
        broken.insert(row.id);
      }
  return broken.size();
}

}  // namespace assay::test

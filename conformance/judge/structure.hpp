#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// Collects findings of one rule for one tensor. Reports the first few; if there are more, the
/// destructor reports their count.
class StructureFindings {
 public:
  /// `expected`: the expected value of the elements; NaN if it is not known.
  StructureFindings(std::string tensor, FactKind what, std::vector<Finding>& findings,
                    double expected = std::numeric_limits<double>::quiet_NaN())
      : tensor_(std::move(tensor)), what_(what), due_(expected), findings_(findings) {}
  ~StructureFindings();
  StructureFindings(const StructureFindings&) = delete;

  void add(Finding finding);
  void add_storage(std::int64_t element);

 private:
  std::string tensor_;
  FactKind what_;
  double due_;
  std::vector<Finding>& findings_;
  std::int64_t count_ = 0;
};

/// Makes a finding that is not a fault: it reports a count, such as "queries_without_key", which
/// becomes a field of the report.
inline Finding counted(const std::string& name, std::int64_t count) {
  return {.rule = FindingRule::count,
          .actual = static_cast<double>(count),
          .fact = {FactKind::named_value, name}};
}
inline bool is_count(const Finding& finding) { return finding.rule == FindingRule::count; }

/// Checks that the viewed elements of an output were written, and that storage outside the view is
/// untouched. The judge filled the output with a poison value before the call (`poisoned_tensor`).
void check_storage(const std::string& name, const spec::Tensor& tensor,
                   std::vector<Finding>& findings);

}  // namespace assay::conformance

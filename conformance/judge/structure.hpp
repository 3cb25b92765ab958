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

/// Collects the findings of one rule about one tensor. Only the first few are reported in detail;
/// the destructor reports the number of the remaining findings.
class StructureFindings {
 public:
  /// `expected`: the expected value of the elements; NaN if it is unknown.
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

/// Returns a finding that is not a fault but a count, such as "queries_without_key". The count
/// becomes a field of the report.
inline Finding counted(const std::string& name, std::int64_t count) {
  return {.rule = FindingRule::count,
          .actual = static_cast<double>(count),
          .fact = {FactKind::named_value, name}};
}
inline bool is_count(const Finding& finding) { return finding.rule == FindingRule::count; }

/// Checks that every element in the view of an output was written, and that the kernel did not
/// change the storage outside the view. The judge filled the output with a poison value (a NaN
/// pattern) before the call (`poisoned_tensor`).
void check_storage(const std::string& name, const spec::Tensor& tensor,
                   std::vector<Finding>& findings);

}  // namespace assay::conformance

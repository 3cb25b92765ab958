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

/// Collects findings of one rule on one tensor: the first few, then only their number, when it is
/// destroyed.
class StructureFindings {
 public:
  /// `due` is what elements ought to be; NaN: that is not known here.
  StructureFindings(std::string tensor, std::string what, std::vector<Finding>& findings,
                    double due = std::numeric_limits<double>::quiet_NaN())
      : tensor_(std::move(tensor)), what_(std::move(what)), due_(due), findings_(findings) {}
  ~StructureFindings();
  StructureFindings(const StructureFindings&) = delete;

  void add(Finding finding);
  void add_storage(std::int64_t element);

 private:
  std::string tensor_, what_;
  double due_;
  std::vector<Finding>& findings_;
  std::int64_t count_ = 0;
};

/// A fact of a case that the judge counted, "queries_without_key": not a fault. It becomes a field
/// of the report.
inline Finding counted(std::string name, std::int64_t count) {
  return {
      .rule = FindingRule::count, .actual = static_cast<double>(count), .text = std::move(name)};
}
inline bool is_count(const Finding& finding) { return finding.rule == FindingRule::count; }

/// What every output is checked for: viewed elements written, storage outside the view untouched.
/// The kernel was given poison throughout (`poisoned_tensor`).
void check_storage(const std::string& name, const spec::Tensor& tensor,
                   std::vector<Finding>& findings);

}  // namespace assay::conformance

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "assay/conformance/report/report.hpp"
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

/// What every output is checked for: viewed elements written, storage outside the view untouched.
/// The kernel was given poison throughout (`poisoned_tensor`).
void check_storage(const std::string& name, const spec::Tensor& tensor,
                   std::vector<Finding>& findings);

}  // namespace assay::conformance

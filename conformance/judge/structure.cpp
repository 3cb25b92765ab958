#include "judge/structure.hpp"

#include <cstring>

namespace assay::conformance {
namespace {

constexpr std::int64_t findings_per_rule = 3;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

StructureFindings::~StructureFindings() {
  if (count_ > findings_per_rule)
    findings_.push_back({.rule = "structure",
                         .tensor = tensor_,
                         .text = tensor_ + ": " + std::to_string(count_) + " elements " + what_});
}

void StructureFindings::add(Finding finding) {
  if (++count_ > findings_per_rule) return;
  finding.rule = "structure", finding.tensor = tensor_;
  finding.text = tensor_ + "(" + std::to_string(finding.b) + "," + std::to_string(finding.n) + "," +
                 std::to_string(finding.s) + "," + std::to_string(finding.d) + ") " + what_ + ": " +
                 std::to_string(finding.actual) + finding.text;
  findings_.push_back(std::move(finding));
}

void StructureFindings::add_storage(std::int64_t element) {
  if (++count_ > findings_per_rule) return;
  findings_.push_back(
      {.rule = "structure",
       .tensor = tensor_,
       .text = tensor_ + ": storage element " + std::to_string(element) + " " + what_});
}

void check_storage(const std::string& name, const spec::Tensor& tensor,
                   const spec::Tensor& poisoned, std::vector<Finding>& findings) {
  const std::int64_t width = spec::size_of(tensor.dtype);
  const auto same = [&](std::int64_t element) {
    return std::memcmp(tensor.bytes.data() + element * width,
                       poisoned.bytes.data() + element * width, at(width)) == 0;
  };
  const auto elements = static_cast<std::int64_t>(tensor.bytes.size()) / width;
  std::vector<std::uint8_t> viewed(at(elements), 0);
  StructureFindings unwritten(name, "was never written", findings);
  for (const std::int64_t element : spec::viewed_elements(tensor)) {
    viewed[at(element)] = 1;
    if (same(element)) unwritten.add_storage(element);
  }
  StructureFindings touched(name, "lies outside the view and was written", findings);
  for (std::int64_t element = 0; element < elements; ++element)
    if (viewed[at(element)] == 0 && !same(element)) touched.add_storage(element);
}

}  // namespace assay::conformance

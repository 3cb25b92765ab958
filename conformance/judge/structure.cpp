#include "judge/structure.hpp"

#include <algorithm>
#include <cstring>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/spec/at.hpp"

namespace assay::conformance {
namespace {

constexpr std::int64_t findings_per_rule = 3;

using spec::at;

}  // namespace

StructureFindings::~StructureFindings() {
  if (count_ > findings_per_rule)
    findings_.push_back({.rule = FindingRule::structure,
                         .tensor = tensor_,
                         .fact = {FactKind::each_element, tensor_, count_, Fact(what_)}});
}

void StructureFindings::add(Finding finding) {
  if (++count_ > findings_per_rule) return;
  finding.rule = FindingRule::structure, finding.tensor = tensor_, finding.expected = due_;
  finding.fact = {FactKind::wrong_element, Fact(what_)};
  findings_.push_back(std::move(finding));
}

void StructureFindings::add_storage(std::int64_t element) {
  if (++count_ > findings_per_rule) return;
  findings_.push_back({.rule = FindingRule::structure,
                       .tensor = tensor_,
                       .fact = {FactKind::storage_element, tensor_, element, Fact(what_)}});
}

namespace {

/// Returns the indices of storage elements that still contain the poison value (the NaN pattern
/// that the judge wrote before the call).
template <class Bits>
std::vector<std::int64_t> poisoned_elements(const spec::Tensor& tensor) {
  const auto poison = static_cast<Bits>(poison_of(tensor.dtype));
  const auto elements = static_cast<std::int64_t>(tensor.bytes.size() / sizeof(Bits));
  std::vector<std::int64_t> poisoned;
  for (std::int64_t element = 0; element < elements; ++element) {
    Bits bits;
    std::memcpy(&bits, tensor.bytes.data() + at(element) * sizeof bits, sizeof bits);
    if (bits == poison) poisoned.push_back(element);
  }
  return poisoned;
}

/// Does the same check as `check_storage` for a sparse tensor. Only its view was filled with the
/// poison value; the rest of its storage is zero.
void check_sparse_storage(const std::string& name, const spec::Tensor& tensor,
                          std::vector<Finding>& findings) {
  const std::int64_t width = spec::size_of(tensor.dtype);
  const std::uint32_t poison = poison_of(tensor.dtype);
  std::vector<std::int64_t> viewed = spec::viewed_elements(tensor);
  StructureFindings unwritten(name, FactKind::never_written, findings);
  for (const std::int64_t element : viewed)
    if (std::memcmp(tensor.bytes.data() + element * width, &poison, at(width)) == 0)
      unwritten.add_storage(element);
  std::ranges::sort(viewed);
  constexpr std::byte zeros[sizeof poison] = {};
  StructureFindings touched(name, FactKind::written_outside_view, findings);
  for (const auto& [begin, size] : tensor.bytes.pieces())
    for (auto element = static_cast<std::int64_t>(begin) / width;
         element < static_cast<std::int64_t>(begin + size) / width; ++element)
      if (std::memcmp(tensor.bytes.data() + element * width, zeros, at(width)) != 0 &&
          !std::ranges::binary_search(viewed, element))
        touched.add_storage(element);
}

}  // namespace

void check_storage(const std::string& name, const spec::Tensor& tensor,
                   std::vector<Finding>& findings) {
  if (tensor.bytes.is_sparse()) return check_sparse_storage(name, tensor, findings);
  const std::int64_t width = spec::size_of(tensor.dtype);
  const auto elements = static_cast<std::int64_t>(tensor.bytes.size()) / width;
  const std::vector<std::int64_t> poisoned = width == 4 ? poisoned_elements<std::uint32_t>(tensor)
                                                        : poisoned_elements<std::uint16_t>(tensor);
  // If every storage element belongs to the view and was written, there is nothing to report.
  if (poisoned.empty() && spec::element_count(tensor.shape) == elements) return;
  std::vector<std::uint8_t> viewed(at(elements), 0), same(at(elements), 0);
  for (const std::int64_t element : poisoned) same[at(element)] = 1;
  StructureFindings unwritten(name, FactKind::never_written, findings);
  for (const std::int64_t element : spec::viewed_elements(tensor)) {
    viewed[at(element)] = 1;
    if (same[at(element)] != 0) unwritten.add_storage(element);
  }
  StructureFindings touched(name, FactKind::written_outside_view, findings);
  for (std::int64_t element = 0; element < elements; ++element)
    if (viewed[at(element)] == 0 && same[at(element)] == 0) touched.add_storage(element);
}

}  // namespace assay::conformance

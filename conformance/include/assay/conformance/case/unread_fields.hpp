#pragma once

#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/operators.hpp"

namespace assay::conformance {

/// Returns a sentence for each field that the user has set but this case does not use. Returns
/// nothing for cases that compute no outputs. A sentence says what is missing, for example
/// "--sparse_mode=3 hides no key without a mask: add --atten_mask=compressed".
template <class Op>
std::vector<std::string> unread_fields(const Case<Op>&) {
  return {};
}
template <>
std::vector<std::string> unread_fields(const Case<spec::FlashAttentionScore>& c);
template <>
std::vector<std::string> unread_fields(const Case<spec::FlashAttentionScoreGrad>& c);
template <>
std::vector<std::string> unread_fields(const Case<spec::NsaSelectedAttentionGrad>& c);

}  // namespace assay::conformance

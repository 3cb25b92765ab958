#pragma once

#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/operators.hpp"

namespace assay::conformance {

/// The fields of a case with numbers that somebody set and nothing reads: for each a sentence that
/// says what is missing, such as "--sparse_mode=3 hides no key without a mask: add
/// --atten_mask=compressed".
template <class Op>
std::vector<std::string> unread_fields(const Case<Op>&) {
  return {};
}
template <>
std::vector<std::string> unread_fields(const Case<spec::FlashAttentionScoreGrad>& c);
template <>
std::vector<std::string> unread_fields(const Case<spec::NsaSelectedAttentionGrad>& c);

}  // namespace assay::conformance

#include "assay/conformance/case/unread_fields.hpp"

namespace assay::conformance {

template <>
std::vector<std::string> unread_fields(const Case<spec::NsaSelectedAttentionGrad>& c) {
  if (c.track == Track::arguments || c.track == Track::relation) return {};
  const auto& p = c.problem;
  std::vector<std::string> sentences;
  const bool has_mask = p.atten_mask != spec::SelectedMask::absent;
  if (has_mask && p.sparse_mode == 0)
    sentences.emplace_back("--atten_mask=" + std::string(to_string(p.atten_mask)) +
                           " hides no key in sparse mode 0: add --sparse_mode=2");
  if (!has_mask && p.mask_dtype != spec::NsaSelectedAttentionGrad::Problem().mask_dtype)
    sentences.emplace_back("--mask_dtype=" + std::string(to_string(p.mask_dtype)) +
                           " is not read: add --sparse_mode=2 --atten_mask=compressed");
  return sentences;
}

}  // namespace assay::conformance

#include <algorithm>

#include "pairs/judge_pair.hpp"

namespace assay::conformance {
namespace {

bool fails(const CaseReport& report) {
  return contribution(report.verdict) == ExitCode::nonconformant;
}

std::string listed(const std::vector<std::string>& tensors) {
  std::string text;
  for (const std::string& tensor : tensors)
    if (!tensor.empty()) text += (text.empty() ? " (" : ", ") + tensor;
  return text.empty() ? text : text + ")";
}

/// The failed outputs of a forward: those that only the gradient reads, or the others.
std::vector<std::string> failed(const PairReport& pair, bool only_saved) {
  std::vector<std::string> tensors = failed_tensors(pair.forward);
  std::erase_if(tensors, [&](const std::string& tensor) {
    return (std::ranges::find(pair.saved, tensor) != pair.saved.end()) != only_saved;
  });
  return tensors;
}

const char* said_of(PairPart part) {
  switch (part) {
    case PairPart::forward:
      return "the forward is wrong";
    case PairPart::saved:
      return "what the forward saved is wrong";
    case PairPart::backward:
      break;
  }
  return "the backward is wrong";
}

std::vector<std::string> tensors_of(const PairReport& pair, PairPart part) {
  if (part == PairPart::forward) return failed(pair, false);
  if (part == PairPart::saved) return failed(pair, true);
  return failed_tensors(*pair.backward);
}

}  // namespace

std::vector<PairPart> PairReport::wrong() const {
  std::vector<PairPart> parts;
  if (!failed(*this, false).empty()) parts.push_back(PairPart::forward);
  if (!failed(*this, true).empty()) parts.push_back(PairPart::saved);
  if (backward && fails(*backward)) parts.push_back(PairPart::backward);
  if (parts.empty() && end_to_end && fails(*end_to_end)) parts.push_back(PairPart::saved);
  return parts;
}

std::string PairReport::sentence() const {
  std::string text;
  for (const PairPart part : wrong())
    text +=
        (text.empty() ? "" : "; ") + std::string(said_of(part)) + listed(tensors_of(*this, part));
  if (!text.empty()) return text;
  if (exit_code() == ExitCode::conformant && backward)
    return saved.empty() ? "forward and backward conform"
                         : "forward, saved values and backward conform";
  return why_not.empty() ? "not conclusive" : "not conclusive: " + why_not;
}

ExitCode PairReport::exit_code() const {
  if (!wrong().empty()) return ExitCode::nonconformant;
  const auto is_clear = [](const CaseReport& report) {
    return contribution(report.verdict) == ExitCode::conformant;
  };
  const bool clear = is_clear(forward) && backward && is_clear(*backward) &&
                     (!end_to_end || is_clear(*end_to_end));
  return clear ? ExitCode::conformant : ExitCode::not_conclusive;
}

template PairReport judge_pair(const Case<spec::FlashAttentionScoreGrad>&,
                               spec::Implementation<spec::FlashAttentionScore>&,
                               spec::Implementation<spec::FlashAttentionScoreGrad>&);
template PairReport judge_pair(const Case<spec::NsaSelectedAttentionGrad>&,
                               spec::Implementation<spec::NsaSelectedAttention>&,
                               spec::Implementation<spec::NsaSelectedAttentionGrad>&);
template PairReport judge_pair(const Case<spec::NsaCompressGrad>&,
                               spec::Implementation<spec::NsaCompress>&,
                               spec::Implementation<spec::NsaCompressGrad>&);

}  // namespace assay::conformance

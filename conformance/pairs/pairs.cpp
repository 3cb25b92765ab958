#include <algorithm>

#include "assay/conformance/report/sentences.hpp"
#include "judge/decide.hpp"
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

/// Returns the failed outputs of a forward. If `only_saved` is true, returns those that only the
/// gradient reads; otherwise all others.
std::vector<std::string> failed(const PairReport& pair, bool only_saved) {
  std::vector<std::string> tensors = failed_tensors(pair.forward);
  std::erase_if(tensors, [&](const std::string& tensor) {
    return (std::ranges::find(pair.saved, tensor) != pair.saved.end()) != only_saved;
  });
  return tensors;
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

std::vector<std::pair<std::string, PairPart>> PairReport::parts() const {
  std::vector<std::pair<std::string, PairPart>> all;
  for (const TensorReport& tensor : forward.tensors) {
    const bool is_saved = std::ranges::find(saved, tensor.name) != saved.end();
    all.emplace_back(tensor.name, is_saved ? PairPart::saved : PairPart::forward);
  }
  if (backward)
    for (const TensorReport& tensor : backward->tensors)
      all.emplace_back(tensor.name, PairPart::backward);
  return all;
}

Fact PairReport::fact() const {
  Fact all(FactKind::several);
  for (const PairPart part : wrong())
    all.parts.emplace_back(kind_of(part), listed(tensors_of(*this, part)));
  if (!all.parts.empty()) return all;
  if (exit_code() == ExitCode::conformant && backward)
    return saved.empty() ? FactKind::pair_conforms : FactKind::pair_with_saved_conforms;
  if (why_not.empty()) return FactKind::pair_undecided;
  return {FactKind::pair_undecided_because, why_not};
}

std::string PairReport::sentence() const { return sentence_of(fact()); }

ExitCode PairReport::exit_code() const {
  if (!wrong().empty()) return ExitCode::nonconformant;
  const auto is_clear = [](const CaseReport& report) {
    return contribution(report.verdict) == ExitCode::conformant;
  };
  const bool clear = is_clear(forward) && backward && is_clear(*backward) &&
                     (!end_to_end || is_clear(*end_to_end));
  return clear ? ExitCode::conformant : ExitCode::not_conclusive;
}

namespace pairs {
namespace {

/// Returns the reports about a forward and its gradient in the order of computation: forward,
/// gradient, gradient at the true values.
std::vector<const CaseReport*> reports_of(const PairReport& pair) {
  std::vector<const CaseReport*> all = {&pair.forward};
  if (pair.backward) all.push_back(&*pair.backward);
  if (pair.end_to_end) all.push_back(&*pair.end_to_end);
  return all;
}

/// Returns the most severe verdict about a forward and its gradient. If neither fails but one
/// verdict is not_applicable, returns not_applicable.
Decision gravest(const PairReport& pair) {
  Decision decision = pair.forward.verdict;
  for (const CaseReport* report : reports_of(pair)) decision = graver(decision, report->verdict);
  if (contribution(decision) == ExitCode::nonconformant) return decision;
  for (const CaseReport* report : reports_of(pair))
    if (report->verdict == Verdict::not_applicable) return report->verdict;
  if (contribution(decision) == ExitCode::conformant && !pair.backward)
    return {Rule::exemption, pair.why_not};
  return decision;
}

}  // namespace

CaseReport joined(const PairReport& pair, CaseReport report) {
  const std::vector<PairPart> wrong = pair.wrong();
  report.verdict = gravest(pair);
  if (!wrong.empty()) report.verdict.fact = {FactKind::explained, pair.fact(), report.verdict.fact};
  report.pair = OfPair{.parts = pair.parts()};
  if (pair.backward) report.fields = pair.backward->fields;
  const auto add = [&](const CaseReport& part, const std::string& suffix) {
    for (TensorReport tensor : part.tensors) {
      tensor.name += suffix;
      report.tensors.push_back(std::move(tensor));
    }
    for (Finding finding : part.findings) {
      if (!finding.tensor.empty()) finding.tensor += suffix;
      report.findings.push_back(std::move(finding));
    }
  };
  for (const CaseReport* part : reports_of(pair)) {
    report.value_case |= part->value_case;
    report.seconds_total += part->seconds_total;
    report.seconds_implementation += part->seconds_implementation;
    if (pair.end_to_end && part == &*pair.end_to_end) continue;
    add(*part, "");
    report.metrics.insert(report.metrics.end(), part->metrics.begin(), part->metrics.end());
    if (fails(*part) && failed_tensors(*part).front().empty())
      report.pair->parts.emplace_back(
          "", part == &pair.forward ? PairPart::forward : PairPart::backward);
  }
  // The gradients at the true values affect the verdict only if all other parts conform.
  if (pair.end_to_end && fails(*pair.end_to_end) && !fails(pair.forward) &&
      !fails(*pair.backward)) {
    constexpr const char* suffix = " at the true values";
    add(*pair.end_to_end, suffix);
    for (const TensorReport& tensor : pair.end_to_end->tensors)
      report.pair->parts.emplace_back(tensor.name + suffix, PairPart::saved);
  }
  return report;
}

}  // namespace pairs

template PairReport judge_pair(const Case<spec::FlashAttentionScoreGrad>&,
                               spec::Implementation<spec::FlashAttentionScore>&,
                               spec::Implementation<spec::FlashAttentionScoreGrad>&);
template std::optional<std::string> not_a_pair(const Case<spec::FlashAttentionScoreGrad>&);
template CaseReport judge_pair_as_one(const Case<spec::FlashAttentionScoreGrad>&,
                                      spec::Implementation<spec::FlashAttentionScore>&,
                                      spec::Implementation<spec::FlashAttentionScoreGrad>&);
template PairReport judge_pair(const Case<spec::NsaSelectedAttentionGrad>&,
                               spec::Implementation<spec::NsaSelectedAttention>&,
                               spec::Implementation<spec::NsaSelectedAttentionGrad>&);
template std::optional<std::string> not_a_pair(const Case<spec::NsaSelectedAttentionGrad>&);
template CaseReport judge_pair_as_one(const Case<spec::NsaSelectedAttentionGrad>&,
                                      spec::Implementation<spec::NsaSelectedAttention>&,
                                      spec::Implementation<spec::NsaSelectedAttentionGrad>&);
template PairReport judge_pair(const Case<spec::NsaCompressGrad>&,
                               spec::Implementation<spec::NsaCompress>&,
                               spec::Implementation<spec::NsaCompressGrad>&);
template std::optional<std::string> not_a_pair(const Case<spec::NsaCompressGrad>&);
template CaseReport judge_pair_as_one(const Case<spec::NsaCompressGrad>&,
                                      spec::Implementation<spec::NsaCompress>&,
                                      spec::Implementation<spec::NsaCompressGrad>&);

}  // namespace assay::conformance

#include "flags/documented_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/operators.hpp"

namespace assay::cli {
namespace {

struct DocumentedName {
  std::string_view operator_name;
  std::string entry_point, name, flags;  ///< the flags that select it in a replay line
};

/// Converts an operator name to a type name, for example nsa_compress_grad to NsaCompressGrad.
std::string type_name(std::string_view operator_name) {
  std::string name;
  bool starts_word = true;
  for (const char letter : operator_name) {
    if (letter != '_') name += starts_word ? static_cast<char>(letter - 'a' + 'A') : letter;
    starts_word = letter == '_';
  }
  return name;
}

/// Returns the documented names of all entry points. If an operator has only one entry point, the
/// documentation uses the name of the operator.
const std::vector<DocumentedName>& names() {
  static const std::vector<DocumentedName> all = [] {
    constexpr std::string_view gradient = spec::FlashAttentionScoreGrad::name,
                               forward = spec::FlashAttentionScore::name;
    std::vector<DocumentedName> found{
        {gradient, "g1", "aclnnFlashAttentionScoreGrad", "--entry_point=g1"},
        {gradient, "g2", "aclnnFlashAttentionScoreGradV2", "--entry_point=g2"},
        {gradient, "u1", "aclnnFlashAttentionUnpaddingScoreGrad", "--entry_point=u1 --layout=TND"},
        {gradient, "u2", "aclnnFlashAttentionUnpaddingScoreGradV2",
         "--entry_point=u2 --layout=TND"},
        {gradient, "u3", "aclnnFlashAttentionUnpaddingScoreGradV3",
         "--entry_point=u3 --layout=TND --head_dim_rope=8 --atten_mask=SS"},
        {gradient, "u4", "aclnnFlashAttentionUnpaddingScoreGradV4",
         "--entry_point=u4 --layout=TND"},
        {gradient, "g3", "aclnnFlashAttentionScoreGradV3", "--entry_point=g3 --sink=N"},
        {gradient, "u5", "aclnnFlashAttentionUnpaddingScoreGradV5",
         "--entry_point=u5 --layout=TND --sink=N"},
        {forward, "f1", "aclnnFlashAttentionScore", "--entry_point=f1"},
        {forward, "f2", "aclnnFlashAttentionScoreV2", "--entry_point=f2"},
        {forward, "l1", "aclnnFlashAttentionVarLenScore", "--entry_point=l1 --layout=TND"},
        {forward, "l2", "aclnnFlashAttentionVarLenScoreV2", "--entry_point=l2 --layout=TND"},
        {forward, "l3", "aclnnFlashAttentionVarLenScoreV3",
         "--entry_point=l3 --layout=TND --head_dim_rope=8 --atten_mask=SS"},
        {forward, "f3", "aclnnFlashAttentionScoreV3", "--entry_point=f3 --sink=N"},
        {forward, "l5", "aclnnFlashAttentionVarLenScoreV5",
         "--entry_point=l5 --layout=TND --sink=N"}};
    spec::for_each_operator([&]<class Op> {
      const auto& entry_points = spec::spellings_of<typename Op::EntryPoint>.entries;
      if (entry_points.size() != 1) return;
      const std::string only(entry_points.front().second);
      found.push_back({Op::name, only, "aclnn" + type_name(Op::name), "--entry_point=" + only});
    });
    return found;
  }();
  return all;
}

/// Returns the word in lower case, without the suffix "GetWorkspaceSize". This suffix belongs to
/// the C function that computes the workspace size.
std::string plain(std::string_view word) {
  constexpr std::string_view phase = "getworkspacesize";
  std::string small(word);
  for (char& letter : small)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  if (small.ends_with(phase)) small.resize(small.size() - phase.size());
  return small;
}

}  // namespace

std::string_view documented_name(std::string_view operator_name, std::string_view entry_point) {
  const auto known = std::ranges::find_if(names(), [&](const DocumentedName& one) {
    return one.operator_name == operator_name && one.entry_point == entry_point;
  });
  return known == names().end() ? std::string_view() : known->name;
}

std::string documented_hint(const std::string& word) {
  const std::string wanted = plain(word);
  const auto known = std::ranges::find_if(names(), [&](const DocumentedName& one) {
    return wanted == plain(one.name) || "aclnn" + wanted == plain(one.name);
  });
  if (known == names().end()) return {};
  return fmt::format("; {} is entry point {}: {} {}", known->name, known->entry_point,
                     known->operator_name, known->flags);
}

}  // namespace assay::cli

#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// The name under which the documents list an entry point: "aclnnFlashAttentionScoreGrad" for "g1";
/// empty for an entry point that they do not name.
std::string_view documented_name(std::string_view entry_point);

/// What to type instead of a word that names one: "; aclnnFlashAttentionScoreGrad is entry point
/// g1: flash_attention_score_grad --entry_point=g1". Empty for other words.
std::string documented_hint(const std::string& word);

}  // namespace assay::cli

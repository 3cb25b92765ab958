#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// Returns the documented name of an entry point: "aclnnFlashAttentionScoreGrad" for "g1"; empty if
/// the documents do not name it.
std::string_view documented_name(std::string_view entry_point);

/// Returns the text to type instead of a word that is the documented name of an entry point: ";
/// aclnnFlashAttentionScoreGrad is entry point g1: flash_attention_score_grad --entry_point=g1".
/// Empty for other words.
std::string documented_hint(const std::string& word);

}  // namespace assay::cli

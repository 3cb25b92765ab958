#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// Returns the documented name of an operator's entry point: "aclnnFlashAttentionScoreGrad" for
/// "g1" of flash_attention_score_grad; empty if the documentation has no name for it.
std::string_view documented_name(std::string_view operator_name, std::string_view entry_point);

/// For a word that is the documented name of an entry point, returns the text to type instead: ";
/// aclnnFlashAttentionScoreGrad is entry point g1: flash_attention_score_grad --entry_point=g1".
/// Empty for other words.
std::string documented_hint(const std::string& word);

}  // namespace assay::cli

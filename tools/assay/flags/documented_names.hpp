#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// Returns the documented name of an entry point, for example "aclnnFlashAttentionScoreGrad" for
/// "g1" of flash_attention_score_grad. Returns an empty string if the documentation gives no name.
std::string_view documented_name(std::string_view operator_name, std::string_view entry_point);

/// Returns a hint if the user typed the documented name of an entry point: ";
/// aclnnFlashAttentionScoreGrad is entry point g1: flash_attention_score_grad --entry_point=g1".
/// Returns an empty string for other words.
std::string documented_hint(const std::string& word);

}  // namespace assay::cli

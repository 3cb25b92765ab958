#pragma once

#include <string>
#include <string_view>

namespace assay::conformance {

/// Returns the name that this field had in version 0.1 ("surface" of "entry_point"), which replay
/// lines and flags may have until 0.3; empty: it had no other.
std::string_view former_name(std::string_view field);

/// Returns the word of a replay line as it is spelt today: "--surface=u1" is "--entry_point=u1",
/// "--track=a1" is "--track=exact".
std::string spelt_today(const std::string& word);

}  // namespace assay::conformance

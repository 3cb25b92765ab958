#include "attention/checks/pse.hpp"

#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using namespace attention;

/// Checks pseType of calls with rope. Without pse_shift, the types 0 and 1 have the same
/// meaning.
Refusal type_beside_rope(const Call& call) {
  return takes_ropes(call) ? within("pseType", type_of(call), 0, 1) : std::nullopt;
}

/// Returns whether the documentation page of this entry point allows a pse_shift with four axes
/// only if it has 1024 rows (the compressed form).
bool lists_compressed_rows_alone(const Call& call) {
  return call.entry_point == spec::FlashEntryPoint::u2 ||
         call.entry_point == spec::FlashEntryPoint::u4 ||
         call.entry_point == spec::FlashEntryPoint::u5;
}

Refusal shape(const Call& call) {
  if (!is_given(call.parameters.pse_shift)) return std::nullopt;
  return pse_shape(call, outer_shapes(call, !lists_compressed_rows_alone(call)));
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C76", invalid, type},
    {"FAG-C77", invalid, type_beside_rope},
    {"FAG-C78", invalid, type_without_pse},
    {"FAG-C82", invalid, no_empty_sequence},
    {"FAG-C74", invalid, no_pse_in_mode_7},
    {"FAG-C79", invalid, shape},
    {"FAG-C75", invalid, lengths_in_mode_8},
    {"FAG-C80", invalid, generated_lengths},
    {"FAG-C81", invalid, alibi},
};

}  // namespace

std::span<const Check> pse_checks() { return checks; }

}  // namespace assay::optimized

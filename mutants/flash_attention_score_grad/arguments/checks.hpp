#pragma once

#include <string>
#include <vector>

#include "checked.hpp"
#include "work.hpp"

namespace assay::mutants {

using FlashCall = spec::Call<Op>;

using Check = CheckOf<Op>;

/// Every check, in an order in which each may rely on the ones before it.
std::vector<Check> all_checks();

/// Those about required arguments, about element types, and about the position bias.
std::vector<Check> presence_checks();
std::vector<Check> type_checks();
std::vector<Check> pse_checks();

/// FAG-C67 and FAG-C67b: whether the mask has a shape of its sparse mode.
bool has_mask_shape_of_mode(const FlashCall& call);
/// Whether the sparse mode asks for a compressed mask.
bool has_compressing_mode(const FlashCall& call);

/// Neither a null pointer nor of rank 0.
bool given(const spec::Parameter& parameter);

/// What the shapes of a call with known layout and ranks say. In TND the lengths are the longest.
std::int64_t batch_of(const FlashCall& call);
std::int64_t heads_q_of(const FlashCall& call);
std::int64_t heads_kv_of(const FlashCall& call);
std::int64_t head_dim_of(const FlashCall& call);
std::int64_t seq_q_of(const FlashCall& call);
std::int64_t seq_kv_of(const FlashCall& call);
/// Of every sequence, from its sums.
std::vector<std::int64_t> lengths_q_of(const FlashCall& call);
std::vector<std::int64_t> lengths_kv_of(const FlashCall& call);
/// Scores of all sequences and heads.
std::int64_t scores_of(const FlashCall& call);

}  // namespace assay::mutants

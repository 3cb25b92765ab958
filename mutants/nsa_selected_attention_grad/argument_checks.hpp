#pragma once

#include <string>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "checked.hpp"

namespace assay::mutants::selected {

using Op = spec::NsaSelectedAttentionGrad;
using Check = CheckOf<Op>;

/// Every check, in an order in which a call that passes those before it is safe to look at.
std::vector<Check> all_checks();

/// Those about required arguments, about element types and formats, and about attributes and sums
/// of lengths; about shapes; about numbers of heads, head sizes and lengths.
std::vector<Check> presence_checks();
std::vector<Check> type_checks();
std::vector<Check> frame_checks();
std::vector<Check> shape_checks();
std::vector<Check> size_checks();

/// Whether those inputs that are given have three axes; whether besides all are given, so that
/// their extents can be looked at whichever check was left out.
bool has_three_axes(const spec::Call<Op>& call);
bool is_framed(const spec::Call<Op>& call);

}  // namespace assay::mutants::selected

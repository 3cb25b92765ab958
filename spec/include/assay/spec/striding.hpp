#pragma once

#include <cstdint>

#include "assay/spec/call.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// How the tensors of a call are strided.
/// padded: rows further apart than needed, behind an offset; transposed: storage with the first two
/// axes exchanged.
enum class Striding : std::uint8_t { contiguous, padded, transposed };

template <>
inline constexpr auto spellings_of<Striding> = Spellings<Striding, 3>{{{
    {Striding::contiguous, "contiguous"},
    {Striding::padded, "padded"},
    {Striding::transposed, "transposed"},
}}};

/// Sets `parameter`'s strides and offset for its shape.
void apply_striding(Parameter& parameter, Striding striding);

}  // namespace assay::spec

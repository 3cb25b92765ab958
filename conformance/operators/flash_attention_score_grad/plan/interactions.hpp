#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "operators/flash_attention_score_grad/plan/sampling.hpp"

namespace assay::conformance::attention::flash {

/// The factors that are combined. For any four factors, every combination of their values occurs in
/// a case. Values are numbered. `pse`: 0 is absent, k is pseType k - 1. If a factor has two
/// values, 1 is the value that the name of the factor describes.
enum class Factor : std::uint8_t { layout, dtype, mode, pse, dropout, grouped, tail, narrow_value };
inline constexpr std::array<std::size_t, 8> values_of_factors = {5, 3, 9, 5, 2, 2, 2, 2};

/// One value for each factor.
using Interaction = std::array<std::size_t, values_of_factors.size()>;

/// Calls visit(key) for each group of four values of an interaction; the key is a number that
/// identifies the group.
template <class Visitor>
void visit_fours(const Interaction& x, Visitor&& visit) {
  constexpr std::size_t count = values_of_factors.size();
  const auto part = [&](std::size_t f) { return static_cast<std::uint64_t>(f * 16 + x[f]); };
  for (std::size_t f = 0; f < count; ++f)
    for (std::size_t g = f + 1; g < count; ++g)
      for (std::size_t h = g + 1; h < count; ++h)
        for (std::size_t k = h + 1; k < count; ++k)
          visit(((part(f) << 8 | part(g)) << 8 | part(h)) << 8 | part(k));
}

/// Returns a small exact case with these values; nothing if the documents forbid this combination.
std::optional<FlashCase> interaction_case(const Interaction& interaction, std::uint64_t lot);

}  // namespace assay::conformance::attention::flash

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "assay/spec/stage.hpp"

/// Numbers that the documents of all attention operators share.
namespace assay::spec {

/// Edge of a compressed mask.
inline constexpr std::int64_t compressed_mask_edge = 2048;
/// Softmax statistics are stored this many times in a row, all equal.
inline constexpr std::int64_t statistics_replicas = 8;

namespace detail {
inline constexpr auto dq_alone = std::to_array<std::string_view>({"dq"});
inline constexpr auto dq_rope_alone = std::to_array<std::string_view>({"dq_rope"});
inline constexpr auto dk_alone = std::to_array<std::string_view>({"dk"});
inline constexpr auto dk_rope_alone = std::to_array<std::string_view>({"dk_rope"});
inline constexpr auto dv_alone = std::to_array<std::string_view>({"dv"});
inline constexpr auto of_queries = std::to_array<std::string_view>({"dq", "dq_rope"});
inline constexpr auto of_keys = std::to_array<std::string_view>({"dk", "dk_rope"});
inline constexpr auto of_sums_over_queries =
    std::to_array<std::string_view>({"dk", "dk_rope", "dv"});
inline constexpr auto of_dscore =
    std::to_array<std::string_view>({"dq", "dq_rope", "dk", "dk_rope"});
inline constexpr auto of_probability =
    std::to_array<std::string_view>({"dq", "dq_rope", "dk", "dk_rope", "dv"});
}  // namespace detail

/// Stages of the attention gradients.
inline constexpr auto attention_stages = std::to_array<Stage>({
    {"the sum over keys that gives dq", detail::dq_alone},
    {"the sum over keys that gives dq_rope", detail::dq_rope_alone},
    {"the sum over queries that gives dk", detail::dk_alone},
    {"the sum over queries that gives dk_rope", detail::dk_rope_alone},
    {"P with its dropout as dv takes it, or the sum over queries that gives dv", detail::dv_alone},
    {"dS as dq and dq_rope take it", detail::of_queries},
    {"dS as dk and dk_rope take it", detail::of_keys},
    {"what dk and dv collect from which rows and heads, or P: the scores, their mask or the "
     "softmax "
     "statistics",
     detail::of_sums_over_queries},
    {"dP, the row term or dS", detail::of_dscore},
    {"P: the scores, their mask or the softmax statistics; or how dy is read",
     detail::of_probability},
});

}  // namespace assay::spec

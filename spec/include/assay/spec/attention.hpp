#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "assay/spec/stage.hpp"

/// Constants that are the same for all attention operators.
namespace assay::spec {

/// The number of rows, and also the number of columns, of a compressed mask (the fixed mask pattern
/// of the sparse modes).
inline constexpr std::int64_t compressed_mask_edge = 2048;
/// The number of equal copies in which each softmax statistic is stored.
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

/// The stages that all gradients of attention have. A stage is a step of the computation, such as a
/// sum or an intermediate result; reports of a failure name it.
inline constexpr auto attention_stages = std::to_array<Stage>({
    {"the sum over keys that gives dq", detail::dq_alone},
    {"the sum over keys that gives dq_rope", detail::dq_rope_alone},
    {"the sum over queries that gives dk", detail::dk_alone},
    {"the sum over queries that gives dk_rope", detail::dk_rope_alone},
    {"the P after dropout that enters dv, or the sum over queries that gives dv", detail::dv_alone},
    {"the dS that enters dq and dq_rope", detail::of_queries},
    {"the dS that enters dk and dk_rope", detail::of_keys},
    {"the rows and heads over which dk and dv sum, or P (the scores, their mask or the softmax "
     "statistics)",
     detail::of_sums_over_queries},
    {"dP, the row term or dS", detail::of_dscore},
    {"P (the scores, their mask or the softmax statistics), or loading dy from memory",
     detail::of_probability},
});

}  // namespace assay::spec

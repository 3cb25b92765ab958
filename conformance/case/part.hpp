#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The axis along which a gradient is divided: keys and values, or queries.
enum class PartAxis : std::uint8_t { kv, q };

/// A part of the keys (values) or of the queries of every sequence: positions `first` to `last`,
/// both included. Its gradient is the sum over the pairs of query and key in the part, with the
/// softmax statistics of all keys. The field `part` of a case is its text, such as "kv:0-511".
struct GradientPart {
  PartAxis axis = PartAxis::kv;
  std::int64_t first = 0, last = 0;

  std::int64_t size() const { return last - first + 1; }
  bool has_query(std::int64_t i) const { return axis == PartAxis::kv || has(i); }
  bool has_key(std::int64_t j) const { return axis == PartAxis::q || has(j); }
  /// Returns whether the gradient with this name is a sum over the part, to which sums over other
  /// parts are added later. Such a sum has type fp32; the other gradients of the part are complete.
  bool sums_to(std::string_view gradient) const {
    if (axis == PartAxis::kv) return gradient == "dq" || gradient == "dq_rope";
    return gradient == "dk" || gradient == "dk_rope" || gradient == "dv";
  }
  friend bool operator==(const GradientPart&, const GradientPart&) = default;

 private:
  bool has(std::int64_t position) const { return first <= position && position <= last; }
};

/// Returns the part with this text, or nothing if the text does not describe one.
std::optional<GradientPart> part_of(std::string_view text);
std::string text_of(const GradientPart& part);

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::PartAxis> = Spellings<conformance::PartAxis, 2>{{{
    {conformance::PartAxis::kv, "kv"},
    {conformance::PartAxis::q, "q"},
}}};

}  // namespace assay::spec

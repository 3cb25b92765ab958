#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// How a set of indices along one axis of a tensor is described.
enum class PlaceKind : std::uint8_t {
  last,     ///< the last index; on axis s the last one of each sequence
  listed,   ///< `numbers` are the indices
  range,    ///< the first and the last index; without a last one: to the end
  steps,    ///< step and first index, to the end
  periods,  ///< period, then first and last index within it
};

/// A set of indices along one axis of a tensor.
struct AxisPlace {
  std::string axis;  ///< "b", "n", "s" or "d"
  PlaceKind kind = PlaceKind::last;
  std::vector<std::int64_t> numbers = {};

  auto operator<=>(const AxisPlace&) const = default;
};

/// How the outputs differ from the expected values.
enum class DeviationKind : std::uint8_t {
  none,           ///< no relation was found
  never_written,  ///< the output still contains the poison of the judge
  not_a_number,
  zero,
  multiple,  ///< the expected value times `factor`
  heads,     ///< the expected value of another head
  rows,      ///< the expected value of the row `shift` later
  channels,  ///< the expected value of the channel `shift` later
};

/// A head whose outputs equal the expected values of another head, `from`.
struct HeadOfAnother {
  std::int64_t head = 0, from = 0;

  auto operator<=>(const HeadOfAnother&) const = default;
};
/// Describes how the failing elements of a tensor differ from the expected values.
struct Deviation {
  DeviationKind kind = DeviationKind::none;
  double factor = 0;  ///< multiple: to four digits; 0: the factor differs between elements
  /// Quantities of the case that may be the factor, such as "1 / scale_value". Empty if the output
  /// is not a multiple of the expected value.
  std::vector<std::string> quantities = {};
  std::vector<HeadOfAnother> heads = {};  ///< empty if there are many
  std::int64_t shift = 0;

  auto operator<=>(const Deviation&) const = default;
};

/// The common properties of the failing elements of one tensor.
struct Pattern {
  std::int64_t failing = 0, judged = 0;  ///< elements
  std::vector<AxisPlace> places = {};    ///< at most one for each axis
  Deviation deviation = {};
};

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::PlaceKind> = Spellings<conformance::PlaceKind, 5>{{{
    {conformance::PlaceKind::last, "last"},
    {conformance::PlaceKind::listed, "listed"},
    {conformance::PlaceKind::range, "range"},
    {conformance::PlaceKind::steps, "steps"},
    {conformance::PlaceKind::periods, "periods"},
}}};

template <>
inline constexpr auto spellings_of<conformance::DeviationKind> =
    Spellings<conformance::DeviationKind, 8>{{{
        {conformance::DeviationKind::none, "none"},
        {conformance::DeviationKind::never_written, "never_written"},
        {conformance::DeviationKind::not_a_number, "not_a_number"},
        {conformance::DeviationKind::zero, "zero"},
        {conformance::DeviationKind::multiple, "multiple"},
        {conformance::DeviationKind::heads, "heads"},
        {conformance::DeviationKind::rows, "rows"},
        {conformance::DeviationKind::channels, "channels"},
    }}};

}  // namespace assay::spec

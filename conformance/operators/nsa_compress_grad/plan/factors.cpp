#include "operators/nsa_compress_grad/plan/factors.hpp"

#include <array>
#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/choice_values.hpp"

namespace assay::conformance::compress {
namespace {

using spec::DType;
using spec::Striding;

constexpr std::array dtypes = {DType::fp16, DType::bf16};
constexpr std::array head_counts = {Heads::one, Heads::few, Heads::many};
constexpr std::array head_dims = {HeadDim::least, HeadDim::narrow, HeadDim::wide, HeadDim::widest};
constexpr std::array overlaps = {Overlap::part, Overlap::two, Overlap::few, Overlap::odd,
                                 Overlap::many};
constexpr std::array length_classes = {
    Lengths::one_window, Lengths::single,      Lengths::many,       Lengths::leading_empty,
    Lengths::repeated,   Lengths::short_first, Lengths::short_last, Lengths::short_middle,
    Lengths::equal,      Lengths::unequal};
constexpr std::array tails = {Tail::none, Tail::some};
constexpr std::array amounts = {Amount::few, Amount::beyond};
constexpr std::array stridings = {Striding::contiguous, Striding::padded, Striding::transposed};
constexpr std::array tracks = {Track::bound, Track::a1, Track::a2};
constexpr std::array<std::string_view, 12> profile_names = {
    "normal",  "all_positive", "offset",         "outliers",       "cancelling", "ones",
    "one_hot", "sparse_dy",    "subnormal_fp16", "large_exponent", "tiny_dy",    "huge_dy"};

template <std::predicate<const Categories&> Predicate>
Exclusion rule(std::vector<std::size_t> factors, Predicate excludes) {
  return {"", std::move(factors),
          [excludes](const Choice& choice) { return excludes(decode(choice)); }};
}

std::vector<Exclusion> exclusions() {
  return {
      // The lattice has numbers of its own.
      rule({track, profile},
           [](const Categories& k) { return k.track != Track::bound && k.profile != "normal"; }),
      // Of a few rows all may be zero.
      rule({heads, amount, profile},
           [](const Categories& k) {
             return k.profile == "sparse_dy" && k.heads != Heads::many && k.amount == Amount::few;
           }),
      // Costs seconds and says nothing that fewer channels do not.
      rule({heads, head_dim, lengths, amount}, [](const Categories& k) {
        const bool is_wide = k.head_dim == HeadDim::wide || k.head_dim == HeadDim::widest;
        const bool is_long = k.amount == Amount::beyond;
        if (k.heads == Heads::many)
          return (is_wide && (is_long || k.lengths == Lengths::many)) ||
                 (is_long && k.lengths == Lengths::one_window && k.head_dim != HeadDim::least);
        return is_wide && is_long && k.lengths == Lengths::one_window && k.heads == Heads::few;
      })};
}

std::string_view name_of_axis(std::size_t axis) {
  constexpr std::array<std::string_view, axis_count> names = {
      "dtype", "heads", "head_dim", "overlap", "lengths", "tail", "windows", "inputs", "outputs"};
  return names.at(axis);
}

std::string_view name_of_value(std::size_t axis, std::size_t value) {
  switch (axis) {
    case dtype:
      return spec::to_string(dtypes.at(value));
    case heads:
      return nth<3>({"one", "few", "many"}, value);
    case head_dim:
      return nth<4>({"least", "narrow", "wide", "widest"}, value);
    case overlap:
      return nth<5>({"part", "two", "few", "odd", "many"}, value);
    case lengths:
      return nth<10>({"one_window", "single", "many", "leading_empty", "repeated", "short_first",
                      "short_last", "short_middle", "equal", "unequal"},
                     value);
    case tail:
      return nth<2>({"none", "some"}, value);
    case amount:
      return nth<2>({"few", "beyond_64"}, value);
    case inputs:
    case outputs:
      return spec::to_string(stridings.at(value));
    default:
      throw std::invalid_argument("factor " + std::to_string(axis) + " is no axis");
  }
}

}  // namespace

Categories decode(const Choice& c) {
  return {.dtype = value_of(c, dtype, dtypes),
          .heads = value_of(c, heads, head_counts),
          .head_dim = value_of(c, head_dim, head_dims),
          .overlap = value_of(c, overlap, overlaps),
          .lengths = value_of(c, lengths, length_classes),
          .tail = value_of(c, tail, tails),
          .amount = value_of(c, amount, amounts),
          .inputs = value_of(c, inputs, stridings),
          .outputs = value_of(c, outputs, stridings),
          .track = value_of(c, track, tracks),
          .profile = value_of(c, profile, profile_names)};
}

const ChoiceSpace& choice_space() {
  static const ChoiceSpace space(
      {dtypes.size(), head_counts.size(), head_dims.size(), overlaps.size(), length_classes.size(),
       tails.size(), amounts.size(), stridings.size(), stridings.size(), tracks.size(),
       profile_names.size()},
      exclusions());
  return space;
}

const Axes& axes() {
  static const Axes all{.operator_name = spec::NsaCompressGrad::name,
                        .space = choice_space(),
                        .count = axis_count,
                        .name = name_of_axis,
                        .value = name_of_value};
  return all;
}

}  // namespace assay::conformance::compress

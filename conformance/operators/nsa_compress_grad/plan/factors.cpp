#include "operators/nsa_compress_grad/plan/factors.hpp"

#include "assay/conformance/plan/sizes.hpp"
#include "plan/forbidden.hpp"
#include "plan/stridings.hpp"

namespace assay::conformance {
namespace compress {
namespace {

using Op = spec::NsaCompressGrad;
using spec::DType;

/// A case with at least `many_sequences` sequences is in the class `many`. With more than
/// `few_windows` windows, a tile spans several sequences.
constexpr std::int64_t many_sequences = 16, few_windows = 64;

std::int64_t windows_of(const Op::Problem& p, std::int64_t b) {
  return spec::window_count(p.length(b), p.compress_block_size, p.compress_stride);
}

Heads heads_of(const Op::Problem& p) {
  if (p.heads == 1) return Heads::one;
  return p.heads < 16 ? Heads::few : Heads::many;
}

HeadDim head_dim_of(const Op::Problem& p) {
  if (p.head_dim <= 16) return HeadDim::least;
  if (p.head_dim <= 112) return HeadDim::narrow;
  return p.head_dim <= 192 ? HeadDim::wide : HeadDim::widest;
}

Overlap overlap_of(const Op::Problem& p) {
  const std::int64_t size = p.compress_block_size, stride = p.compress_stride;
  if (size < 2 * stride) return Overlap::part;
  if (size == 2 * stride) return Overlap::two;
  if (size % stride != 0) return Overlap::odd;
  return size <= 4 * stride ? Overlap::few : Overlap::many;
}

LengthsKind lengths_of(const Op::Problem& p) {
  bool has_empty = false, has_short = false, alike = true, single_windows = true;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    has_empty |= p.length(b) == 0;
    has_short |= windows_of(p, b) == 0;
    alike &= p.length(b) == p.length(0);
    single_windows &= windows_of(p, b) == 1;
  }
  if (single_windows) return LengthsKind::one_window;
  if (p.batch == 1) return LengthsKind::single;
  if (p.batch >= many_sequences) return LengthsKind::many;
  if (has_empty) return p.length(0) == 0 ? LengthsKind::leading_empty : LengthsKind::repeated;
  if (windows_of(p, 0) == 0) return LengthsKind::short_first;
  if (windows_of(p, p.batch - 1) == 0) return LengthsKind::short_last;
  if (has_short) return LengthsKind::short_middle;
  return alike ? LengthsKind::equal : LengthsKind::unequal;
}

Tail tail_of(const Op::Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (windows_of(p, b) > 0 && (p.length(b) - p.compress_block_size) % p.compress_stride != 0)
      return Tail::some;
  return Tail::none;
}

Amount amount_of(const Op::Problem& p) {
  return output_extents(p).tokens() <= few_windows ? Amount::few : Amount::beyond;
}

bool is_costly(const Categories& k) {
  const bool is_wide = k.head_dim == HeadDim::wide || k.head_dim == HeadDim::widest;
  const bool is_long = k.amount == Amount::beyond;
  if (k.heads == Heads::many)
    return (is_wide && (is_long || k.lengths == LengthsKind::many)) ||
           (is_long && k.lengths == LengthsKind::one_window && k.head_dim != HeadDim::least);
  return is_wide && is_long && k.lengths == LengthsKind::one_window && k.heads == Heads::few;
}

std::vector<Exclusion> senseless() {
  return {factors().rule(
      {Why::senseless, "An exact case chooses its values itself."}, {"track", "profile"},
      [](const Categories& k) { return k.track != Track::bound && k.profile != "normal"; })};
}

std::vector<Exclusion> fruitless_and_costly() {
  const auto& of = factors();
  return {of.rule({Why::fruitless, "A sparse dy with few rows can be all zero."},
                  {"heads", "windows", "profile"},
                  [](const Categories& k) {
                    return k.profile == "sparse_dy" && k.heads != Heads::many &&
                           k.amount == Amount::few;
                  }),
          of.rule({Why::costly, "The case costs seconds and tests no more than fewer channels do."},
                  {"heads", "head_dim", "lengths", "windows"}, is_costly)};
}

}  // namespace

const Factors<Op, Categories>& factors() {
  using F = Factors<Op, Categories>;
  using K = Categories;
  static const F table({
      F::axis("dtype", &K::dtype, only({DType::fp16, DType::bf16}),
              [](const CompressCase& c) { return c.problem.dtype; }),
      F::axis("heads", &K::heads, in_order<Heads>({"one", "few", "many"}),
              [](const CompressCase& c) { return heads_of(c.problem); }),
      F::axis("head_dim", &K::head_dim, in_order<HeadDim>({"least", "narrow", "wide", "widest"}),
              [](const CompressCase& c) { return head_dim_of(c.problem); }),
      F::axis("overlap", &K::overlap, in_order<Overlap>({"part", "two", "few", "odd", "many"}),
              [](const CompressCase& c) { return overlap_of(c.problem); }),
      F::axis(
          "lengths", &K::lengths,
          in_order<LengthsKind>({"one_window", "single", "many", "leading_empty", "repeated",
                                 "short_first", "short_last", "short_middle", "equal", "unequal"}),
          [](const CompressCase& c) { return lengths_of(c.problem); }),
      F::axis("tail", &K::tail, in_order<Tail>({"none", "some"}),
              [](const CompressCase& c) { return tail_of(c.problem); }),
      F::axis("windows", &K::amount, in_order<Amount>({"few", "beyond_64"}),
              [](const CompressCase& c) { return amount_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const CompressCase& c) { return drawn_striding_of(c.inputs); }),
      F::axis("outputs", &K::outputs, drawn_stridings(),
              [](const CompressCase& c) { return drawn_striding_of(c.outputs); }),
      F::drawn("track", &K::track, only({Track::bound, Track::exact, Track::exact_staged})),
      F::drawn(
          "profile", &K::profile,
          words({"normal", "all_positive", "offset", "outliers", "cancelling", "ones", "one_hot",
                 "sparse_dy", "subnormal_fp16", "large_exponent", "tiny_dy", "huge_dy"})),
  });
  return table;
}

const ChoiceSpace& choice_space() {
  static const ChoiceSpace space = [] {
    const auto ask = [](const Choice& choice, std::uint64_t lot,
                        std::span<const std::string_view> among) {
      return forbidden_by(draw_case(factors().chosen(choice), lot), among);
    };
    return ChoiceSpace(with_forbidden({factors().sizes(), senseless()}, {}, ask),
                       fruitless_and_costly());
  }();
  return space;
}

}  // namespace compress

const Axes* Suite<spec::NsaCompressGrad>::axes() {
  static const Axes all{Op::name, compress::choice_space(), compress::factors().axes()};
  return &all;
}

Choice Suite<spec::NsaCompressGrad>::choice_of(const Case<Op>& c) {
  return compress::factors().read(c);
}

std::vector<Size> Suite<spec::NsaCompressGrad>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff;
  const auto& p = c.problem;
  return {{"head_dim", p.head_dim, 0, multiples(16, 256)},
          {"heads", p.heads},
          {"sequences", p.batch},
          {"window", p.compress_block_size, 0, multiples(16, 128)},
          {"stride", p.compress_stride, 0, multiples(16, 112)},
          {"tokens", input_extents(p).tokens(), of_16_bits}};
}

}  // namespace assay::conformance

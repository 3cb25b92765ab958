#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "compression/windows.hpp"
#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "operators/nsa_compress_grad/relations/relations.hpp"

namespace assay::conformance::compress {
namespace {

using spec::DType;
using spec::RowPosition;
using Indices = std::vector<std::int64_t>;

std::int64_t windows_of(const Op::Problem& p, std::int64_t b) {
  return spec::window_count(p.length(b), p.compress_block_size, p.compress_stride);
}
bool has_sequences(const Op::Problem& p) { return p.batch > 1; }
bool has_heads(const Op::Problem& p) { return p.heads > 1; }
bool has_short_sequences(const Op::Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (windows_of(p, b) == 0) return true;
  return false;
}

Indices ascending(std::int64_t count) {
  Indices numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Returns the sequences of `p` with these numbers, in this order; -1 inserts an empty sequence.
Piece sequences(const Op::Problem& p, Indices order) {
  Piece piece{.problem = p, .origins = {}};
  Indices lengths;
  for (const std::int64_t b : order) lengths.push_back(b < 0 ? 0 : p.length(b));
  set_lengths(piece.problem, std::move(lengths));
  const Origin origin = [order = std::move(order)](const RowPosition& row) {
    return RowPosition{order[static_cast<std::size_t>(row.b)], row.n, row.s};
  };
  piece.origins = {.input = origin, .window = origin, .weight = same_row};
  return piece;
}

/// Returns the sequences that have windows. The gradients of the other sequences are zero.
Indices sequences_with_windows(const Op::Problem& p) {
  Indices order = ascending(p.batch);
  std::erase_if(order, [&](std::int64_t b) { return windows_of(p, b) == 0; });
  return order;
}

Experiment sequences_alone(const Trial& base) {
  std::vector<Piece> pieces;
  for (const std::int64_t b : sequences_with_windows(base.problem))
    pieces.push_back(sequences(base.problem, {b}));
  return rearranging(base, std::move(pieces));
}

Experiment permute_sequences(const Trial& base) {
  Indices order = ascending(base.problem.batch);
  std::ranges::reverse(order);
  return rearranging(base, {sequences(base.problem, std::move(order))});
}

Experiment drop_short(const Trial& base) {
  return rearranging(base, {sequences(base.problem, sequences_with_windows(base.problem))});
}

Experiment insert_empty(const Trial& base) {
  Indices leading = ascending(base.problem.batch);
  leading.insert(leading.begin(), -1);
  return rearranging(base, {sequences(base.problem, std::move(leading))});
}

Experiment repeat_sums(const Trial& base) {
  Indices repeated;
  for (std::int64_t b = 0; b < base.problem.batch; ++b)
    repeated.insert(repeated.end(), {b, -1, -1});
  return rearranging(base, {sequences(base.problem, std::move(repeated))});
}

/// Returns the heads of `p` with these numbers, in this order.
Piece heads(const Op::Problem& p, Indices order) {
  Piece piece{.problem = p, .origins = {}};
  piece.problem.heads = std::ssize(order);
  const Origin origin = [order = std::move(order)](const RowPosition& row) {
    return RowPosition{row.b, order[static_cast<std::size_t>(row.n)], row.s};
  };
  piece.origins = {.input = origin, .window = origin, .weight = origin};
  return piece;
}

Experiment permute_heads(const Trial& base) {
  Indices order = ascending(base.problem.heads);
  std::ranges::rotate(order, order.begin() + 1);
  return rearranging(base, {heads(base.problem, std::move(order))});
}

Experiment heads_alone(const Trial& base) {
  std::vector<Piece> pieces;
  for (std::int64_t n = 0; n < base.problem.heads; ++n) pieces.push_back(heads(base.problem, {n}));
  return rearranging(base, std::move(pieces));
}

/// Returns the number of tokens that can be appended to sequence b without a new window.
std::int64_t spare_tail(const Op::Problem& p, std::int64_t b) {
  if (windows_of(p, b) == 0) return 0;
  return p.compress_stride - 1 - (p.length(b) - p.compress_block_size) % p.compress_stride;
}

bool has_spare_tail(const Op::Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (spare_tail(p, b) > 0) return true;
  return false;
}

/// Appends to every sequence the largest number of tokens that adds no window. They repeat the last
/// token.
Experiment append_tail(const Trial& base) {
  const Op::Problem& p = base.problem;
  Piece piece{.problem = p, .origins = {.input = same_row, .window = same_row, .weight = same_row}};
  Indices lengths;
  for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(p.length(b) + spare_tail(p, b));
  set_lengths(piece.problem, std::move(lengths));
  Piece filled = piece;
  filled.origins.input = [p](const RowPosition& row) {
    return RowPosition{row.b, row.n, std::min(row.s, p.length(row.b) - 1)};
  };
  piece.origins.input = [p](const RowPosition& row) {
    return row.s < p.length(row.b) ? std::optional(row) : std::nullopt;
  };
  return {.base = base,
          .variants = {RelationParts::rearranged(base, filled.problem, filled.origins)},
          .combine = adding<Op>(p, {piece})};
}

/// Inserts a stride of tokens before every sequence that has windows; the new window has a gradient
/// of zeros.
Experiment shift_by_stride(const Trial& base) {
  const Op::Problem& p = base.problem;
  Piece piece{.problem = p, .origins = {}};
  Indices lengths;
  for (std::int64_t b = 0; b < p.batch; ++b)
    lengths.push_back(p.length(b) + (windows_of(p, b) > 0 ? p.compress_stride : 0));
  set_lengths(piece.problem, std::move(lengths));
  const auto after = [p](std::int64_t tokens) {
    return [p, tokens](const RowPosition& row) -> std::optional<RowPosition> {
      if (windows_of(p, row.b) == 0) return row;
      if (row.s < tokens) return std::nullopt;
      return RowPosition{row.b, row.n, row.s - tokens};
    };
  };
  piece.origins = {.input = after(p.compress_stride), .window = after(1), .weight = same_row};
  return rearranging(base, {piece});
}

bool has_two_tiles(const Op::Problem& p) { return p.head_dim >= 32; }

/// Runs the first 16 channels and the other channels separately. weight_grad is the sum of the
/// weight_grad of both runs.
Experiment channels_alone(const Trial& base) {
  constexpr std::int64_t head = 16;
  const std::int64_t dim = base.problem.head_dim;
  Experiment experiment{.base = base, .variants = {base, base}, .combine = {}};
  const std::pair<std::int64_t, std::int64_t> parts[] = {{0, head}, {head, dim - head}};
  for (std::size_t k = 0; k < 2; ++k) {
    Trial& part = experiment.variants[k];
    part.problem.head_dim = parts[k].second;
    for (auto* rows : {&part.rows.input, &part.rows.output_grad})
      *rows = channels(*rows, dim, parts[k].first, parts[k].second);
  }
  experiment.combine = [dim](const std::vector<Gradients>& outputs) {
    return Gradients{
        {"input_grad",
         joined(outputs[0].at("input_grad"), head, outputs[1].at("input_grad"), dim - head)},
        {"weight_grad", plus(outputs[0].at("weight_grad"), outputs[1].at("weight_grad"))}};
  };
  return experiment;
}

}  // namespace

std::span<const Relation> rearranging_relations() {
  using enum Agreement;
  static constexpr std::string_view sequences = "two sequences and more", everything = "everything";
  static constexpr Relation relations[] = {
      {"sequences_alone",
       "Sequences have their own input_grad; weight_grad is the sum over the sequences.", bound,
       has_sequences, sequences, sequences_alone},
      {"permute_sequences",
       "Sequences in another order: input_grad has the same order, weight_grad does not change.",
       bound, has_sequences, sequences, permute_sequences},
      {"drop_short", "Sequences that are too short for a window change nothing.", bound,
       has_short_sequences, "a sequence without windows", drop_short},
      {"leading_empty", "An empty first sequence, a leading 0 of the sums, changes nothing.", bound,
       is_anything, everything, insert_empty},
      {"repeated_sums", "Empty sequences after every one, repeated sums, change nothing.", bound,
       is_anything, everything, repeat_sums},
      {"permute_heads", "Heads in another order: both gradients have the same order.", bits,
       has_heads, "two heads and more", permute_heads},
      {"heads_alone", "Every head has its own gradients.", bound, has_heads, "two heads and more",
       heads_alone},
      {"channels_alone",
       "Channels have their own input_grad; weight_grad is the sum over the channels.", bound,
       has_two_tiles, "head_dim of 32 and more", channels_alone},
      {"append_tail", "Tokens after the last window change nothing.", bound, has_spare_tail,
       "a sequence to which one more token adds no window", append_tail},
      {"shift_by_stride",
       "A stride of tokens in front, whose window has no gradient, moves input_grad by a stride.",
       bound, is_anything, everything, shift_by_stride}};
  return relations;
}

}  // namespace assay::conformance::compress

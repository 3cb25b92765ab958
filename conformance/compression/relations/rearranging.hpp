#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compression/relations/parts.hpp"

namespace assay::conformance::compression {

/// Returns an experiment (a comparison of runs) that runs the kernel on each rearranged problem.
/// Together, the outputs of these runs must equal the outputs of the base run.
template <class Op, Arrangements (*arrange)(const Problem&)>
Experiment<Op> arranged(const Trial<Op>& base) {
  std::vector<Piece<Op>> pieces;
  for (auto& [problem, origins] : arrange(base.problem))
    pieces.push_back({std::move(problem), std::move(origins)});
  return rearranging(base, std::move(pieces));
}

/// Adds tokens that no window covers at the end of each sequence. The tokens are not zero, but
/// their gradients must be zero.
template <class Op>
Experiment<Op> longer_tails(const Trial<Op>& base) {
  const Arrangements tails = with_longer_tails(base.problem);
  return {.base = base,
          .variants = {RelationPartsOf<Op>::rearranged(base, tails[0].problem, tails[0].origins)},
          .combine = adding<Op>(base.problem, {{tails[1].problem, tails[1].origins}})};
}

/// Runs the kernel separately on the first 16 channels and on the other channels. The sum of the
/// weight outputs of both runs must equal the output of the base run.
template <class Op>
Experiment<Op> separate_channels(const Trial<Op>& base) {
  constexpr std::int64_t head = 16;
  const std::int64_t dim = base.problem.head_dim;
  Experiment<Op> experiment{.base = base, .variants = {base, base}, .combine = {}};
  const std::pair<std::int64_t, std::int64_t> parts[] = {{0, head}, {head, dim - head}};
  for (std::size_t k = 0; k < 2; ++k) {
    Trial<Op>& part = experiment.variants[k];
    part.problem.head_dim = parts[k].second;
    for (const auto& input : Traits<Op>::inputs)
      if (auto& values = part.rows.*input.values; input.kind != RowKind::weight)
        values = channels(values, dim, parts[k].first, parts[k].second);
  }
  experiment.combine = [dim](const std::vector<OutputValues>& outputs) {
    OutputValues all;
    for (const auto& [name, kind] : Traits<Op>::outputs) {
      const auto &a = outputs[0].find(name)->second, &b = outputs[1].find(name)->second;
      all[std::string(name)] =
          kind == RowKind::weight ? plus(a, b) : joined(a, head, b, dim - head);
    }
    return all;
  };
  return experiment;
}

/// Relations (statements about several runs) between a call and changed calls. The changed calls
/// reorder parts of the call, omit parts, or run a part alone.
template <class Op>
std::span<const Relation<Op>> rearranging_relations() {
  using enum Agreement;
  static constexpr std::string_view sequences = "at least two sequences", everything = "everything",
                                    heads = "at least two heads";
  static constexpr Sentences say = Traits<Op>::sentences;
  static constexpr Relation<Op> relations[] = {
      {"sequences_alone", say.sequences_alone, bound, has_sequences, sequences,
       arranged<Op, each_sequence>},
      {"permute_sequences", say.permute_sequences, bound, has_sequences, sequences,
       arranged<Op, reversed_sequences>},
      {"drop_short", "Sequences that are too short for a window change nothing.", bound,
       has_short_sequences, "a sequence without windows", arranged<Op, without_short_sequences>},
      {"leading_empty",
       "An empty first sequence (a leading 0 in the cumulative lengths) changes nothing.", bound,
       is_anything, everything, arranged<Op, with_empty_first>},
      {"repeated_sums",
       "An empty sequence after each sequence (each cumulative length twice) changes nothing.",
       bound, is_anything, everything, arranged<Op, with_empty_between>},
      {"permute_heads", say.permute_heads, bits, has_heads, heads, arranged<Op, rotated_heads>},
      {"heads_alone", say.heads_alone, bound, has_heads, heads, arranged<Op, each_head>},
      {"channels_alone", say.channels_alone, bound, has_two_tiles, "a head_dim of at least 32",
       separate_channels<Op>},
      {"append_tail", "Tokens after the last window change nothing.", bound, has_spare_tail,
       "a sequence whose number of windows stays the same if one token is added", longer_tails<Op>},
      {"shift_by_stride", say.shift_by_stride, bound, is_anything, everything,
       arranged<Op, shifted_by_stride>}};
  return relations;
}

template <class Op>
std::vector<const Relation<Op>*> RelationPartsOf<Op>::relations() {
  return relation_list<Op>({Traits<Op>::own_relations(), rearranging_relations<Op>()});
}

}  // namespace assay::conformance::compression

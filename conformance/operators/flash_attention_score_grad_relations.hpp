#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "operators/flash_attention_score_grad_trial.hpp"

/// Relations between the outputs of several runs of one kernel that every correct kernel fulfils: no reference value takes
/// part.
namespace assay::conformance::flash {

/// How closely the runs agree. bits: for kernels that promise a fixed order, every bit; bound: within the sum of the runs'
/// tolerances, like `bits` for kernels that promise no order.
enum class Agreement : std::uint8_t { bits, bound };

/// The outputs of `base` are predicted from those of the variants. `combine` adds and moves elements, times numbers that
/// are not negative: it combines tolerances as well as values.
struct Experiment {
  Trial base;
  std::vector<Trial> variants;
  std::function<Gradients(const std::vector<Gradients>&)> combine;
};

/// The experiment that one variant has the very gradients of `base`.
inline Experiment unchanged(Trial base, Trial variant) {
  return {.base = std::move(base), .variants = {std::move(variant)},
          .combine = [](const std::vector<Gradients>& outputs) { return outputs[0]; }};
}

/// A problem whose rows are rows of another one.
struct Piece {
  Op::Problem problem;
  Origin query, key;
};

/// The experiment that the gradients of `base` are those of its pieces, added where pieces share a row.
Experiment rearranging(const Trial& base, std::vector<Piece> pieces);

struct Relation {
  std::string_view name, sentence;
  Agreement agreement;
  /// Whether it holds for the problem, and how the domain reads.
  bool (*applies)(const Op::Problem&);
  std::string_view domain;
  /// Problems of its domain, small enough to judge every row.
  std::vector<Op::Problem> (*problems)();
  Experiment (*prepare)(const Trial& base);
};

/// Of which rows and keys may change places, and what may be split.
std::span<const Relation> rearranging_relations();
/// Of factors, sums and shifts of the numbers.
std::span<const Relation> arithmetic_relations();
/// Of two ways to say the same: masks, biases, dropout, channels, layouts, sequences.
std::span<const Relation> spelling_relations();

/// All of them. Errors of `relation`: std::invalid_argument naming those there are.
std::vector<const Relation*> relations();
const Relation& relation(std::string_view name);

/// One case for every relation and problem of its domain, and those of the cascade.
std::vector<FlashCase> relation_cases(std::uint64_t seed);

/// How far two runs may lie from each other, element by element. tau: with high probability; tau_det: without doubt.
struct Tolerances {
  Gradients tau, tau_det;
  bool consistent = true;  ///< whether the profile may be judged on the data of every run
};

/// The tolerance of the base and of what the variants predict, added.
Tolerances tolerances(const Experiment& experiment, const spec::NumericsProfile& profile);

/// The runs of one case, and what kernels may make of them. Made once, it judges any number of kernels.
/// Errors: std::invalid_argument for an unknown relation.
class RelationExamination {
 public:
  explicit RelationExamination(FlashCase c);

  /// Runs the kernel and compares. The report tells the largest difference as a share of the tolerance.
  CaseReport examine(spec::Implementation<Op>& kernel);

 private:
  const Tolerances& allowed(const spec::NumericsProfile& profile);
  Verdict judge_once(spec::Implementation<Op>& kernel, CaseReport& report);

  FlashCase examined_;
  const Relation* relation_;
  std::optional<Experiment> experiment_;  ///< nothing where the relation does not hold
  std::vector<Op::Inputs> inputs_;         ///< of the base and of the variants
  std::list<std::pair<spec::NumericsProfile, Tolerances>> allowed_;
};

}  // namespace assay::conformance::flash

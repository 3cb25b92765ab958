#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
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

struct Relation {
  std::string_view name, sentence;
  Agreement agreement;
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

/// Runs the experiment of the case and compares. The report tells the largest difference as a share of the tolerance.
CaseReport examine_relation(const FlashCase& c, spec::Implementation<Op>& kernel);

}  // namespace assay::conformance::flash

#pragma once

#include <cstddef>

/// All constants of the search for causes, with the experiments that support them. The search
/// prefers the rules that encode the failing cases with the fewest bits (minimum description
/// length). `Public faults`: sweeps of the injected faults of that name
/// (tests/mutants/public_faults.py), 24 sweeps of 75 s and five parts of each. `Toys`: small
/// reports that tests/conformance/report constructs.
namespace assay::conformance::limits {

// Learning rules.

/// Conditions are learnt from at most this number of failing cases, and from at most the same
/// number of other cases. This limits the time: a full sweep has 2,300 cases that are judged
/// numerically.
inline constexpr std::size_t most_learnt = 2500;
/// Largest number of terms of a rule. No public fault needs more than three.
inline constexpr std::size_t most_terms = 3;
/// `beam`: number of rules that are kept for extension, separately for each of two scores.
/// `most_of_fields`: number of these rules that may compare the same fields. Public faults: the
/// first causes are the same with a beam of 5 or 12, and without the second limit.
inline constexpr std::size_t beam = 8;
inline constexpr int most_of_fields = 2;
/// A term must save at least this fraction of the bits that are needed without a rule. Public
/// faults: with 0.05, four rules get an unnecessary term (`seq_q>=1`, `batch<65`), which excludes a
/// few cases in which the fault has no effect.
inline constexpr double least_saving = 0.08;
/// Largest number of rules for one output.
inline constexpr std::size_t most_groups = 6;

// The next constants select the rules that are kept if some failing cases have no rule.

/// A rule is a cause if its cases fail at least `least_contrast` times as often as cases without a
/// rule, or if at least the fraction `sure` of its cases fails. Toys: if one rule fails and 30 to
/// 50 % of the other cases fail at random, only that rule is kept. Public faults: at most 1 % of
/// the cases without a rule fail.
inline constexpr double least_contrast = 5, sure = 0.95;
/// A rule is certain only if at least this number of its cases fail. With fewer, the failures may
/// be chance.
inline constexpr std::size_t many_cases = 8;
/// The search is repeated at most this often. Each time it leaves out the conditions that a shrunk
/// case does not satisfy although it fails.
inline constexpr int most_refuted = 8;

// The next constants control how groups are joined into causes.

/// Two groups are one cause if they share at least this fraction of all their cases.
inline constexpr double alike = 0.6;
/// Two causes may be one bug if at least this fraction of the cases of the smaller one also belongs
/// to the larger one. Example from the public faults: few cases have gradients of rope. In all of
/// them these gradients fail together with the other gradients.
inline constexpr double nested = 0.8;
/// A rule and another cause are different bugs if the rule selects less than this fraction of the
/// other cause's cases. Toys, and a kernel with two bugs (dk is not scaled; sparse mode 3 has a
/// wrong edge): the rule selects 11 of 53 cases. For comparison: an output that one bug affects
/// only weakly still failed in more than half of the cases.
inline constexpr double minor = 0.5;
/// Factors are equal if they differ by at most this fraction. Toys in numpy with two bugs: a factor
/// of 2 is measured as 1.998 to 2.003.
inline constexpr double same_factor = 0.02;

// Describing a cause.

/// The stage of a cause must affect the failing outputs in at least this fraction of its cases.
/// A kernel that accepts at least this fraction of the forbidden calls is said to refuse nothing.
inline constexpr double nearly_all = 0.95;
/// A quantity explains the ratios output / expected value if it equals them in at least this
/// fraction of the cases. The fraction is below 1, because rounding changes the ratio in cases with
/// few elements.
inline constexpr double nearly_all_factors = 0.9;
/// A deviation is common to a cause if at least this fraction of its cases shows it.
inline constexpr double most_cases = 0.75;

// Which conditions exist.

/// A field with more values than this is not treated as a choice.
inline constexpr std::size_t most_values = 24;
/// Terms such as field!=value are tried only for fields with at most this number of values. Most of
/// these fields are types.
inline constexpr std::size_t few_values = 3;
/// Largest number of values in a joined term such as "sparse_mode=2|3". Public faults join three.
inline constexpr std::size_t most_joined = 4;
/// Largest number of limits that are tried for a numeric field.
inline constexpr std::size_t most_limits = 128;
/// If all values of a numeric field are below this limit, the field is treated as a choice, not as
/// a size.
inline constexpr double least_large_size = 16;
/// Cost of a complex term (bits), in addition to the cost of selecting it. A term with one field
/// costs nothing extra. Public faults: if digits cost nothing, dropout is described as
/// `keep_prob<0.9999999403953552`.
inline constexpr double bits_of_relation = 1, bits_of_multiple = 6, bits_of_rest = 2,
                        bits_of_digit = 1;
/// The first digits of a number in a term add nothing to its cost; each further one adds
/// bits_of_digit.
inline constexpr int free_digits = 2;

}  // namespace assay::conformance::limits

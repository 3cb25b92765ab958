#pragma once

#include <cstddef>

/// All constants of the search for causes (rules that explain which cases fail), with the
/// experiments that support them. The search prefers rules that encode the failing cases with the
/// fewest bits (minimum description length). In the comments, "known bugs of public kernels" means
/// experiments with injected faults that users had reported for such kernels
/// (tests/mutants/public_faults.py): 24 sweeps of 75 s each, and five subsets of the cases of each
/// sweep. "Small artificial reports" are those of tests/conformance/report.
namespace assay::conformance::limits {

// Learning rules.

/// Rules are learnt from at most this number of failing cases, and from at most the same number of
/// other cases. This limits the time: a full sweep has 2,300 numerically judged cases.
inline constexpr std::size_t most_learnt = 2500;
/// Largest number of terms (conditions) of a rule that explains failures. The known bugs of public
/// kernels need at most three.
inline constexpr std::size_t most_terms = 3;
/// The beam search extends a few rules (sets of conditions that explain failures) at a time.
/// `beam`: the number of rules that it keeps, separately for each of two scores. `most_of_fields`:
/// how many of these rules may compare the same fields. In experiments with known bugs of public
/// kernels, the first causes are the same with a beam of 5 or 12, and without the second limit.
inline constexpr std::size_t beam = 8;
inline constexpr int most_of_fields = 2;
/// A further condition must save at least this fraction of the bits that encode the failures
/// without any condition. In experiments with known bugs, a fraction of 0.05 gave four rules an
/// unnecessary condition (`seq_q>=1`, `batch<65`), which excludes a few cases in which the bug has
/// no effect.
inline constexpr double least_saving = 0.08;
/// Largest number of rules (sets of conditions) that explain the failures of one output.
inline constexpr std::size_t most_groups = 6;

// Some failing cases may remain without a rule (a set of conditions that explains them). The
// constants below decide which rules are kept.

/// A rule (set of conditions) explains failures in one of two situations. Its cases fail at least
/// `least_contrast` times as often as cases that no rule selects; or at least the fraction `sure`
/// of its cases fails. Test: in small artificial reports the cases of one rule fail, and 30 to 50 %
/// of the other cases fail at random; only this rule is kept. With known bugs of public kernels, at
/// most 1 % of the cases without a rule fail.
inline constexpr double least_contrast = 5, sure = 0.95;
/// A rule (set of conditions that explains failures) is certain only if at least this number of its
/// cases fail. Fewer failures may be chance.
inline constexpr std::size_t many_cases = 8;
/// The search for causes is repeated at most this number of times. If a reduced case still fails
/// but does not satisfy a condition, the next repetition leaves out this condition.
inline constexpr int most_refuted = 8;

// The constants below decide which groups of failing cases have the same cause.

/// Two groups of failing cases have one cause if at least this fraction of the cases in either
/// group is in both groups.
inline constexpr double alike = 0.6;
/// Two causes may be one bug if at least this fraction of the cases of the smaller cause also
/// belongs to the larger one. Example: few cases have a rope. If the gradients of rope fail in
/// them, the other gradients fail in the same cases.
inline constexpr double nested = 0.8;
/// A rule (set of conditions) and another cause are different bugs if the rule selects less than
/// this fraction of the other cause's cases. Example: in a kernel with two bugs (dk is not scaled;
/// sparse mode 3 has a wrong edge), the rule selects 11 of 53 cases. With one bug, even an output
/// on which the bug has little effect failed in more than half of the cases.
inline constexpr double minor = 0.5;
/// Two factors (output / expected value) count as equal if they differ by at most this fraction. In
/// small numpy kernels with two bugs, a factor of 2 is measured as 1.998 to 2.003.
inline constexpr double same_factor = 0.02;

// Describing a cause.

/// A cause names a stage (step of the computation) only if this stage affects the failing outputs
/// in at least this fraction of the cases. Another use: if a kernel accepts at least this fraction
/// of the forbidden calls, the report says that it refuses nothing.
inline constexpr double nearly_all = 0.95;
/// A quantity explains the ratios of output to expected value if it equals the ratio in at least
/// this fraction of the cases. The fraction is below 1, because rounding changes the ratio in cases
/// with few elements.
inline constexpr double nearly_all_factors = 0.9;
/// The description of a cause mentions a deviation (such as "all zeros") if it occurs in at least
/// this fraction of the cases.
inline constexpr double most_cases = 0.75;

// Which conditions exist.

/// If a field has more different values than this, the search does not treat it as a choice between
/// a few names.
inline constexpr std::size_t most_values = 24;
/// Conditions such as field!=value are tried only for fields with at most this number of different
/// values. Most of these fields are element types.
inline constexpr std::size_t few_values = 3;
/// Largest number of values in a joined condition such as "sparse_mode=2|3". Known bugs of public
/// kernels need three.
inline constexpr std::size_t most_joined = 4;
/// Largest number of limits that are tried for a numeric field.
inline constexpr std::size_t most_limits = 128;
/// If all values of a numeric field are below this limit, the search treats the field as a choice
/// between a few values, not as a size.
inline constexpr double least_large_size = 16;
/// Additional cost (bits) of a complex condition; a condition on one field costs nothing extra. If
/// digits cost nothing, the search describes a known dropout bug as `keep_prob<0.9999999403953552`.
inline constexpr double bits_of_relation = 1, bits_of_multiple = 6, bits_of_rest = 2,
                        bits_of_digit = 1;
/// The first digits of a number in a condition cost nothing. Each further digit costs
/// bits_of_digit.
inline constexpr int free_digits = 2;

}  // namespace assay::conformance::limits

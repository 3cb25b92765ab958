#pragma once

#include <cstddef>

/// Every constant of the causes, with the experiment that it rests on. `Public faults` are sweeps
/// of the planted bugs named so (tests/mutants/public_faults.py): 24 of 75 s, and five parts of
/// each. `Toys` are the reports that tests/conformance/report makes up.
namespace assay::conformance::limits {

// How rules are learnt.

/// Conditions are learnt from at most so many failing cases and as many others, which bounds the
/// time: a full sweep has 2,300 value cases.
inline constexpr std::size_t most_learnt = 2500;
/// Terms of a rule. No public fault needs more than three.
inline constexpr std::size_t most_terms = 3;
/// Rules that are grown at once by each of two measures, and of these how many may ask about the
/// same fields. Public faults: with 5 and with 12 rules, and without the second limit, the first
/// causes are the same.
inline constexpr std::size_t beam = 8;
inline constexpr int most_of_fields = 2;
/// Share of the bits without a rule that a term has to save. Public faults: with 0.05 four rules
/// get a term for a corner in which the fault does not show (`seq_q>=1`, `batch<65`).
inline constexpr double least_saving = 0.08;
/// Rules of one output.
inline constexpr std::size_t most_groups = 6;

// Which rules are kept where failing cases are left over.

/// A rule is a cause if its cases fail so many times as often as those without a rule, or if so
/// large a share of them fails. Toys: where 30 to 50 % fail by lot beside one rule, that rule alone
/// is kept. Public faults: at most one of a hundred cases without a rule fails.
inline constexpr double least_contrast = 5, sure = 0.95;
/// So many cases that meet a sure rule are not explained by chance.
inline constexpr std::size_t many_cases = 8;
/// How often conditions that a neighbour refutes are left out.
inline constexpr int most_refuted = 8;

// Which groups are one cause.

/// Groups with so large a share of their cases in common are one cause.
inline constexpr double alike = 0.6;
/// A cause with so large a share of its cases in another one may be of the same bug. Public faults:
/// gradients of rope, which few cases have, fail with the others in all of them.
inline constexpr double nested = 0.8;
/// A rule with less than this share of the cases of a cause without a rule is of another bug. Toys
/// and a kernel with two bugs (no scale in dk, a wrong edge of mode 3): 11 of 53 cases; an output
/// that one bug moves less failed in more than half.
inline constexpr double minor = 0.5;

// What is said of a cause.

/// The outputs that fail in so large a share of a cause's cases say in which stage it is. The same
/// share of the forbidden calls, if they are accepted, is all of them.
inline constexpr double nearly_all = 0.95;
/// The same of factors, which rounding moves in cases of few elements.
inline constexpr double nearly_all_factors = 0.9;
/// An output relates to the expected value in one way where it does in so large a share of cases.
inline constexpr double most_cases = 0.75;

// Which conditions there are.

/// A field with more values is not a choice.
inline constexpr std::size_t most_values = 24;
/// Of fields with at most so many values, types above all, a term may exclude one.
inline constexpr std::size_t few_values = 3;
/// Values that a term joins: "sparse_mode=2|3". Public faults join three.
inline constexpr std::size_t most_joined = 4;
/// Limits of a field of numbers that are tried.
inline constexpr std::size_t most_limits = 128;
/// A field without any number from here on is a choice of few.
inline constexpr double least_large_size = 16;
/// Bits that a term costs beyond its choice, by how plain it is: a field costs nothing. Public
/// faults: without those of digits dropout is called `keep_prob<0.9999999403953552`.
inline constexpr double bits_of_relation = 1, bits_of_multiple = 6, bits_of_rest = 2,
                        bits_of_digit = 1;
/// Digits of a limit that cost nothing.
inline constexpr int free_digits = 2;

}  // namespace assay::conformance::limits

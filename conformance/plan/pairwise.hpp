#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// A choice: one value index per factor (varied property); `undecided` if no value is chosen yet.
using Choice = std::vector<std::size_t>;
inline constexpr std::size_t undecided = ~std::size_t{0};

/// Reasons to exclude a combination of values, least important first. fruitless: no output would be
/// judged. costly: the cost is too high. forbidden: a requirement of the documentation forbids it.
/// senseless: it makes no sense.
enum class Why : std::uint8_t { fruitless, costly, forbidden, senseless };

/// A reason for an exclusion. Its text is a sentence or, for `forbidden`, the id of the
/// requirement.
struct Reason {
  Why why;
  std::string_view text;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// Excluded combinations of the values of a few factors (varied properties), and the reason.
struct Exclusion {
  Reason reason;
  std::vector<std::size_t> factors;             ///< the factors concerned, ascending
  std::function<bool(const Choice&)> excludes;  ///< called with all of them decided
};

/// At most 64 factors (varied properties) with at most 63 values each, and the excluded
/// combinations of values. The constructor evaluates every exclusion for each combination. Errors:
/// std::logic_error for an exclusion with unknown or unordered factors, for too many factors or
/// values, and for a factor without values.
class ChoiceSpace {
 public:
  ChoiceSpace(std::vector<std::size_t> sizes, const std::vector<Exclusion>& exclusions);
  /// Creates a copy of the space `base` with additional exclusions.
  ChoiceSpace(const ChoiceSpace& base, const std::vector<Exclusion>& more);
  ~ChoiceSpace();
  ChoiceSpace(ChoiceSpace&&) noexcept;
  ChoiceSpace& operator=(ChoiceSpace&&) noexcept;

  /// Returns a copy of the space without the exclusions for which is_spared(reason) is true.
  ChoiceSpace without(const std::function<bool(const Reason&)>& is_spared) const;

  std::span<const std::size_t> sizes() const;
  /// Returns a choice (one value for each factor) in which all factors are undecided.
  Choice open_choice() const { return Choice(sizes().size(), undecided); }
  /// Returns whether the decided values of `choice` are allowed (no exclusion forbids them).
  bool admits(const Choice& choice) const;
  /// Returns whether an allowed complete choice (one value for each factor) with the decided values
  /// of `choice` exists.
  bool feasible(const Choice& choice) const;
  /// Returns a minimal set of reasons why no complete choice with the decided values of `choice` is
  /// allowed. If several such sets exist, prefers important reasons. Empty if such a choice exists.

  std::vector<Reason> blamed(const Choice& choice) const;

  /// A function that sorts all values of a factor by preference, given the values that are already
  /// decided.
  using Preference =
      std::function<void(const Choice&, std::size_t factor, std::span<std::size_t> values)>;
  /// Decides the remaining factors (varied properties) in a random order, each with the most
  /// preferred value that is possible. Returns false if there is no complete choice. Errors:
  /// std::logic_error if the search exceeds its step limit.
  bool complete(Choice& choice, std::uint64_t lot, const Preference& prefer) const;

 private:
  struct Tables;
  explicit ChoiceSpace(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

/// Describes which pairs of values a list of choices must contain, and how a choice is rated.
struct CoverGoal {
  std::size_t factors = ~std::size_t{0};           ///< cover pairs of the first `factors` factors
  Choice fixed = {};                               ///< values that every choice has; empty: none
  std::span<const Choice> known = {};              ///< existing choices, complete or not
  std::function<double(const Choice&)> cost = {};  ///< of a complete choice; empty: all equal
};

/// Returns a pairwise cover: complete choices that together contain every possible pair of values
/// of two factors. The algorithm is greedy and deterministic; `seed` selects among equally good
/// values.
std::vector<Choice> pairwise_cover(const ChoiceSpace& space, std::uint64_t seed,
                                   const CoverGoal& goal = {});

/// Returns a complete choice (one value for each factor) with the decided values of `choice` and
/// random other values; nothing if there is no such choice.
std::optional<Choice> random_completion(const ChoiceSpace& space, Choice choice,
                                        std::uint64_t seed);

/// Returns a random complete choice (one value for each factor) without excluded combinations.
/// Errors: std::logic_error if there is none.
Choice random_choice(const ChoiceSpace& space, std::uint64_t seed);

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::Why> = Spellings<conformance::Why, 4>{{{
    {conformance::Why::fruitless, "fruitless"},
    {conformance::Why::costly, "costly"},
    {conformance::Why::forbidden, "forbidden"},
    {conformance::Why::senseless, "senseless"},
}}};

}  // namespace assay::spec

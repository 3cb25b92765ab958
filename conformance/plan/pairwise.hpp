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

/// One value index per factor; `undecided` where none is chosen yet.
using Choice = std::vector<std::size_t>;
inline constexpr std::size_t undecided = ~std::size_t{0};

/// Why values do not go together, the least weighty first. fruitless: they leave no gradient to
/// judge; costly: they cost too much; forbidden: a requirement of the documents says so; senseless:
/// together they mean nothing.
enum class Why : std::uint8_t { fruitless, costly, forbidden, senseless };

/// Why, and the sentence that says so; of what is forbidden the id of the requirement.
struct Reason {
  Why why;
  std::string_view text;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// Values of a few factors that do not go together, and why.
struct Exclusion {
  Reason reason;
  std::vector<std::size_t> factors;             ///< ascending: those of which it speaks
  std::function<bool(const Choice&)> excludes;  ///< asked when all of them are decided
};

/// At most 64 factors with at most 63 values each, and what excludes what. Made once: every
/// exclusion is asked for each combination of its factors' values. Errors: std::logic_error for an
/// exclusion of unknown or unordered factors, for more factors or values, and for a factor of none.
class ChoiceSpace {
 public:
  ChoiceSpace(std::vector<std::size_t> sizes, const std::vector<Exclusion>& exclusions);
  /// What `base` admits and these exclusions do, too.
  ChoiceSpace(const ChoiceSpace& base, const std::vector<Exclusion>& more);
  ~ChoiceSpace();
  ChoiceSpace(ChoiceSpace&&) noexcept;
  ChoiceSpace& operator=(ChoiceSpace&&) noexcept;

  /// The space without the exclusions whose reasons are spared.
  ChoiceSpace without(const std::function<bool(const Reason&)>& is_spared) const;

  std::span<const std::size_t> sizes() const;
  /// A choice with everything open.
  Choice open_choice() const { return Choice(sizes().size(), undecided); }
  /// Whether what `choice` has decided violates no exclusion by itself.
  bool admits(const Choice& choice) const;
  /// Whether some complete choice agrees with what `choice` has decided.
  bool feasible(const Choice& choice) const;
  /// Returns the reasons whose exclusions together make `choice` infeasible, none of which can be
  /// spared, and of several such sets one of weight; nothing where it is feasible.
  std::vector<Reason> blamed(const Choice& choice) const;

  /// Order of preference of the values of a factor, given what is decided; all of them.
  using Preference =
      std::function<void(const Choice&, std::size_t factor, std::span<std::size_t> values)>;
  /// Decides the open factors in an order by lot, values as preferred; false if that cannot be
  /// done.
  /// Errors: std::logic_error if the search does not come to an end.
  bool complete(Choice& choice, std::uint64_t lot, const Preference& prefer) const;

 private:
  struct Tables;
  explicit ChoiceSpace(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

/// What a pairwise cover is to hold.
struct CoverGoal {
  std::size_t factors = ~std::size_t{0};  ///< pairs of the first so many factors; by default of all
  Choice fixed = {};                      ///< what every choice holds; empty: nothing
  std::span<const Choice> known = {};     ///< choices, complete or not, that are made already
  std::function<double(const Choice&)> cost = {};  ///< of a complete choice; alike without
};

/// Complete choices in which every pair of values of two factors occurs that some complete choice
/// holds. Greedy and deterministic; `seed` decides between equally good values.
std::vector<Choice> pairwise_cover(const ChoiceSpace& space, std::uint64_t seed,
                                   const CoverGoal& goal = {});

/// A complete choice that agrees with what `choice` has decided, the rest by lot; nothing if there
/// is none.
std::optional<Choice> random_completion(const ChoiceSpace& space, Choice choice,
                                        std::uint64_t seed);

/// A complete choice, uniform but for what is excluded. Errors: std::logic_error if there is none.
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

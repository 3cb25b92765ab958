#include "plan/forbidden.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "assay/parallel/loop.hpp"

namespace assay::conformance {
namespace {

/// Requirement ids, in the order of the operator's table.
using Ids = std::vector<std::string_view>;

/// `representatives`: number of random sample calls. `enough`: number of further calls for a
/// combination of values that is rare among the samples. The combination is excluded if all of them
/// break the same requirement.
constexpr std::uint64_t representatives = 600, enough = 48;

/// All combinations of the values of a few factors (varied properties), numbered from 0.
struct Grid {
  std::vector<std::size_t> factors, sizes;

  std::size_t combinations() const {
    std::size_t count = 1;
    for (const std::size_t size : sizes) count *= size;
    return count;
  }
  /// Sets the factors to the values of combination number `at`.
  void decide(Choice& choice, std::size_t at) const {
    for (std::size_t k = 0; k < factors.size(); ++k) {
      choice[factors[k]] = at % sizes[k];
      at /= sizes[k];
    }
  }
  std::size_t combination_of(const Choice& choice) const {
    std::size_t at = 0;
    for (std::size_t k = factors.size(); k-- > 0;) at = at * sizes[k] + choice[factors[k]];
    return at;
  }
};

/// For each combination of factor values: the requirements that every sample call with these values
/// breaks.
struct Survey {
  Grid grid;
  std::vector<std::optional<Ids>> broken;  ///< nothing: no representative yet

  Survey(std::vector<std::size_t> factors, std::span<const std::size_t> of) : grid{factors, {}} {
    for (const std::size_t factor : factors) grid.sizes.push_back(of[factor]);
    broken.resize(grid.combinations());
  }

  /// Records that a sample call with combination `at` breaks the requirements `ids`.
  void take(std::size_t at, const Ids& ids) {
    if (!broken[at]) {
      broken[at] = ids;
      return;
    }
    std::erase_if(*broken[at],
                  [&](std::string_view id) { return std::ranges::find(ids, id) == ids.end(); });
  }
  /// Returns whether the combination is allowed: its sample calls do not all break the same
  /// requirement.
  bool is_free(std::size_t at) const { return broken[at] && broken[at]->empty(); }
};

/// Makes random calls with combination number `at` until one of them shows that the combination is
/// allowed, or until there are enough calls. Returns whether all calls break the same requirement.
bool is_broken(Survey& survey, std::size_t at, const ChoiceSpace& space, const Asking& ask) {
  Choice open = space.open_choice();
  survey.grid.decide(open, at);
  for (std::uint64_t lot = 1; lot <= enough && !survey.is_free(at); ++lot) {
    const auto choice = random_completion(space, open, representatives + lot);
    if (!choice) return false;
    const auto& among = survey.broken[at];  // other requirements no longer matter here
    survey.take(at, ask(*choice, representatives + lot, among ? *among : Ids()));
  }
  return !survey.is_free(at);
}

/// Returns exclusions of those combinations of values for which all sample calls in `space` break
/// the same requirement. Each requirement gets one exclusion.
std::vector<Exclusion> found_by(Survey& survey, const ChoiceSpace& space, const Asking& ask) {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < survey.broken.size(); ++at)
    if (!survey.is_free(at)) open.push_back(at);
  std::vector<char> broken(open.size());  // char: several threads write
  constexpr std::int64_t of_thread = 4;   // combinations for which a thread is worth its start
  parallel::for_each(
      std::ssize(open),
      [&](std::int64_t k) {
        const auto place = static_cast<std::size_t>(k);
        broken[place] = is_broken(survey, open[place], space, ask) ? 1 : 0;
      },
      std::clamp<std::int64_t>(std::ssize(open) / of_thread, 1, parallel::thread_count(0)));
  std::map<std::string_view, std::vector<bool>> found;
  for (std::size_t k = 0; k < open.size(); ++k) {
    if (broken[k] == 0) continue;
    const std::size_t at = open[k];
    auto& table = found[survey.broken[at]->front()];
    table.resize(survey.broken.size());
    table[at] = true;
  }
  std::vector<Exclusion> exclusions;
  for (auto& [id, table] : found)
    exclusions.push_back({{Why::forbidden, id},
                          survey.grid.factors,
                          [grid = survey.grid, table = std::move(table)](const Choice& choice) {
                            return table[grid.combination_of(choice)];
                          }});
  return exclusions;
}

/// Adds the exclusions that requirements cause. Each set in `together` lists factors (varied
/// properties) that are tested together. Sample calls for later sets avoid the exclusions that were
/// found earlier.
ChoiceSpace with_found(ChoiceSpace space, const std::vector<std::vector<std::size_t>>& together,
                       const Asking& ask) {
  std::vector<Survey> surveys;
  for (const auto& factors : together) surveys.emplace_back(factors, space.sizes());
  for (std::uint64_t lot = 1; lot <= representatives; ++lot) {
    const Choice choice = random_choice(space, lot);
    const Ids ids = ask(choice, lot, {});
    for (Survey& survey : surveys) survey.take(survey.grid.combination_of(choice), ids);
  }
  for (Survey& survey : surveys) {
    const auto found = found_by(survey, space, ask);
    if (!found.empty()) space = ChoiceSpace(space, found);
  }
  return space;
}

}  // namespace

ChoiceSpace with_forbidden(ChoiceSpace space, const std::vector<std::vector<std::size_t>>& together,
                           const Asking& ask) {
  std::vector<std::vector<std::size_t>> singles, pairs;
  for (std::size_t f = 0; f < space.sizes().size(); ++f) {
    singles.push_back({f});
    for (std::size_t g = f + 1; g < space.sizes().size(); ++g) pairs.push_back({f, g});
  }
  // All pairs are tested twice. In the first round, a call that breaks one requirement can hide
  // that the pair also breaks another one.
  for (const auto& factors : {singles, pairs, pairs, together})
    space = with_found(std::move(space), factors, ask);
  return space;
}

}  // namespace assay::conformance

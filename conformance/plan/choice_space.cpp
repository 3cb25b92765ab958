#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/static_vector.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "assay/conformance/inputs/random.hpp"
#include "plan/pairwise.hpp"

namespace assay::conformance {
namespace {

/// The set of values that a factor (varied property) can still take, one bit per value. The search
/// copies the sets of all factors at every step, so they are on the stack.
using Domain = std::uint64_t;
constexpr std::size_t most_factors = 64, most_values = 63;
using Domains = boost::container::static_vector<Domain, most_factors>;
/// The factors (varied properties) that have exactly one possible value left. Each factor occurs
/// once.
using Settled = boost::container::static_vector<std::size_t, most_factors>;

constexpr Domain bit(std::size_t value) { return Domain{1} << value; }
// This test is faster than std::has_single_bit on machines without a popcount instruction. The
// function is called millions of times.
constexpr bool is_single(Domain domain) { return domain != 0 && (domain & (domain - 1)) == 0; }
std::size_t only(Domain domain) { return static_cast<std::size_t>(std::countr_zero(domain)); }

/// A table that says for every combination of values of some factors whether it is excluded.
struct Table {
  std::size_t reason;  ///< index into the reasons of the space
  std::vector<std::size_t> factors, strides;
  std::vector<bool> excluded;
};

Table table_of(const Exclusion& exclusion, std::span<const std::size_t> sizes) {
  Table table{.reason = 0, .factors = exclusion.factors, .strides = {}, .excluded = {}};
  std::size_t count = 1;
  for (const std::size_t factor : table.factors) {
    table.strides.push_back(count);
    count *= sizes[factor];
  }
  table.excluded.resize(count);
  Choice choice(sizes.size(), undecided);
  for (std::size_t at = 0; at < count; ++at) {
    for (std::size_t k = 0; k < table.factors.size(); ++k)
      choice[table.factors[k]] = at / table.strides[k] % sizes[table.factors[k]];
    table.excluded[at] = exclusion.excludes(choice);
  }
  return table;
}

}  // namespace

struct ChoiceSpace::Tables {
  std::vector<std::size_t> sizes;
  std::vector<Reason> reasons;
  std::vector<Table> tables;
  std::vector<std::vector<std::size_t>> of_factor;  ///< indices of the tables that contain a factor

  explicit Tables(std::vector<std::size_t> of) : sizes(std::move(of)), of_factor(sizes.size()) {
    if (sizes.size() > most_factors || std::ranges::any_of(sizes, [](std::size_t size) {
          return size == 0 || size > most_values;
        }))
      throw std::logic_error(
          "ChoiceSpace: a factor without values or with more than 63, or more than 64 factors");
  }
  Tables(std::vector<std::size_t> of, const std::vector<Exclusion>& exclusions)
      : Tables(std::move(of)) {
    for (const Exclusion& exclusion : exclusions) add(exclusion);
  }

  void add(const Exclusion& exclusion) {
    const auto& factors = exclusion.factors;
    if (factors.empty() || !std::ranges::is_sorted(factors) || factors.back() >= sizes.size())
      throw std::logic_error("exclusion " + std::string(exclusion.reason.text) +
                             ": expected at least one factor, in ascending order, each below the "
                             "number of factors");
    add(table_of(exclusion, sizes), exclusion.reason);
  }

  void add(Table table, const Reason& reason) {
    const auto known = std::ranges::find(reasons, reason);
    table.reason = static_cast<std::size_t>(known - reasons.begin());
    if (known == reasons.end()) reasons.push_back(reason);
    for (const std::size_t factor : table.factors) of_factor[factor].push_back(tables.size());
    tables.push_back(std::move(table));
  }

  Domains domains_of(const Choice& choice) const {
    Domains domains(sizes.size());
    for (std::size_t f = 0; f < sizes.size(); ++f)
      domains[f] = choice[f] == undecided ? bit(sizes[f]) - 1 : bit(choice[f]);
    return domains;
  }

  /// Removes values that exclusion tables forbid. Starts with the tables that contain a factor
  /// (varied property) in `pending`. If a factor then has only one possible value left, also
  /// applies the tables that contain this factor. Ignores tables with a reason in `spared`. Returns
  /// the table that leaves no value for a factor; nothing if there is none.
  std::optional<std::size_t> propagate(Domains& domains, Settled pending,
                                       const std::set<std::size_t>& spared) const {
    while (!pending.empty()) {
      const std::size_t factor = pending.back();
      pending.pop_back();
      for (const std::size_t index : of_factor[factor]) {
        const Table& table = tables[index];
        if (!spared.empty() && spared.contains(table.reason)) continue;
        if (!apply(table, domains, pending)) return index;
      }
    }
    return std::nullopt;
  }

  /// Applies an exclusion table. If exactly one factor (varied property) of the table is undecided,
  /// removes its excluded values. Returns false if no value is left.
  static bool apply(const Table& table, Domains& domains, Settled& pending) {
    const std::size_t none = table.factors.size();
    std::size_t open = none, at = 0;
    for (std::size_t k = 0; k < table.factors.size(); ++k) {
      const Domain domain = domains[table.factors[k]];
      if (is_single(domain)) {
        at += table.strides[k] * only(domain);
      } else {
        if (open != none) return true;
        open = k;
      }
    }
    if (open == none) return !table.excluded[at];
    Domain& domain = domains[table.factors[open]];
    for (Domain rest = domain; rest != 0; rest &= rest - 1)
      if (table.excluded[at + table.strides[open] * only(rest)]) domain &= ~bit(only(rest));
    if (is_single(domain)) pending.push_back(table.factors[open]);
    return domain != 0;
  }

  static Settled settled(const Domains& domains) {
    Settled factors;
    for (std::size_t f = 0; f < domains.size(); ++f)
      if (is_single(domains[f])) factors.push_back(f);
    return factors;
  }

  /// A backtracking search for a value of every factor (varied property). It first decides the
  /// factors that caused most failures. It restarts several times, each time with a higher limit of
  /// steps.
  struct Search {
    const Tables& tables;
    const std::set<std::size_t>& spared;
    const Preference* prefer;
    std::vector<std::uint64_t> lots;  ///< random number of each factor
    std::vector<std::size_t> failures = std::vector<std::size_t>(tables.sizes.size());
    Choice decided = Choice(tables.sizes.size(), undecided);
    std::int64_t steps_left = 0;

    enum class Outcome { found, none, gave_up };

    bool run(Domains& domains) {
      constexpr std::int64_t first_steps = 100, most_steps = 1'000'000;
      for (std::int64_t steps = first_steps; steps < most_steps; steps *= 2) {
        Domains tried = domains;
        steps_left = steps;
        const Outcome outcome = descend(tried);
        if (outcome == Outcome::found) domains = std::move(tried);
        if (outcome != Outcome::gave_up) return outcome == Outcome::found;
      }
      throw std::logic_error("ChoiceSpace: the search does not end");
    }

    Outcome descend(Domains& domains) {
      const std::size_t factor = next(domains);
      if (factor == tables.sizes.size()) return Outcome::found;
      std::array<std::size_t, most_values> values;
      for (const std::size_t value : preferred(domains, factor, values)) {
        if (--steps_left < 0) return Outcome::gave_up;
        Domains tried = domains;
        tried[factor] = bit(value);
        if (const auto failed = tables.propagate(tried, Settled{factor}, spared)) {
          for (const std::size_t one : tables.tables[*failed].factors) ++failures[one];
          continue;
        }
        const Outcome outcome = descend(tried);
        if (outcome == Outcome::found) domains = std::move(tried);
        if (outcome != Outcome::none) return outcome;
      }
      return Outcome::none;
    }

    /// Returns the undecided factor (varied property) that caused most failures of the search.
    /// Among equal factors, prefers one for which values are already excluded; otherwise chooses at
    /// random.
    std::size_t next(const Domains& domains) const {
      std::size_t best = tables.sizes.size();
      std::tuple<std::size_t, bool, std::uint64_t> highest;
      for (std::size_t f = 0; f < domains.size(); ++f) {
        if (is_single(domains[f])) continue;
        const bool narrowed = domains[f] != bit(tables.sizes[f]) - 1;
        const std::tuple rank(failures[f], narrowed, lots[f]);
        if (best == tables.sizes.size() || rank > highest) highest = rank, best = f;
      }
      return best;
    }

    /// Writes the remaining values of the factor (varied property) to `values`, in the order in
    /// which the search tries them.
    std::span<const std::size_t> preferred(const Domains& domains, std::size_t factor,
                                           std::array<std::size_t, most_values>& values) {
      std::size_t count = 0;
      for (Domain rest = domains[factor]; rest != 0; rest &= rest - 1) values[count++] = only(rest);
      const std::span open(values.data(), count);
      if (prefer == nullptr) return open;
      for (std::size_t f = 0; f < domains.size(); ++f)
        decided[f] = is_single(domains[f]) ? only(domains[f]) : undecided;
      (*prefer)(decided, factor, open);
      return open;
    }
  };

  bool search(Domains& domains, const std::set<std::size_t>& spared, const Preference* prefer,
              std::uint64_t lot) const {
    if (propagate(domains, settled(domains), spared)) return false;
    const Random random = stream(lot, Stream::sampling);
    std::vector<std::uint64_t> lots(sizes.size());
    for (std::size_t f = 0; f < sizes.size(); ++f) lots[f] = random.bits(f);
    return Search{*this, spared, prefer, std::move(lots)}.run(domains);
  }
};

ChoiceSpace::ChoiceSpace(std::vector<std::size_t> sizes, const std::vector<Exclusion>& exclusions)
    : tables_(std::make_unique<Tables>(std::move(sizes), exclusions)) {}

ChoiceSpace::ChoiceSpace(const ChoiceSpace& base, const std::vector<Exclusion>& more) {
  auto tables = std::make_unique<Tables>(*base.tables_);
  for (const Exclusion& exclusion : more) tables->add(exclusion);
  tables_ = std::move(tables);
}

ChoiceSpace::ChoiceSpace(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}

ChoiceSpace ChoiceSpace::without(const std::function<bool(const Reason&)>& is_spared) const {
  auto left = std::make_unique<Tables>(tables_->sizes);
  for (const Table& table : tables_->tables) {
    const Reason& reason = tables_->reasons[table.reason];
    if (!is_spared(reason)) left->add(table, reason);
  }
  return ChoiceSpace(std::move(left));
}

ChoiceSpace::~ChoiceSpace() = default;
ChoiceSpace::ChoiceSpace(ChoiceSpace&&) noexcept = default;
ChoiceSpace& ChoiceSpace::operator=(ChoiceSpace&&) noexcept = default;

std::span<const std::size_t> ChoiceSpace::sizes() const { return tables_->sizes; }

bool ChoiceSpace::admits(const Choice& choice) const {
  Domains domains = tables_->domains_of(choice);
  return !tables_->propagate(domains, tables_->settled(domains), {});
}

bool ChoiceSpace::feasible(const Choice& choice) const {
  Domains domains = tables_->domains_of(choice);
  return tables_->search(domains, {}, nullptr, 0);
}

std::vector<Reason> ChoiceSpace::blamed(const Choice& choice) const {
  std::set<std::size_t> spared;
  const auto infeasible = [&] {
    Domains domains = tables_->domains_of(choice);
    return !tables_->search(domains, spared, nullptr, 0);
  };
  if (!infeasible()) return {};
  std::vector<std::size_t> order(tables_->reasons.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return tables_->reasons[k].why; });
  std::vector<Reason> reasons;
  for (const std::size_t k : order) {
    spared.insert(k);
    if (infeasible()) continue;
    spared.erase(k);
    reasons.push_back(tables_->reasons[k]);
  }
  return reasons;
}

bool ChoiceSpace::complete(Choice& choice, std::uint64_t lot, const Preference& prefer) const {
  Domains domains = tables_->domains_of(choice);
  if (!tables_->search(domains, {}, &prefer, lot)) return false;
  for (std::size_t f = 0; f < choice.size(); ++f) choice[f] = only(domains[f]);
  return true;
}

}  // namespace assay::conformance

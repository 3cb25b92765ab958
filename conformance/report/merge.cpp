#include "assay/conformance/report/merge.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/spec/operators.hpp"

namespace assay::conformance {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

/// Returns the first 12 digits of a digest. This is enough for a person who compares digests.
std::string brief(const std::string& digest) { return digest.substr(0, 12); }

/// Returns names and values of the properties that must be equal in all parts of a sweep. If they
/// differ, the error message names the first difference.
std::vector<std::pair<const char*, std::string>> common_facts(const Results& results) {
  const Shard& shard = *results.shard;
  std::string operators;
  for (const std::string& name : shard.operators)
    operators += (operators.empty() ? "" : ", ") + name;
  return {{"program", brief(shard.program)},
          {"list of operators", operators},
          {"seed", std::to_string(results.environment.seed)},
          {"seed of fresh data", std::to_string(results.environment.fresh_seed)},
          {"implementation", results.environment.implementation},
          {"number of parts", std::to_string(shard.of)},
          {"plan (cases, limits, files of the implementation)", brief(shard.plan)},
          {"number of cases", std::to_string(shard.planned)},
          {"--shrink", std::to_string(shard.shrink)}};
}

void require_one_sweep(const SweepShard& shard, const SweepShard& first) {
  const auto facts = common_facts(shard.results), wanted = common_facts(first.results);
  for (std::size_t k = 0; k < facts.size(); ++k)
    if (facts[k].second != wanted[k].second)
      refuse(shard.name + " belongs to another sweep: its " + facts[k].first + " is " +
             facts[k].second + ", but that of " + first.name + " is " + wanted[k].second);
  const auto &own = shard.results.environment.numerics,
             &others = first.results.environment.numerics;
  for (const auto& [key, numerics] : own)
    if (const auto other = others.find(key);
        other == others.end() ||
        nlohmann::json::parse(other->second) != nlohmann::json::parse(numerics))
      refuse(shard.name + " and " + first.name + " declare different numerics for " + key);
  if (own.size() != others.size())
    refuse(shard.name + " and " + first.name + " declare numerics for different types");
}

std::string text_of(const Shard& shard) {
  return std::to_string(shard.number) + "/" + std::to_string(shard.of);
}

/// Checks that every part is present exactly once.
void require_all_parts(const std::vector<SweepShard>& shards) {
  std::map<std::int64_t, const SweepShard*> by_number;
  for (const SweepShard& shard : shards) {
    const auto [other, is_new] = by_number.try_emplace(shard.results.shard->number, &shard);
    if (!is_new)
      refuse(other->second->name + " and " + shard.name + " overlap: both are part " +
             text_of(*shard.results.shard));
  }
  const std::int64_t of = shards.front().results.shard->of;
  const auto missing = of - std::ssize(by_number);
  constexpr std::int64_t most_named = 10;
  std::string names;
  std::int64_t named = 0;
  for (std::int64_t number = 1; named < std::min(missing, most_named); ++number)
    if (!by_number.contains(number)) {
      names += (named++ > 0 ? ", " : "") + text_of({.number = number, .of = of});
    }
  if (missing > named) names += " and " + std::to_string(missing - named) + " more";
  if (missing > 0) refuse("parts are missing: no file has part " + names);
}

/// Checks that the number, the positions and the cases of a part agree. Cases run in order, so an
/// unfinished part contains only the first of its cases.
void require_own_cases(const SweepShard& shard, Unfinished unfinished) {
  const Shard& part = *shard.results.shard;
  if (part.number < 1 || part.number > part.of)
    refuse(shard.name + " is part " + text_of(part) + "; expected i/n with i from 1 to n");
  if (part.places.size() != part.ids.size())
    refuse(shard.name + " has " + std::to_string(part.places.size()) + " places for " +
           std::to_string(part.ids.size()) + " cases");
  const auto [other, id] =
      std::ranges::mismatch(shard.results.cases, part.ids, {}, &CaseReport::id);
  const bool ends = other == shard.results.cases.end();
  if (ends && (id == part.ids.end() || unfinished == Unfinished::accepted)) return;
  if (id == part.ids.end())
    refuse(shard.name + " has case " + other->id + ", which is not in part " + text_of(part));
  refuse(shard.name + " lacks case " + *id + ": it has " +
         std::to_string(shard.results.cases.size()) + " of the " + std::to_string(part.ids.size()) +
         " cases of part " + text_of(part) +
         (ends ? "; it was stopped, its budget was spent (which --unfinished accepts), or somebody "
                 "changed the file"
               : "; somebody changed the file"));
}

/// Returns all cases in the order of the whole sweep. Errors: std::invalid_argument if cases are
/// missing, or if two parts have the same position or case, which means that a file was modified.
std::vector<const CaseReport*> cases_in_order(const std::vector<SweepShard>& shards,
                                              Unfinished unfinished) {
  const auto planned = static_cast<std::size_t>(shards.front().results.shard->planned);
  std::size_t given = 0;
  for (const SweepShard& shard : shards) given += shard.results.cases.size();
  if (given != planned && unfinished == Unfinished::refused)
    refuse("the parts have " + std::to_string(given) + " of " + std::to_string(planned) + " cases");
  std::vector<const CaseReport*> cases(planned, nullptr);
  std::set<std::string_view> ids;
  for (const SweepShard& shard : shards)
    for (std::size_t k = 0; k < shard.results.cases.size(); ++k) {
      const CaseReport& report = shard.results.cases[k];
      const std::int64_t place = shard.results.shard->places[k];
      if (place < 0 || place >= std::ssize(cases))
        refuse(shard.name + " has case " + report.id + " at place " + std::to_string(place) +
               " of " + std::to_string(planned));
      const CaseReport*& there = cases[static_cast<std::size_t>(place)];
      if (there != nullptr || !ids.insert(report.id).second)
        refuse(shard.name + " has case " + report.id + " at place " + std::to_string(place) +
               ", but another part contains the same case, or another case at this place");
      there = &report;
    }
  std::erase(cases, nullptr);
  return cases;
}

Environment environment_of(const std::vector<SweepShard>& shards) {
  const auto started = [](const SweepShard& shard) { return shard.results.environment.started; };
  Environment environment = shards.front().results.environment;
  environment.started = started(*std::ranges::min_element(shards, {}, started));
  return environment;
}

/// Computes the summary of the whole sweep from all its cases.
Summary summary_of(const std::vector<SweepShard>& shards, const std::vector<CaseReport>& cases) {
  const Results& first = shards.front().results;
  Summary summary;
  summary.implementation = first.environment.implementation;
  summary.planned = first.shard->planned;
  spec::for_each_operator([&]<class Op> {
    if (std::ranges::find(first.shard->operators, Op::name) == first.shard->operators.end()) return;
    append(summary.requirements, requirement_coverage<Op>(first.shard->policy));
    append(summary.pairs, pair_coverage<Op>());
  });
  for (const CaseReport& report : cases) count(summary, report);
  for (const SweepShard& shard : shards) {
    summary.seconds += shard.results.summary.seconds;
    summary.interrupted = summary.interrupted || shard.results.summary.interrupted;
  }
  return summary;
}

/// Returns the shrunk (reduced) cases of the whole sweep. The whole sweep would shrink only its
/// first N failing cases. Each part shrank its own first N failing cases, so the wanted cases are
/// among them. A cause may have more cases in the whole sweep than in one part.
std::vector<ShrunkCase> shrunk_of(const std::vector<SweepShard>& shards,
                                  const std::vector<CaseReport>& cases) {
  std::map<std::string, const ShrunkCase*> by_id;
  for (const SweepShard& shard : shards)
    for (const ShrunkCase& one : shard.results.shrunk) by_id[one.id] = &one;
  std::vector<ShrunkCase> shrunk;
  if (by_id.empty()) return shrunk;
  const std::vector<Cause> causes = causes_of(cases, {});
  for (const CaseReport* failing : first_faults(cases, shards.front().results.shard->shrink)) {
    const auto found = by_id.find(failing->id);
    if (found == by_id.end()) continue;
    shrunk.push_back(*found->second);
    shrunk.back().of_cause = std::ssize(others_of_cause(cases, causes, *failing)) + 1;
  }
  return shrunk;
}

}  // namespace

Results merged(const std::vector<SweepShard>& shards, Unfinished unfinished) {
  if (shards.empty()) refuse("no parts to merge");
  for (const SweepShard& shard : shards) {
    if (!shard.results.shard)
      refuse(shard.name + " is not part of a sweep: it was written without --shard");
    require_one_sweep(shard, shards.front());
  }
  for (const SweepShard& shard : shards) require_own_cases(shard, unfinished);
  require_all_parts(shards);
  Results results;
  for (const CaseReport* report : cases_in_order(shards, unfinished))
    results.cases.push_back(*report);
  results.environment = environment_of(shards);
  results.summary = summary_of(shards, results.cases);
  results.shrunk = shrunk_of(shards, results.cases);
  return results;
}

}  // namespace assay::conformance

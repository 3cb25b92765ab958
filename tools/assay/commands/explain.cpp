#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/decision.hpp"
#include "assay/conformance/result/meaning.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/spec/contradiction.hpp"
#include "commands/commands.hpp"
#include "commands/requirement_use.hpp"
#include "flags/choose.hpp"
#include "flags/documented_names.hpp"
#include "printing/print_case.hpp"
#include "stored/reading.hpp"

namespace assay::cli {
namespace {

struct ExplainOptions {
  std::string id, store;
};

char small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Compares two ids and ignores upper and lower case.
bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, small, small);
}

/// Returns a hint for an unknown word: "; did you mean 'FAG-C20'?" if the word resembles a known
/// name or is the end of an id. For the documented name of an entry point, returns the name that
/// Assay accepts.
std::string guess_of(const std::string& word) {
  if (const std::string hint = documented_hint(word); !hint.empty()) return hint;
  std::vector<std::string> known;
  for (const spec::Contradiction& point : spec::contradictions()) known.emplace_back(point.id);
  for_each_operator([&]<class Op> {
    for (const auto& requirement : Op::requirements()) known.emplace_back(requirement.id);
    for (const auto& relation : conformance::Suite<Op>::relations())
      known.emplace_back(relation.name);
  });
  for (const conformance::RuleText& rule : conformance::rules) known.emplace_back(rule.word);
  std::vector<std::string> ending;
  for (const std::string& id : known)
    if (id.size() > word.size() && same_letters(id.substr(id.size() - word.size() - 1), "-" + word))
      ending.push_back(id);
  return ending.empty() ? meant(word, known)
                        : fmt::format("; did you mean '{}'?", fmt::join(ending, "' or '"));
}

/// Describes the status code that a kernel must return if a call violates the requirement. If only
/// some entry points document a code, names the code with these entry points. The general answer is
/// "any status but success".
template <class Op>
std::string refusal_text(const spec::Requirement<Op>& requirement) {
  const std::string any = "any status but success";
  std::vector<std::string> named, others;
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries)
    (requirement.status_on(entry_point).any ? others : named).emplace_back(name);
  if (named.empty()) return any;
  const std::string code = fmt::format("{} {}", static_cast<std::int32_t>(requirement.status.code),
                                       spec::to_string(requirement.status.code));
  return others.empty() ? code
                        : fmt::format(
                              "{} on {}, whose page names this status; else "
                              "{}",
                              code, joined(named), any);
}

/// Returns the standings of a requirement, each once. A standing is the kind of source that states
/// the requirement (docs/documents.md); it may differ between entry points.
template <class Op>
std::vector<spec::Standing> standings_of(const spec::Requirement<Op>& requirement,
                                         const RequirementUse& use) {
  std::vector<spec::Standing> standings;
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries) {
    const spec::Standing standing = requirement.standing_on(entry_point);
    if (std::ranges::find(use.entry_points, name) != use.entry_points.end() &&
        std::ranges::find(standings, standing) == standings.end())
      standings.push_back(standing);
  }
  return standings.empty() ? std::vector{requirement.standing} : standings;
}

/// Prints one line for each variant (unusual legal form) or each violation of a requirement, with
/// the entry points whose planned calls use it.
template <class Way>
void print_ways(std::string_view what, std::string_view id, const std::vector<Way>& ways,
                const std::map<std::string, std::vector<std::string>>& taken_on,
                std::ostream& out) {
  for (const Way& way : ways) {
    const std::string name = fmt::format("{}:{}", id, way.name);
    const auto entry_points = taken_on.find(name);
    out << fmt::format(
        "  {}={} ({})\n", what, name,
        entry_points == taken_on.end() ? "no planned call" : joined(entry_points->second));
  }
}

template <class Op>
void print(const spec::Requirement<Op>& requirement, const Context& context) {
  std::ostream& out = context.out;
  const RequirementUse use = requirement_use(requirement);
  std::vector<std::string> sides, implied;
  for (const spec::Side side : requirement.sides) sides.emplace_back(spec::to_string(side));
  for (const std::string_view id : requirement.implies) implied.emplace_back(id);
  out << fmt::format("{}\n  {}\n  source:   {}, {}\n  standing: {}\n", requirement.id,
                     requirement.statement, requirement.source.document, requirement.source.section,
                     standing_text(requirement));
  for (const spec::Standing standing : standings_of(requirement, use))
    out << fmt::format("            {}: {}\n", spec::to_string(standing),
                       spec::sentence_of(standing));
  out << fmt::format("  sides:    {}\n", joined(sides));
  out << fmt::format("  applies to {}\n",
                     use.entry_points.empty() ? "no planned call" : joined(use.entry_points));
  if (!requirement.notes.empty())
    out << fmt::format(
        "  notes:    {} (contradictions and open points of the documents: '{} explain {}')\n",
        requirement.notes, context.typed, requirement.notes.substr(0, requirement.notes.find(',')));
  if (!implied.empty()) out << "  implies:  " << joined(implied) << '\n';
  if (requirement.has(spec::Side::reject))
    out << "  refusal:  " << refusal_text(requirement) << '\n';
  if (!requirement.reason.empty()) out << "  not exercised: " << requirement.reason << '\n';
  print_ways("met by --variant", requirement.id, requirement.variants, use.met_on, out);
  print_ways("broken by --violate", requirement.id, requirement.violations, use.broken_on, out);
  for (const std::string& line : {use.met_line, use.broken_line})
    if (!line.empty()) out << fmt::format("  try: {} run {}\n", context.typed, line);
  out << fmt::format("{} is a requirement of {}: the planned calls cover {} and {} of it.\n",
                     requirement.id, Op::name,
                     conformance::counted(std::ssize(use.met_on), "variant"),
                     conformance::counted(std::ssize(use.broken_on), "violation"));
}

/// Checks that the requirement has a variant (unusual legal form) or a violation with this name.
/// Errors: UsageError that lists the existing names.
template <class Op>
void require_way(const spec::Requirement<Op>& requirement, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& way : requirement.variants) names.emplace_back(way.name);
  for (const auto& way : requirement.violations) names.emplace_back(way.name);
  if (std::ranges::find(names, name) == names.end())
    throw UsageError(fmt::format("{} has no variant or violation '{}'; it has {}", requirement.id,
                                 name, joined(names)));
}

/// Prints a requirement. Also accepts the name of a variant or violation, such as "FAG-C20:key".
bool explain_requirement(const std::string& word, const Context& context) {
  const std::size_t colon = word.find(':');
  const std::string id = word.substr(0, colon);
  bool found = false;
  for_each_operator([&]<class Op> {
    for (const auto& requirement : Op::requirements()) {
      if (!same_letters(requirement.id, id)) continue;
      if (colon != std::string::npos) require_way(requirement, word.substr(colon + 1));
      print(requirement, context);
      found = true;
    }
  });
  return found;
}

/// Returns the cases of a default sweep. The first call makes them; later calls reuse them.
template <class Op>
const std::vector<conformance::Case<Op>>& planned() {
  static const auto cases = conformance::sample<Op>({});
  return cases;
}

/// Returns whether the comma-separated list `notes` contains `id`.
bool cites(std::string_view notes, std::string_view id) {
  while (!notes.empty()) {
    const std::size_t comma = std::min(notes.find(','), notes.size());
    if (notes.substr(0, comma) == id) return true;
    notes.remove_prefix(std::min(notes.find_first_not_of(", ", comma), notes.size()));
  }
  return false;
}

/// Explains a contradiction or open point of the documentation: what each source says, which
/// interpretation Assay uses, and which requirements cite it.
bool explain_contradiction(const std::string& id, const Context& context) {
  const auto all = spec::contradictions();
  const auto point = std::ranges::find_if(
      all, [&](const spec::Contradiction& one) { return same_letters(one.id, id); });
  if (point == all.end()) return false;
  context.out << fmt::format("{}, {} of the documents: {}\n", point->id,
                             point->claims.size() > 1 ? "a contradiction" : "an open point",
                             point->subject);
  for (const spec::Claim& claim : point->claims)
    context.out << fmt::format("  {}, {}\n    {}\n", claim.source.document, claim.source.section,
                               claim.says);
  context.out << fmt::format("  read here as: {}\n", point->reading);
  std::int64_t citing = 0;
  for_each_operator([&]<class Op> {
    for (const auto& requirement : Op::requirements()) {
      if (!cites(requirement.notes, point->id)) continue;
      ++citing;
      context.out << fmt::format("  cited by {} ({}): {} explain {}\n", requirement.id,
                                 standing_text(requirement), context.typed, requirement.id);
    }
  });
  context.out << fmt::format(
      "{} is {} of the documents; the number of requirements that cite it "
      "is {}.\n",
      point->id, point->claims.size() > 1 ? "a contradiction" : "an open point", citing);
  return true;
}

/// Prints a relation (a check that compares several runs of a kernel), and the replay lines of all
/// planned cases that use it.
bool explain_relation(const std::string& name, const Context& context) {
  std::ostream& out = context.out;
  std::int64_t operators = 0, cases = 0;
  std::string_view found;
  for_each_operator([&]<class Op> {
    for (const conformance::RelationText& relation : conformance::Suite<Op>::relations()) {
      if (!same_letters(relation.name, name)) continue;
      ++operators;
      found = relation.name;
      out << fmt::format(
          "{}\n  {}\n  holds for: {}\n  agreement: {}\n", relation.name, relation.sentence,
          relation.domain,
          relation.agreement == "bits"
              ? "all bits equal if the kernel declares a fixed order, else within the tolerances"
              : "the difference is at most the sum of the tolerances of the runs");
      for (const auto& c : planned<Op>()) {
        if (c.relation != relation.name) continue;
        ++cases;
        out << fmt::format("  {} run {}\n", context.typed, conformance::command_line(c));
      }
    }
  });
  if (operators == 0) return false;
  out << fmt::format("{} is a relation between runs of {}; a sweep contains {} of it.\n", found,
                     conformance::counted(operators, "operator"),
                     conformance::counted(cases, "case"));
  return true;
}

ExitCode explain_stored(const ExplainOptions& options, const Context& context) {
  const fixtures::Reader reader =
      reading([&] { return fixtures::Reader(options.store, fixtures::Origin::foreign); });
  const std::vector<std::string> ids = reading([&] { return reader.ids(); });
  if (std::find(ids.begin(), ids.end(), options.id) == ids.end())
    throw UsageError(fmt::format("{} has no case '{}' (it contains {})", options.store, options.id,
                                 conformance::counted(std::ssize(ids), "case")));
  const fixtures::CaseRecord record = reading([&] { return reader.read(options.id); });
  context.out << fmt::format(
      "case {}\n  {} run {}\n  {}\n", record.id, context.typed, record.command,
      record.inputs.empty() ? "stored as a recipe: inputs are generated from the line"
                            : fmt::format("stored with {} inputs, {} outputs of the reference",
                                          record.inputs.size(), record.expected.size()));
  for (const auto& [implementation, json] : record.verdicts) {
    context.out << '\n';
    try {
      print_case(conformance::report_from_json(json), context.typed, context.out);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("{}:/cases/{}/verdicts/{}: {}", options.store, record.id,
                                   implementation, error.what()));
    }
  }
  context.out << fmt::format("Case {} has {} in {}.\n", record.id,
                             conformance::counted(std::ssize(record.verdicts), "stored verdict"),
                             conformance::printable(options.store));
  return ExitCode::conformant;
}

/// Prints the rule that decides which sources a kernel must obey. Also prints the meaning of each
/// standing (kind of source).
bool explain_documents(const std::string& word, const Context& context) {
  if (word != "documents") return false;
  context.out << fmt::format("the rule of the documents\n  {}\n", spec::rule_of_documents);
  for (const auto& [standing, name] : spec::spellings_of<spec::Standing>.entries)
    context.out << fmt::format("  {}: {}\n", name, spec::sentence_of(standing));
  context.out << fmt::format("Every requirement has one of {} standings.\n",
                             spec::spellings_of<spec::Standing>.entries.size());
  return true;
}

/// Explains the words "decided by RULE" in a report.
bool explain_rule(const std::string& word, const Context& context) {
  const auto rule = std::ranges::find_if(
      conformance::rules, [&](const auto& one) { return same_letters(one.word, word); });
  if (rule == conformance::rules.end()) return false;
  context.out << fmt::format("{}, a rule that decides verdicts\n  {}\n", rule->word,
                             rule->sentence);
  std::vector<std::string> verdicts;
  for (const auto& [verdict, name] : spec::spellings_of<conformance::Verdict>.entries)
    if (rule->verdicts.contains(verdict)) verdicts.emplace_back(name);
  context.out << fmt::format("{} can give {}: {}.\n", rule->word,
                             conformance::counted(std::ssize(verdicts), "verdict"),
                             joined(verdicts));
  return true;
}

/// Explains a verdict, and lists the rules that lead to it.
bool explain_verdict(const std::string& word, const Context& context) {
  const auto& known = spec::spellings_of<conformance::Verdict>.entries;
  const auto named =
      std::ranges::find_if(known, [&](const auto& one) { return same_letters(one.second, word); });
  if (named == known.end()) return false;
  const auto& [verdict, name] = *named;
  const std::string_view meaning =
      conformance::meanings.at(static_cast<std::size_t>(verdict)).second;
  context.out << fmt::format("{}, a verdict with exit code {}\n  {}\ngiven by these rules\n", name,
                             static_cast<int>(conformance::contribution(verdict)), meaning);
  std::int64_t rules = 0;
  for (const conformance::RuleText& rule : conformance::rules) {
    if (!rule.verdicts.contains(verdict)) continue;
    ++rules;
    context.out << fmt::format("  {}: {}\n", rule.word, rule.sentence);
  }
  context.out << fmt::format(
      "{} can give the verdict {}, which ends a command with exit code {}.\n",
      conformance::counted(rules, "rule"), name,
      static_cast<int>(conformance::contribution(verdict)));
  return true;
}

ExitCode explain(const ExplainOptions& options, const Context& context) {
  if (!options.store.empty()) return explain_stored(options, context);
  if (explain_requirement(options.id, context) || explain_contradiction(options.id, context) ||
      explain_relation(options.id, context) || explain_rule(options.id, context) ||
      explain_verdict(options.id, context) || explain_documents(options.id, context))
    return ExitCode::conformant;
  const std::string guess = guess_of(options.id);
  throw UsageError(
      "no requirement, contradiction, relation, rule or verdict is called '" + options.id + "'" +
      guess + (guess.empty() ? ". " : " ") +
      "'assay list requirements' and 'assay list relations' print the names. To explain "
      "a case of a sweep, add --store FILE; to run a replay line, use 'assay run'");
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary =
          "explain a documented requirement with its source, a contradiction in the documents, a "
          "relation between runs, a rule, a verdict, or a stored case",
      .declare = [](CLI::App& app, const Registry&) -> Action {
        const auto options = std::make_shared<ExplainOptions>();
        app.add_option(
               "id", options->id,
               "id of a requirement such as FAG-C20 or of a contradiction such as "
               "FAG-Q4, name of a relation, of a verdict or of a rule that decided one, id of a "
               "stored case, or 'documents': what a kernel must accept and refuse")
            ->required();
        app.add_option("--store", options->store, "file that contains the case");
        return [options](const Context& context) { return explain(*options, context); };
      }};
}

}  // namespace assay::cli

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/spec/numerics.hpp"
#include "commands/commands.hpp"
#include "commands/requirement_use.hpp"
#include "flags/choose.hpp"
#include "flags/documented_names.hpp"
#include "flags/plan_flags.hpp"
#include "printing/print_coverage.hpp"
#include "printing/table.hpp"
#include "stored/read_results.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A printed table: its column names and its rows.
struct Listing {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

Listing operators(const Registry& registry, const spec::Policy&) {
  Listing listing{.head = {"operator", "requirements", "implementations"}, .rows = {}};
  for_each_operator([&]<class Op> {
    listing.rows.push_back({std::string(Op::name), std::to_string(Op::requirements().size()),
                            std::to_string(registry.implementations<Op>().size())});
  });
  return listing;
}

Listing entry_points(const Registry&, const spec::Policy&) {
  Listing listing{.head = {"entry_point", "operator", "documented_name"}, .rows = {}};
  for_each_operator([&]<class Op> {
    for (const auto& [value, name] : spec::spellings_of<typename Op::EntryPoint>.entries)
      listing.rows.push_back(
          {std::string(name), std::string(Op::name), std::string(documented_name(Op::name, name))});
  });
  return listing;
}

/// Lists the requirements. If the policy ignores requirements that only the vendor's code states,
/// leaves them out.
Listing requirements(const Registry&, const spec::Policy& policy) {
  Listing listing{.head = {"requirement", "standing", "sides", "statement"}, .rows = {}};
  for_each_operator([&]<class Op> {
    for (const auto& requirement : Op::requirements()) {
      if (requirement.standing == spec::Standing::upstream &&
          !must_refuse(requirement.standing, policy))
        continue;
      std::string sides;
      for (const spec::Side side : requirement.sides)
        sides += fmt::format("{}{}", sides.empty() ? "" : "+", spec::to_string(side));
      listing.rows.push_back({std::string(requirement.id), standing_text(requirement), sides,
                              std::string(requirement.statement)});
    }
  });
  return listing;
}

Listing profiles(const Registry&, const spec::Policy&) {
  Listing listing{.head = {"name", "operator", "sentence"}, .rows = {}};
  for_each_operator([&]<class Op> {
    for (const conformance::InputProfile& profile : conformance::Suite<Op>::profiles())
      listing.rows.push_back(
          {std::string(profile.name), std::string(Op::name), std::string(profile.sentence)});
  });
  return listing;
}

Listing patterns(const Registry&, const spec::Policy&) {
  Listing listing{.head = {"field", "name", "operator", "sentence"}, .rows = {}};
  for_each_operator([&]<class Op> {
    for (const conformance::PatternField<Op>& pattern : conformance::Suite<Op>::patterns())
      for (const conformance::InputProfile& entry : pattern.names())
        listing.rows.push_back({std::string(pattern.field), std::string(entry.name),
                                std::string(Op::name), std::string(entry.sentence)});
  });
  return listing;
}

Listing relations(const Registry&, const spec::Policy&) {
  Listing listing{.head = {"relation", "operator", "agreement", "domain", "sentence"}, .rows = {}};
  for_each_operator([&]<class Op> {
    for (const conformance::RelationText& relation : conformance::Suite<Op>::relations())
      listing.rows.push_back({std::string(relation.name), std::string(Op::name),
                              std::string(relation.agreement), std::string(relation.domain),
                              std::string(relation.sentence)});
  });
  return listing;
}

Listing implementations(const Registry& registry, const spec::Policy&) {
  Listing listing{.head = {"implementation", "operator", "summary"}, .rows = {}};
  for_each_operator([&]<class Op> {
    for (const auto& entry : registry.implementations<Op>())
      listing.rows.push_back({entry.name, std::string(Op::name), entry.summary});
  });
  return listing;
}

Listing presets(const Registry&, const spec::Policy&) {
  Listing listing{.head = {"preset", "summary"}, .rows = {}};
  for (const auto& preset : spec::numerics_presets())
    listing.rows.push_back({std::string(preset.name), std::string(preset.summary)});
  return listing;
}

struct Kind {
  std::string_view name;
  Listing (*list)(const Registry&, const spec::Policy&);
};

constexpr Kind kinds[] = {
    {"operators", operators},
    {"entry_points", entry_points},
    {"requirements", requirements},
    {"profiles", profiles},
    {"patterns", patterns},
    {"relations", relations},
    {"implementations", implementations},
    {"presets", presets},
};

Json json_of(const Listing& listing) {
  Json array = Json::array();
  for (const auto& row : listing.rows) {
    Json object = Json::object();
    for (std::size_t k = 0; k < row.size(); ++k) object[listing.head[k]] = row[k];
    array.push_back(std::move(object));
  }
  return array;
}

void print(const Listing& listing, std::ostream& out) {
  Table table(listing.head);
  for (const auto& row : listing.rows) table.add(row);
  table.print(out);
}

struct ListOptions {
  std::string kind, report;
  bool json = false, coverage = false;
  PlanFlags plan;
};

/// Counts requirements that no case exercised, and other gaps, for the last line of the list.
struct CoverageCount {
  std::int64_t unexercised = 0, uncovered = 0;

  void add(const Coverage& coverage) {
    unexercised += std::ssize(coverage.requirements.unexercised());
    uncovered += std::ssize(coverage.pairs.uncovered());
  }
  std::string text(std::string_view cases) const {
    return fmt::format("{} leave out {} and {}.\n", cases,
                       conformance::counted(unexercised, "requirement"),
                       conformance::counted(uncovered, "pair") + " of values");
  }
};

/// Computes the coverage that a sweep reaches if every planned case passes.
template <class Op>
Coverage planned_coverage(const Planned<Op>& planned, const spec::Policy& policy) {
  Coverage coverage{.requirements = conformance::requirement_coverage<Op>(policy),
                    .pairs = conformance::pair_coverage<Op>(),
                    .sizes = {},
                    .calls = conformance::RefusableCalls(),
                    .fields = conformance::field_coverage<Op>(planned.cases)};
  for (const auto& c : planned.cases) {
    const auto call = conformance::call_of(c);
    const std::string_view violated = conformance::requirement_named_in(c.violate);
    const std::string_view entry_point = spec::to_string(c.entry_point);
    if (!violated.empty()) coverage.requirements.reject(violated, entry_point);
    for (const auto& requirement : Op::requirements())
      if (violated.empty() && requirement.is_exercised_by(call) && requirement.holds(call))
        coverage.requirements.accept(requirement.id, entry_point);
    conformance::count(*coverage.calls, c);
    for (const std::string& way : {c.variant, c.violate}) coverage.requirements.take(way);
    conformance::cover(coverage.pairs, c);
    conformance::cover(coverage.sizes, conformance::sizes_of(c));
  }
  return coverage;
}

/// Removes sizes from the list of missing sizes if a plan with one of the next seeds contains them.
/// Plans are random, so one plan does not contain every size.
template <class Op>
void complete_sizes(std::vector<conformance::SizeCoverage>& sizes, PlanFlags flags) {
  const std::uint64_t seed = flags.seed;
  for (std::uint64_t next = 1; next < seeds_of_sizes; ++next) {
    flags.seed = seed + next;
    std::vector<conformance::SizeCoverage> others;
    for (const auto& c : planned_cases<Op>(flags).cases)
      conformance::cover(others, conformance::sizes_of(c));
    conformance::complete(sizes, others);
  }
}

ExitCode list_coverage(const ListOptions& options, const Context& context) {
  Json all = Json::object();
  CoverageCount count;
  const auto show = [&](const std::string& of, const Coverage& coverage) {
    all[of] = coverage_json(coverage);
    count.add(coverage);
    if (options.json) return;
    context.out << of << "\n\n";
    print_coverage(coverage, context.out);
  };
  if (!options.report.empty()) {
    const auto results = read_results(options.report);
    show("what the cases of the report covered",
         {results.summary.requirements, results.summary.pairs, {}, {}});
  } else {
    std::int64_t cases = 0, left_out = 0;
    with_operators(options.kind, [&]<class Op> {
      const Planned<Op> planned = planned_cases<Op>(options.plan);
      cases += std::ssize(planned.cases), left_out += planned.left_out;
      Coverage coverage = planned_coverage(planned, options.plan.policy);
      complete_sizes<Op>(coverage.sizes, options.plan);
      show(std::string(Op::name) + ": what the planned cases exercise", coverage);
    });
    require_cases(cases, left_out, options.plan);
  }
  if (options.json)
    context.out << all.dump(1) << '\n';
  else
    context.out << count.text(options.report.empty() ? "The planned cases"
                                                     : "The cases of the report");
  return ExitCode::conformant;
}

/// Returns the last line of the command, for example "6 operators." or "8 lists: 6 operators, 18
/// entry points."
std::string count_text(const std::vector<std::pair<std::string, std::size_t>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, words);
  }
  return (counts.size() > 1 ? fmt::format("{} lists: ", counts.size()) : "") + text + ".\n";
}

ExitCode list(const ListOptions& options, const Context& context) {
  Json all = Json::object();
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::size_t>> counts;
  const std::string& wanted = options.kind;
  for (const Kind& kind : kinds) {
    names.emplace_back(kind.name);
    if (!wanted.empty() && wanted != kind.name) continue;
    const Listing listing = kind.list(context.registry, options.plan.policy);
    all[std::string(kind.name)] = json_of(listing);
    counts.emplace_back(kind.name, listing.rows.size());
    if (options.json) continue;
    if (options.kind.empty())
      context.out << fmt::format("{} ({})\n", kind.name, listing.rows.size());
    print(listing, context.out);
    if (options.kind.empty()) context.out << '\n';
  }
  if (all.empty())
    throw UsageError("no list of '" + options.kind + "'" +
                     one_of(options.kind, names, "there are"));
  if (options.json)
    context.out << (options.kind.empty() ? all : all[wanted]).dump(1) << '\n';
  else
    context.out << count_text(counts);
  return ExitCode::conformant;
}

/// Checks the combination of flags. Errors: UsageError if a flag has no effect together with the
/// other flags, or if a flag that it needs is missing.
void require_use_of_flags(const CLI::App& app, const ListOptions& options) {
  std::string of_plan;
  for (const char* flag : {"--seed", "--random", "--product", "--only", "--cases", "--full"})
    if (of_plan.empty() && app.count(flag) > 0) of_plan = flag;
  if (!options.coverage && (!options.report.empty() || !of_plan.empty()))
    throw UsageError((options.report.empty() ? of_plan : "--report") + " requires --coverage");
  for (const char* flag : {"--upstream", "--documents"})
    if (of_plan.empty() && app.count(flag) > 0) of_plan = flag;
  const std::string& idle = options.kind.empty() ? of_plan : options.kind;
  if (!options.report.empty() && !idle.empty())
    throw UsageError("--report shows the coverage of all cases of the report: '" + idle +
                     "' has no effect together with --report");
}

}  // namespace

Command list_command() {
  return {.name = "list",
          .summary = "list operators, requirements, input profiles, implementations, ...",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<ListOptions>();
            app.add_option("kind", options->kind,
                           "operators, entry_points, requirements, profiles, patterns, relations, "
                           "implementations or presets; with --coverage: one operator");
            app.add_flag("--json", options->json, "print JSON");
            app.add_flag("--coverage", options->coverage,
                         "requirements and pairs of values that the planned cases, or those of a "
                         "report, exercise");
            app.add_option("--report", options->report,
                           "with --coverage: report.json whose cases are counted");
            options->plan.declare(app);
            return [options, &app](const Context& context) {
              require_use_of_flags(app, *options);
              return options->coverage ? list_coverage(*options, context) : list(*options, context);
            };
          }};
}

}  // namespace assay::cli

#include <fmt/format.h>

#include <algorithm>

#include "assay/conformance/results.hpp"
#include "assay/fixtures/file.hpp"
#include "choose.hpp"
#include "commands.hpp"
#include "print_case.hpp"
#include "reading.hpp"

namespace assay::cli {
namespace {

struct Options {
  std::string id, store;
};

template <class Op>
void print(const spec::Constraint<Op>& row, std::ostream& out) {
  std::vector<std::string> sides, implied, violations;
  for (const spec::Side side : row.sides) sides.emplace_back(spec::to_string(side));
  for (const std::string_view id : row.implies) implied.emplace_back(id);
  for (const auto& violation : row.violations)
    violations.push_back(fmt::format("{}:{}", row.id, violation.name));
  out << fmt::format("{}\n  {}\n  source:   {}, {}\n  standing: {}\n  sides:    {}\n", row.id,
                     row.statement, row.source.document, row.source.section,
                     spec::to_string(row.standing), joined(sides));
  if (!implied.empty()) out << "  implies:  " << joined(implied) << '\n';
  if (row.has(spec::Side::reject))
    out << "  refusal:  "
        << (row.status.any ? "any code but success" : std::string(spec::to_string(row.status.code)))
        << '\n';
  if (!violations.empty()) out << "  broken by --violate=" << joined(violations) << '\n';
}

bool explain_row(const std::string& id, std::ostream& out) {
  bool found = false;
  for_each_operator([&]<class Op> {
    for (const auto& row : Op::constraints()) {
      if (row.id != id) continue;
      print(row, out);
      found = true;
    }
  });
  return found;
}

ExitCode explain_stored(const Options& options, const Context& context) {
  const fixtures::Reader reader = reading([&] { return fixtures::Reader(options.store); });
  const std::vector<std::string> ids = reading([&] { return reader.ids(); });
  if (std::find(ids.begin(), ids.end(), options.id) == ids.end())
    throw UsageError(fmt::format("{} has no case '{}' (it holds {} cases)", options.store,
                                 options.id, ids.size()));
  const fixtures::CaseRecord record = reading([&] { return reader.read(options.id); });
  context.out << fmt::format("case {}\n  assay run {}\n  {}\n", record.id, record.command,
                             record.inputs.empty()
                                 ? "stored as a recipe: inputs are rebuilt from the line"
                                 : fmt::format("stored with {} inputs, {} outputs of the reference",
                                               record.inputs.size(), record.expected.size()));
  for (const auto& [implementation, json] : record.verdicts) {
    context.out << '\n';
    try {
      print_case(conformance::report_from_json(json), context.out);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("{}:/cases/{}/verdicts/{}: {}", options.store, record.id,
                                   implementation, error.what()));
    }
  }
  return ExitCode::conformant;
}

ExitCode explain(const Options& options, const Context& context) {
  if (!options.store.empty()) return explain_stored(options, context);
  if (explain_row(options.id, context.out)) return ExitCode::conformant;
  throw UsageError("no row '" + options.id +
                   "'; rows are listed by 'assay list rows', stored cases need --store FILE");
}

}  // namespace

Command explain_command() {
  return {.name = "explain",
          .summary = "print one documented row and where it was read, or a stored case",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("id", options->id, "id of a row such as FAG-C20, or of a stored case")
                ->required();
            app.add_option("--store", options->store, "file in which the case lies");
            return [options](const Context& context) { return explain(*options, context); };
          }};
}

}  // namespace assay::cli

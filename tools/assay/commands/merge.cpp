#include "assay/conformance/report/merge.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "assay/conformance/report/listeners.hpp"
#include "assay/fixtures/file.hpp"
#include "commands/commands.hpp"
#include "commands/result_files.hpp"
#include "dashboard.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "stored/read_results.hpp"
#include "stored/reading.hpp"
#include "sweeping/sweep_part.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Results;
using conformance::SweepShard;
using conformance::Unfinished;

struct MergeOptions {
  std::vector<std::string> parts;
  ResultFiles files;
  ExitFlags exit;
  bool unfinished = false;
};

/// Returns the verdict that the sweep stored for a case. Ignores verdicts that other programs added
/// later.
const std::string& verdict_of_sweep(const fixtures::CaseRecord& record, const Results& results,
                                    const std::string& where) {
  if (record.verdicts.size() == 1) return record.verdicts.begin()->second;
  const auto found = record.verdicts.find(results.environment.implementation);
  if (found != record.verdicts.end()) return found->second;
  throw UsageError(fmt::format("{}: case {} has {} verdicts, but none of {}", where, record.id,
                               record.verdicts.size(), results.environment.implementation));
}

/// Reads the results in a case file: the description of the sweep, and the reports of its cases in
/// the order in which they ran.
Results read_store(const fixtures::Reader& reader, const std::string& path) {
  const std::string description = reading([&] { return reader.description(); });
  if (description.empty())
    throw UsageError(path + " is not a part of a sweep: it was written without --shard");
  Results results = conformance::results_from_json(description);
  std::map<std::string, CaseReport> by_id;
  for (CaseReport& report : results.cases) by_id[report.id] = std::move(report);
  for (const std::string& id : reading([&] { return reader.ids(); })) {
    const fixtures::CaseRecord record = reading([&] { return reader.read(id); });
    by_id[id] = conformance::report_from_json(verdict_of_sweep(record, results, path));
  }
  results.cases.clear();
  if (!results.shard) throw UsageError(path + " does not state which part of a sweep it is");
  for (const std::string& id : results.shard->ids)
    if (const auto found = by_id.find(id); found != by_id.end())
      results.cases.push_back(std::move(found->second));
  return results;
}

/// One part of a sweep, named on the command line. `reader` reads its case file; null if the part
/// is a report.
struct Given {
  SweepShard shard;
  std::unique_ptr<fixtures::Reader> reader;
};

/// Reads one part of a sweep. The part may come from another machine, so the file is checked as
/// untrusted input.
Given given(const std::string& path) {
  if (!std::filesystem::exists(path) && std::filesystem::is_directory(path + ".parts"))
    throw UsageError(fmt::format(
        "{} does not exist yet: its part was killed, and its finished cases are in {}.parts; run "
        "the command of that part again to resume it",
        path, path));
  Given part{.shard = {.name = path, .results = {}}, .reader = nullptr};
  if (!is_hdf5(path)) {
    part.shard.results = read_results(path);
    return part;
  }
  part.reader =
      reading([&] { return std::make_unique<fixtures::Reader>(path, fixtures::Origin::foreign); });
  try {
    part.shard.results = read_store(*part.reader, path);
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
  return part;
}

/// Limits the stored tensors to the first failing cases of each operator, as a sweep in one process
/// does. Each part may have reached this limit by itself, so all parts together may contain more.
class Evidence {
 public:
  void limit(fixtures::CaseRecord& record) {
    if (record.inputs.empty() || ++kept_[record.operator_name] <= evidence_cases) return;
    record.inputs.clear();
    record.expected.clear();
    record.actual.clear();
  }

 private:
  std::map<std::string, int> kept_;
};

/// Writes the cases of all parts into one file, in the order of the whole sweep.
void write_store(const std::string& path, const Results& results, const std::vector<Given>& parts) {
  std::map<std::string, const fixtures::Reader*> reader_of;
  for (const Given& part : parts)
    for (const std::string& id : reading([&] { return part.reader->ids(); }))
      reader_of[id] = part.reader.get();
  fixtures::Writer writer(path, parts.front().shard.results.shard->plan);
  Evidence evidence;
  for (const CaseReport& report : results.cases) {
    const auto reader = reader_of.find(report.id);
    if (reader == reader_of.end()) continue;  // cases that do not apply have no record
    fixtures::CaseRecord record = reading([&] { return reader->second->read(report.id); });
    evidence.limit(record);
    writer.write(record);
  }
  writer.close();
}

void write_texts(const MergeOptions& options, const Results& results, Deliveries& deliveries,
                 const Context& context) {
  const auto destination = [&](std::string_view flag, const std::string& path) {
    return deliveries.guarded(flag, sink(path, context));
  };
  if (const auto write = destination("--report", options.files.report))
    write(conformance::to_json(results));
  if (const auto write = destination("--html", options.files.html))
    write(dashboard_page(results, context));
  if (const auto write = destination("--junit", options.files.junit)) {
    conformance::JunitListener junit(
        write, results.environment.program,
        [&options](const CaseReport& report) { return options.exit.baseline.excuse(report); });
    for (std::size_t k = 0; k < results.cases.size(); ++k)
      junit.on_case(results.cases[k], static_cast<std::int64_t>(k));
    junit.on_end(results.summary);
  }
}

/// Reads all parts of the sweep. Errors: UsageError.
std::vector<Given> read_parts(const MergeOptions& options) {
  std::vector<Given> parts;
  for (const std::string& path : options.parts) {
    parts.push_back(given(path));
    if (!options.files.store.empty() && !parts.back().reader)
      throw UsageError("--store: " + path +
                       " is a report; --store needs parts that were written by --store");
  }
  return parts;
}

/// Joins the results of the parts. Errors: UsageError if the parts belong to different sweeps.
Results joined_results(const MergeOptions& options, const std::vector<Given>& parts) {
  std::vector<SweepShard> shards;
  for (const Given& part : parts) shards.push_back(part.shard);
  try {
    return conformance::merged(shards,
                               options.unfinished ? Unfinished::accepted : Unfinished::refused);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

/// Prints the names of the written files, then `words`, then how the sweep ended.
ExitCode end(const MergeOptions& options, const Results& results, const std::string& words,
             const Deliveries& deliveries, const Context& context) {
  std::ostream& out = context_for(options.files.texts(), context).out;
  out << '\n';
  options.files.print(out, deliveries);
  out << words;
  if (const auto left = results.summary.planned - results.summary.cases; left > 0)
    out << fmt::format("unfinished parts: {} of {} cases were not run\n", left,
                       results.summary.planned);
  if (results.summary.interrupted) context.err << "a part was stopped\n";
  const ExitCode code = deliveries.conclude(*results.summary.ends_with, context.err);
  out << conclusion(results, code) << '\n';
  return code;
}

ExitCode merge(const MergeOptions& options, const Context& context) {
  std::vector<Destination> inputs;
  for (const std::string& path : options.parts) inputs.push_back({"a part", path});
  options.files.require_writable(inputs);
  const std::vector<Given> parts = read_parts(options);
  Results results = joined_results(options, parts);
  std::ostringstream words;  // printed at the end; the report needs the exit code now
  const ExitCode code = options.exit.code_of(results, words);
  results.summary.ends_with = results.summary.interrupted ? ExitCode::not_conclusive : code;
  print_results(results, replay_program(results, context), detail_of(context),
                context_for(options.files.texts(), context).out);
  Deliveries deliveries;
  if (!options.files.store.empty())
    deliveries.attempt("--store", [&] { write_store(options.files.store, results, parts); });
  write_texts(options, results, deliveries, context);
  return end(options, results, words.str(), deliveries, context);
}

}  // namespace

Command merge_command() {
  return {.name = "merge",
          .summary = "join the parts of a sweep that ran with --shard",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<MergeOptions>();
            app.add_option("part", options->parts,
                           "all parts in any order: for each part its --store file or its --report "
                           "file")
                ->required();
            options->files.declare(app, "HDF5 file of the cases of all parts");
            options->exit.declare(app);
            app.add_flag("--unfinished", options->unfinished,
                         "accept parts that stopped at their time budget, with the cases that they "
                         "finished");
            return [options](const Context& context) { return merge(*options, context); };
          }};
}

}  // namespace assay::cli

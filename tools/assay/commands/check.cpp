#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/conformance/judge/saved_values.hpp"
#include "assay/conformance/report/listeners.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/fixtures/named.hpp"
#include "build_facts.hpp"
#include "commands/commands.hpp"
#include "dashboard.hpp"
#include "flags/choose.hpp"
#include "flags/deliveries.hpp"
#include "flags/destinations.hpp"
#include "flags/numerics.hpp"
#include "printing/conclusion.hpp"
#include "printing/print_case.hpp"
#include "printing/waiting.hpp"
#include "signals.hpp"
#include "stored/reading.hpp"
#include "stored/stored_case.hpp"
#include "stored/stored_facts.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Decision;
using conformance::Fact;
using conformance::FactKind;
using conformance::Ground;
using conformance::Rule;
using conformance::Verdict;

struct CheckOptions {
  std::string file, implementation, id, report, html, junit;
  DeclaredNumerics numerics{"ascend_a2"};
  bool given_inputs = false;  ///< the inputs are those of the file, not those of the replay line
  Replace replace = Replace::own_results;
};

/// A kernel may run twice on the same inputs. The outputs of the second run have the implementation
/// name plus this suffix.
constexpr std::string_view second_run = "@2";
/// Suffix of the implementation name in a report on inputs that a forward kernel computed.
constexpr std::string_view of_forward = "@forward";

struct Judged {
  CaseReport report;
  std::vector<std::string> unconfirmed;
};

template <class Op>
class FileJudge {
 public:
  FileJudge(const CheckOptions& options, fixtures::CaseRecord record)
      : options_(options),
        record_(std::move(record)),
        case_(conformance::parse_case<Op>(conformance::case_words(record_.command, Op::name))),
        prepared_(std::in_place, case_) {
    if (options.given_inputs) take_given_inputs();
  }

  const fixtures::CaseRecord& record() const { return record_; }

  /// With --given-inputs: judges those inputs that are results of a forward kernel, and returns the
  /// report. Returns nothing if the operator has no such inputs, or if they cannot be judged.
  std::optional<Judged> judge_saved_values(const std::string& name,
                                           const fixtures::Actual& actual) {
    if (!options_.given_inputs || !actual.fault.empty()) return std::nullopt;
    const spec::Numerics numerics = numerics_of(actual);
    auto report = conformance::judge_saved_values(case_, prepared_->inputs(numerics), numerics);
    if (!report) return std::nullopt;
    report->implementation = name + std::string(of_forward);
    report->outputs_file = options_.file;
    return Judged{.report = std::move(*report), .unconfirmed = {}};
  }

  /// Judges the outputs of one implementation. Errors: UsageError if the file contradicts the case;
  /// the message names the part of the file.
  Judged judge(const std::string& name, const fixtures::Actual& actual) {
    if (!actual.fault.empty()) throw UsageError(actual.fault);
    if (const auto reason = without_tensors(case_))
      throw UsageError(
          fmt::format("{}:/cases/{}/actual/{}: {}", options_.file, record_.id, name, *reason));
    try {
      return judged(name, actual);
    } catch (const std::invalid_argument& error) {
      throw UsageError(
          fmt::format("{}:/cases/{}/actual/{}: {}", options_.file, record_.id, name, error.what()));
    }
  }

 private:
  spec::Numerics numerics_of(const fixtures::Actual& actual) const {
    const spec::DType io = case_.problem.dtype;
    return actual.profile.empty() ? options_.numerics.of<Op>(io)
                                  : conformance::numerics_from_json(actual.profile, io, Op::name);
  }

  /// Replaces the inputs that the replay line generates by the inputs in the file. Errors:
  /// UsageError if the inputs of the case cannot be replaced.
  void take_given_inputs() {
    const std::string where = fmt::format("{}:/cases/{}", options_.file, record_.id);
    if (case_.track != conformance::Track::bound)
      throw UsageError(where + ": --given-inputs needs a case of track bound; --track is '" +
                       std::string(spec::to_string(case_.track)) + "'");
    if (record_.inputs.empty())
      throw UsageError(where +
                       ": --given-inputs needs a file with inputs; this case is stored without "
                       "inputs, as a recipe");
    auto inputs = prepared_->inputs({});
    for (const auto& [name, tensor] : conformance::named_tensors(inputs))
      if (fixtures::digest(tensor) != record_.digests.at(name))
        replaced_ += (replaced_.empty() ? "" : ", ") + name;
    fixtures::fill(inputs, record_.inputs);
    prepared_.emplace(case_, std::move(inputs));
  }

  Judged judged(const std::string& name, const fixtures::Actual& actual) {
    const spec::Numerics numerics = numerics_of(actual);
    if (const auto reason = other_inputs(numerics))
      return without_judgement(name, {Rule::no_exact_inputs, *reason});
    if (const auto reason = other_places(numerics))
      return without_judgement(name, {Rule::undeclared_order, Ground::declared_otherwise, *reason});
    const auto outputs = conformance::outputs_from(case_, actual.outputs);
    Judged result{.report = read_otherwise(prepared_->judge(outputs, numerics), outputs, numerics),
                  .unconfirmed = {
                      "guards and padding", "inputs unmodified", "status codes", "workspace rules",
                      "that the named kernel wrote the outputs and has these numerics"}};
    CaseReport& report = result.report;
    report.implementation = name;
    report.outputs_file = options_.file;
    if (actual.profile.empty())
      report.findings.push_back(
          {.rule = conformance::FindingRule::note,
           .tensor = {},
           .fact = {FactKind::file_without_numerics, options_.numerics.text()}});
    if (!replaced_.empty())
      report.findings.push_back({.rule = conformance::FindingRule::note,
                                 .tensor = {},
                                 .fact = {FactKind::inputs_of_file, replaced_}});
    if (report.verdict == Verdict::nonconformant_statistical) {
      report.verdict = {report.verdict.rule(), Ground::likely, report.verdict.fact};
      result.unconfirmed.emplace_back(
          "the failure is statistical; only a retry with the kernel could confirm it");
    }
    settle_determinism(name, actual, numerics, result);
    return result;
  }

  /// Compares the memory order of the inputs in the file with the order that the kernel declares.
  /// If they differ, returns a note for the report.
  std::optional<Fact> other_places(const spec::Numerics& numerics) const {
    using Suite = conformance::Suite<Op>;
    const auto declared = Suite::as_declared(case_.problem, case_.entry_point, numerics);
    if (declared == case_.problem) return std::nullopt;
    return Fact(FactKind::inputs_in_other_order, Suite::place_of_inputs(declared));
  }

  /// The documentation contradicts itself about the memory order of some inputs. If the numbers in
  /// the report `first` are wrong and the kernel declares no order, judges the outputs again with
  /// each other order. Returns `first` unless one of these orders fits.
  CaseReport read_otherwise(CaseReport first, const typename Op::Outputs& outputs,
                            const spec::Numerics& numerics) {
    using Suite = conformance::Suite<Op>;
    if (!conformance::are_numbers_wrong(first.verdict)) return first;
    for (const conformance::OtherReading& reading : Suite::other_readings(case_, numerics)) {
      conformance::Case<Op> other = case_;
      other.track = conformance::Track::bound;
      other.problem = Suite::as_declared(case_.problem, case_.entry_point, reading.numerics);
      conformance::PreparedCase<Op> prepared(other, prepared_->inputs(numerics));
      CaseReport report = prepared.judge(outputs, numerics);
      // Skip this order if the kernel fails with it, too, or if the outputs cannot be judged with
      // it, because the saved softmax statistics do not fit.
      if (contribution(report.verdict) == ExitCode::nonconformant ||
          report.verdict == Verdict::not_applicable)
        continue;
      const bool conforms = contribution(report.verdict) == ExitCode::conformant;
      const Fact fact(conforms ? FactKind::conforms_if : FactKind::may_conform_if, reading.order);
      first.verdict = {Rule::undeclared_order,
                       conforms ? Ground::fits_otherwise : Ground::may_fit_otherwise,
                       {FactKind::with_order_of_case, evidence_of(first), fact}};
      if (conforms) first.tensors = report.tensors, first.findings.clear();
      first.findings.push_back({.rule = conformance::FindingRule::note, .fact = fact});
      return first;
    }
    return first;
  }

  Judged without_judgement(const std::string& name, Decision decision) const {
    Judged result{.report = conformance::blank_report(case_), .unconfirmed = {}};
    result.report.implementation = name;
    result.report.outputs_file = options_.file;
    result.report.findings.push_back(
        {.rule = conformance::FindingRule::note, .tensor = {}, .fact = decision.fact});
    result.report.verdict = std::move(decision);
    return result;
  }

  /// Explains why the stored inputs differ from those that the case generates for these numerics
  /// (rounding behaviour). Only inputs with exactly known results depend on the numerics. Errors:
  /// std::invalid_argument if other inputs differ: the file was changed.
  std::optional<Fact> other_inputs(const spec::Numerics& numerics) {
    if (options_.given_inputs) return std::nullopt;
    const auto inputs = conformance::named_tensors(prepared_->inputs(numerics));
    for (const auto& [name, tensor] : inputs) {
      const auto stored = record_.digests.find(name);
      if (stored != record_.digests.end() && stored->second != fixtures::digest(tensor))
        return mismatch(name, stored->second, fixtures::digest(tensor));
    }
    return std::nullopt;
  }

  Fact mismatch(const std::string& name, const std::string& stored, const std::string& made) const {
    if (case_.track == conformance::Track::bound)
      throw std::invalid_argument(fmt::format(
          "input '{}' has digest {}, but the replay line gives {}", name, stored, made));
    return {FactKind::inputs_of_other_numerics, name, stored, made};
  }

  void settle_determinism(const std::string& name, const fixtures::Actual& actual,
                          const spec::Numerics& numerics, Judged& result) const {
    const auto second = record_.actual.find(name + std::string(second_run));
    if (second == record_.actual.end()) {
      result.unconfirmed.insert(result.unconfirmed.begin(), "determinism");
      return;
    }
    for (const auto& [tensor, first_run] : actual.outputs)
      for (const auto& other : second->second.outputs)
        if (other.name == tensor && fixtures::digest(other.tensor) != fixtures::digest(first_run))
          differs(tensor, numerics, result.report);
  }

  static void differs(const std::string& tensor, const spec::Numerics& numerics,
                      CaseReport& report) {
    if (numerics.order != spec::Order::fixed) return;
    report.findings.push_back({.rule = conformance::FindingRule::determinism, .tensor = tensor});
    if (conformance::contribution(report.verdict) == ExitCode::conformant)
      report.verdict = {Rule::determinism, {}};
  }

  const CheckOptions& options_;
  std::string replaced_;  ///< names of the inputs that differ from those of the replay line
  fixtures::CaseRecord record_;
  conformance::Case<Op> case_;
  std::optional<conformance::PreparedCase<Op>> prepared_;
};

std::string verdict_json(const Judged& judged) {
  auto json = nlohmann::ordered_json::parse(conformance::to_json(judged.report));
  json["unconfirmed"] = judged.unconfirmed;
  return json.dump();
}

/// The verdicts on the outputs in one file, sorted by implementation.
struct Verdicts {
  conformance::Results results;
  std::map<std::string, fixtures::Verdicts> json;
  std::map<std::string, std::int64_t> unconfirmed;
};

/// Adds a report for outputs that cannot be judged, so that the other outputs of the file are still
/// judged.
void refuse(const CheckOptions& options, CaseReport report, const std::string& name,
            const std::string& why, Verdicts& verdicts) {
  report.implementation = name;
  report.outputs_file = options.file;
  const Fact fact(FactKind::quoted, why);
  report.verdict = {Rule::stored_case, fact};
  report.findings.push_back({.rule = conformance::FindingRule::note, .fact = fact});
  report = printable(std::move(report));
  conformance::count(verdicts.results.summary, report);
  verdicts.results.cases.push_back(std::move(report));
}

template <class Op>
void judge_case(const CheckOptions& options, fixtures::CaseRecord record, Verdicts& verdicts) {
  FileJudge<Op> judge(options, std::move(record));
  for (const auto& [name, actual] : judge.record().actual) {
    if (!options.implementation.empty() && options.implementation != name) continue;
    std::optional<Judged> saved = judge.judge_saved_values(name, actual);
    if (saved) {
      conformance::count(verdicts.results.summary, saved->report);
      verdicts.results.cases.push_back(printable(std::move(saved->report)));
      if (actual.outputs.empty()) continue;  // only the results of the forward are judged
    }
    Judged judged;
    try {
      judged = judge.judge(name, actual);
    } catch (const UsageError& error) {
      CaseReport report;
      report.id = judge.record().id;
      report.operator_name = Op::name;
      report.command_line = judge.record().command;
      refuse(options, std::move(report), name, error.what(), verdicts);
      continue;
    }
    judged.report = printable(std::move(judged.report));
    conformance::count(verdicts.results.summary, judged.report);
    verdicts.json[name].emplace_back(judge.record().id, verdict_json(judged));
    for (const std::string& item : judged.unconfirmed) ++verdicts.unconfirmed[item];
    verdicts.results.cases.push_back(judged.report);
  }
}

/// Computes the expected contents of a stored case from its replay line. Errors: the errors of an
/// invalid line, and StoreError for a damaged case.
fixtures::Expectation expectation(const CheckOptions& options, const fixtures::CaseRecord& head) {
  const std::string where = fmt::format("{}:/cases/{}", options.file, head.id);
  if (head.operator_name.empty()) throw UsageError(where + " names no operator");
  fixtures::Expectation expected;
  with_operators(head.operator_name, [&]<class Op> {
    const auto c = conformance::parse_case<Op>(conformance::case_words(head.command, Op::name));
    require_undamaged(head, c, where);
    expected = expectation_of(c);
    expected.whole = true;
  });
  return expected;
}

/// Returns the ids of the cases to judge: the selected case, or all cases of the file. Errors:
/// UsageError if the file contains no such case.
std::vector<std::string> ids_to_judge(const CheckOptions& options, const fixtures::Reader& reader) {
  std::vector<std::string> ids = reading([&] { return reader.ids(); });
  if (options.id.empty()) return ids;
  if (std::ranges::find(ids, options.id) == ids.end())
    throw UsageError(fmt::format("--case is '{}'; expected one of the {} of {}, such as '{}'",
                                 options.id, conformance::counted(std::ssize(ids), "case"),
                                 options.file, ids.empty() ? "" : ids.front()));
  return {options.id};
}

Verdicts judge_file(const CheckOptions& options, const Context& context) {
  Verdicts verdicts;
  const fixtures::Reader reader =
      reading([&] { return fixtures::Reader(options.file, fixtures::Origin::foreign); });
  const auto expect = [&](const fixtures::CaseRecord& head) { return expectation(options, head); };
  const std::vector<std::string> ids = ids_to_judge(options, reader);
  Waiting waiting(context, {.what = "check", .cases = std::ssize(ids)});
  std::int64_t done = 0;
  for (const std::string& id : ids) {
    if (context.stop) throw Stopped(options.file);
    waiting.done(done++);
    CaseReport unread;
    unread.id = id;
    try {
      fixtures::CaseRecord record = reading([&] { return reader.read(id, expect); });
      if (record.actual.empty()) continue;
      const std::string name = record.operator_name;
      with_operators(name, [&]<class Op> { judge_case<Op>(options, std::move(record), verdicts); });
    } catch (const UsageError& error) {
      refuse(options, unread, options.implementation, error.what(), verdicts);
    } catch (const std::invalid_argument& error) {
      refuse(options, unread, options.implementation,
             fmt::format("{}:/cases/{}, attribute command: {}", options.file, id, error.what()),
             verdicts);
    }
  }
  return verdicts;
}

bool is_store(const std::string& file) {
  return reading([&] { return fixtures::Reader(file, fixtures::Origin::foreign).kind(); }) ==
         fixtures::CaseFileKind::store;
}

std::vector<Destination> texts(const CheckOptions& options) {
  return {{"--report", options.report, TextKind::report},
          {"--html", options.html, TextKind::page},
          {"--junit", options.junit, TextKind::junit}};
}

void write_reports(const CheckOptions& options, const conformance::Results& results,
                   Deliveries& deliveries, const Context& context) {
  if (const auto write = deliveries.guarded("--report", sink(options.report, context)))
    write(conformance::to_json(results));
  if (const auto write = deliveries.guarded("--html", sink(options.html, context)))
    write(dashboard_page(results, context));
  if (options.junit.empty()) return;
  conformance::JunitListener junit(deliveries.guarded("--junit", sink(options.junit, context)),
                                   results.environment.program);
  for (std::size_t k = 0; k < results.cases.size(); ++k)
    junit.on_case(results.cases[k], static_cast<std::int64_t>(k));
  junit.on_end(results.summary);
}

/// Judges the outputs in the file. The result also describes the run.
Verdicts judged_file(const CheckOptions& options, const Context& context) {
  const auto start = std::chrono::steady_clock::now();
  stop_on_signals();
  Verdicts verdicts = judge_file(options, context);
  die_on_signals();
  std::vector<std::string> names;
  for (const auto& [name, json] : verdicts.json) names.push_back(conformance::printable(name));
  conformance::Summary& summary = verdicts.results.summary;
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.implementation = joined(names);
  summary.planned = summary.cases;
  verdicts.results.environment = {.tool_version = build_facts().version,
                                  .compiler = build_facts().compiler,
                                  .command_line = context.command_line,
                                  .implementation = summary.implementation,
                                  .program = context.program,
                                  .started = {},
                                  .numerics = {}};
  return verdicts;
}

/// Reports that the file contains no outputs to judge.
ExitCode refuse_empty(const CheckOptions& options, const Context& context) {
  context.err << fmt::format(
      "assay: {} contains no outputs{} under /cases/<id>/actual; nothing was judged{}\n",
      conformance::printable(options.file),
      options.implementation.empty() ? "" : " of '" + options.implementation + "'",
      is_store(options.file)
          ? ". It is the store of a sweep: 'assay report' shows the report.json of that sweep; "
            "to write a file for outputs, use 'assay export cases.h5'"
          : "");
  return ExitCode::not_conclusive;
}

/// Writes the verdicts into the file, and prints which cases got no verdict.
void store_verdicts(const CheckOptions& options, Verdicts& verdicts, Deliveries& deliveries,
                    const Context& context) {
  const auto waits = [&] {
    context.err << fmt::format("assay: {} is in use by another process; waiting for it\n",
                               conformance::printable(options.file))
                << std::flush;
  };
  std::vector<std::string> left_out;
  if (!verdicts.json.empty())
    deliveries.attempt(options.file, [&] {
      left_out = fixtures::write_verdicts(options.file, verdicts.json, waits);
    });
  for (const std::string& text : left_out)
    context.err << fmt::format("assay: {}\n", conformance::printable(text));
  for (const CaseReport& report : verdicts.results.cases)
    if (report.verdict == Verdict::usage_error)
      context.err << fmt::format("assay: {}\n", sentence_of(report.findings.front(), report));
  if (!left_out.empty()) verdicts.results.summary.ends_with = ExitCode::usage;
}

ExitCode check(const CheckOptions& options, const Context& context) {
  require_writable(texts(options), {{"file", options.file}}, options.replace);
  const Context output = context_for(texts(options), context);
  Verdicts verdicts = judged_file(options, context);
  const conformance::Results& results = verdicts.results;
  if (results.cases.empty()) return refuse_empty(options, context);
  Deliveries deliveries;
  store_verdicts(options, verdicts, deliveries, context);
  print_results(results, context.typed, Detail::whole, output.out);
  write_reports(options, results, deliveries, context);
  output.out << "\nnot checked, because a file alone cannot show it:\n";
  for (const auto& [item, count] : verdicts.unconfirmed)
    output.out << fmt::format("  {} ({})\n", item, conformance::counted(count, "case"));
  const ExitCode code = deliveries.conclude(
      results.summary.ends_with.value_or(results.summary.exit_code()), context.err);
  output.out << '\n' << conclusion(results, code) << '\n';
  return code;
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .summary = "judge outputs that a kernel has added to an exported file",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto options = std::make_shared<CheckOptions>();
            app.add_option("file", options->file,
                           "HDF5 file with /cases/<id>/actual/<implementation>/<output>")
                ->required();
            app.add_option("--implementation", options->implementation,
                           "judge only the outputs of this implementation");
            app.add_option("--case", options->id, "judge only this case, by its id");
            add_numerics(app, options->numerics,
                         "numerics of the outputs, if the file does not state them: a preset, or "
                         "PRESET,field=value");
            app.add_flag(
                "--given-inputs", options->given_inputs,
                "use the inputs in the file, such as values that a forward saved; without this "
                "flag, inputs that differ from those of the replay line are an error");
            app.add_option("--report", options->report, "report as JSON");
            app.add_option("--html", options->html,
                           "HTML file for the report: one page with "
                           "charts");
            app.add_option("--junit", options->junit, "report as JUnit XML");
            declare_force(app, options->replace);
            return [options](const Context& context) { return check(*options, context); };
          }};
}

}  // namespace assay::cli

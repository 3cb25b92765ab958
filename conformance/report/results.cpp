#include "assay/conformance/report/results.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>
#include <set>
#include <utility>

#include "assay/conformance/case/shell_word.hpp"
#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/conformance/result/regimes.hpp"
#include "assay/spec/numerics/limits.hpp"
#include "report/json_text.hpp"

namespace assay::conformance {
namespace {

using detail::Json;

Json json_of(const std::vector<WorstError>& worst) {
  Json object = Json::object();
  for (const WorstError& error : worst)
    object[error.tensor] = {{"ratio", detail::json_of(error.ratio)},
                            {"case", error.case_id},
                            {"command_line", error.command_line},
                            {"where", detail::json_of(error.where)}};
  return object;
}

Json json_of(const std::vector<Cause>& causes, const std::vector<CaseReport>& cases) {
  Json list = Json::array();
  for (const Cause& cause : causes) {
    Json object = {{"pattern", pattern_text(cause, cases)},
                   {"outputs", cause.outputs},
                   {"refuses_nothing", cause.refuses_nothing},
                   {"verdict", spec::to_string(cause.verdict)},
                   {"decided_by", spec::to_string(cause.rule)},
                   {"decided", cause.decided},
                   {"least_error", detail::json_of(cause.least_error)},
                   {"largest_error", detail::json_of(cause.largest_error)},
                   {"stage", cause.stage},
                   {"fields", term_texts(cause)},
                   {"terms", detail::json_of(cause.terms)},
                   {"others", cause.others},
                   {"example", cause.example},
                   {"line", cause.line},
                   {"cases", cause.cases}};
    if (cause.deviation) object["deviation"] = detail::json_of(*cause.deviation);
    if (cause.places) object["places"] = detail::json_of(*cause.places);
    if (cause.wrong) object["wrong"] = spec::to_string(*cause.wrong);
    list.push_back(std::move(object));
  }
  return list;
}

Json json_of(const std::vector<Regime>& regimes) {
  Json list = Json::array();
  for (const Regime& regime : regimes)
    list.push_back({{"operator", regime.operator_name},
                    {"name", regime.name},
                    {"cases", regime.cases},
                    {"failing", regime.failing},
                    {"not_with", regime.not_with}});
  return list;
}

Json json_of(const Environment& environment, double seconds) {
  Json object = detail::json_of(environment);
  object["program"] = environment.program;
  object["fresh_seed"] = environment.fresh_seed;
  object["seconds"] = seconds;
  Json by_dtype = Json::object();
  for (const auto& [dtype, numerics] : environment.numerics)
    by_dtype[dtype] = detail::parse(numerics, "numerics of " + dtype);
  object["numerics"] = std::move(by_dtype);
  return object;
}

Json certified(const Certainty& certainty) {
  Json rungs = detail::json_of(certainty);
  Json largest = rungs["largest_radius_over_tau"];
  rungs.erase("largest_radius_over_tau");
  return {{"share", certainty.share()},
          {"rungs", std::move(rungs)},
          {"largest_radius_over_tau", std::move(largest)}};
}

Json json_of(const Summary& summary, const std::vector<CaseReport>& cases) {
  Json verdicts = Json::object();
  for (const auto& [verdict, count] : summary.verdicts)
    verdicts[std::string(spec::to_string(verdict))] = count;
  return {{"cases", summary.cases},
          {"planned", summary.planned},
          {"value_cases", summary.value_cases},
          {"seconds", summary.seconds},
          {"rows_judged", {{"judged", summary.rows_judged}, {"of", summary.rows_total}}},
          {"certified", certified(summary.certainty)},
          {"interrupted", summary.interrupted},
          {"exit_code", static_cast<int>(summary.ends_with.value_or(summary.exit_code()))},
          {"verdicts", std::move(verdicts)},
          {"requirements",
           {{"total", summary.requirements.requirements.size()},
            {"accepted", summary.requirements.accepted()},
            {"rejected", summary.requirements.rejected()},
            {"unexercised", summary.requirements.unexercised()},
            {"requirements", detail::json_of(summary.requirements.requirements)}}},
          {"pairs",
           {{"total", summary.pairs.cells.size()},
            {"admissible", summary.pairs.admissible()},
            {"covered", summary.pairs.covered()},
            {"unreachable", summary.pairs.unreachable()},
            {"uncovered", summary.pairs.uncovered()}}},
          {"triples",
           {{"admissible", summary.pairs.admissible_triples()},
            {"covered", summary.pairs.covered_triples()}}},
          {"worst", json_of(worst_errors(cases))}};
}

/// Quotes all replay lines (texts of cases), so that a user can paste them into a shell.
void make_pasteable(Results& results) {
  std::string& program = results.environment.program;
  program = pasteable_word(program);
  for (ShrunkCase& one : results.shrunk)
    for (std::string* line : {&one.command_line, &one.shrunk}) *line = pasteable_words(*line);
  for (CaseReport& report : results.cases)
    report.command_line = pasteable_words(report.command_line);
}

/// Replaces unprintable characters in all texts, because the file may come from another program.
void make_printable(Results& results) {
  Environment& environment = results.environment;
  std::vector<std::string*> texts = {&environment.tool_version, &environment.compiler,
                                     &environment.command_line, &environment.implementation,
                                     &environment.program,      &environment.started};
  for (ShrunkCase& one : results.shrunk) {
    texts.insert(texts.end(), {&one.id, &one.command_line, &one.shrunk, &one.declared});
    for (auto& [name, value] : one.fields) texts.insert(texts.end(), {&name, &value});
    for (std::string& tensor : one.failed) texts.push_back(&tensor);
    for (std::string& field : one.untried) texts.push_back(&field);
  }
  if (results.shard) {
    texts.insert(texts.end(), {&results.shard->program, &results.shard->plan});
    for (std::string& name : results.shard->operators) texts.push_back(&name);
    for (std::string& id : results.shard->ids) texts.push_back(&id);
  }
  for (std::string* text : texts) *text = printable(*text);
  for (CaseReport& report : results.cases) report = printable(std::move(report));
  make_pasteable(results);
}

Summary summary_from(const Json& json, const std::string& where) {
  Summary summary;
  detail::read_member(json, where, "planned", summary.planned);
  detail::read_member(json, where, "cases", summary.cases);
  detail::read_member(json, where, "value_cases", summary.value_cases);
  detail::read_member(json, where, "interrupted", summary.interrupted);
  if (json.contains("exit_code")) {
    int code = 0;
    detail::read_member(json, where, "exit_code", code);
    if (code < 0 || code > static_cast<int>(ExitCode::not_conclusive))
      detail::wrong(where + ".exit_code", json["exit_code"], "an integer from 0 to 3");
    summary.ends_with = static_cast<ExitCode>(code);
  }
  std::vector<std::pair<std::string, std::int64_t>> verdicts;
  detail::read_member(json, where, "verdicts", verdicts);
  for (const auto& [name, count] : verdicts) {
    Verdict verdict{};
    detail::read(Json(name), where + ".verdicts", verdict);
    summary.verdicts[verdict] = count;
  }
  if (!json.contains("requirements"))
    throw std::invalid_argument(where + " has no member 'requirements'");
  detail::read_member(json["requirements"], where + ".requirements", "requirements",
                      summary.requirements.requirements);
  for (auto& requirement : summary.requirements.requirements) {
    requirement.id = printable(requirement.id);
    requirement.reason = printable(requirement.reason);
    for (auto& way : requirement.ways) way.name = printable(way.name);
  }
  return summary;
}

}  // namespace

std::vector<WorstError> worst_errors(const std::vector<CaseReport>& cases) {
  std::vector<WorstError> worst;
  for (const CaseReport& report : cases)
    for (const TensorReport& tensor : report.tensors) {
      if (tensor.elements_judged == 0) continue;
      auto entry = std::ranges::find(worst, tensor.name, &WorstError::tensor);
      const bool first = entry == worst.end();
      if (first) entry = worst.insert(entry, WorstError{.tensor = tensor.name});
      // A NaN counts as the largest ratio.
      if (!first && !(tensor.worst > entry->ratio) && !std::isnan(tensor.worst)) continue;
      *entry = {tensor.name,         tensor.worst,          report.id,
                report.command_line, report.implementation, tensor.worst_at};
    }
  return worst;
}

std::string fault_of(const CaseReport& report) {
  std::string fault =
      std::string(spec::to_string(report.verdict.value())) + ' ' + report.violated_requirement;
  if (!report.findings.empty())
    fault += ' ' + std::string(spec::to_string(report.findings.front().rule)) + ' ' +
             report.findings.front().tensor;
  return fault;
}

namespace {

/// Describes how the outputs deviate from the expected values, without numbers that differ between
/// cases.
std::string kind_of_deviation(const CaseReport& report) {
  const auto& pattern = report.findings.front().pattern;
  if (!pattern || pattern->deviation.kind == DeviationKind::none) return {};
  return std::string(spec::to_string(pattern->deviation.kind)) +
         (pattern->deviation.shift < 0 ? " before" : "");
}

bool can_be_reduced(const CaseReport& report) {
  return contribution(report.verdict) == ExitCode::nonconformant &&
         report.violated_requirement.empty() && !report.findings.empty() &&
         report.findings.front().rule != FindingRule::repeat;
}

}  // namespace

std::vector<const CaseReport*> others_of_cause(const std::vector<CaseReport>& cases,
                                               const std::vector<Cause>& causes,
                                               const CaseReport& failing) {
  const auto cause = std::ranges::find_if(causes, [&](const Cause& one) {
    return std::ranges::find(one.cases, failing.id) != one.cases.end();
  });
  if (cause == causes.end()) return {};
  const std::set<std::string_view> ids(cause->cases.begin(), cause->cases.end());
  std::vector<const CaseReport*> others;
  for (const CaseReport& report : cases)
    if (&report != &failing && ids.contains(report.id) && can_be_reduced(report) &&
        report.operator_name == failing.operator_name && report.value_case)
      others.push_back(&report);
  std::ranges::stable_sort(others, {}, &CaseReport::seconds_total);
  return others;
}

std::vector<const CaseReport*> first_faults(const std::vector<CaseReport>& cases,
                                            std::int64_t most) {
  std::vector<const CaseReport*> first, first_relations;
  std::set<std::string> faults, relations;
  for (const CaseReport& report : cases) {
    if (!can_be_reduced(report)) continue;
    const std::string fault = fault_of(report);
    const bool is_new = relations.insert(fault + kind_of_deviation(report)).second;
    if (faults.insert(fault).second)
      first.push_back(&report);
    else if (is_new)
      first_relations.push_back(&report);
  }
  first.insert(first.end(), first_relations.begin(), first_relations.end());
  first.resize(std::min(first.size(), static_cast<std::size_t>(most)));
  return first;
}

std::string replay_command(const CaseReport& report, const std::string& program) {
  if (report.outputs_file)
    return program + " check " + shell_word(*report.outputs_file) +
           " --implementation=" + shell_word(report.implementation) + " --case=" + report.id;
  constexpr std::string_view own = "assay";
  const std::string& kernel = report.pair ? report.pair->gradient : report.implementation;
  return program + replay_command(report.command_line, kernel).substr(own.size()) +
         (report.pair ? " --forward=" + shell_word(report.pair->forward) : "");
}

std::string to_json(const CaseReport& report) {
  return detail::text_of(detail::json_of(with_sentences(report)));
}

std::string to_json(const spec::Numerics& numerics) {
  return detail::text_of(detail::json_of(numerics));
}

std::string to_json(const Results& results) {
  Json head = {{"schema", report_schema},
               {"environment", json_of(results.environment, results.summary.seconds)},
               {"summary", json_of(results.summary, results.cases)},
               {"shrunk", detail::json_of(results.shrunk)},
               {"causes", json_of(causes_of(results.cases, results.shrunk), results.cases)},
               {"regimes", json_of(regimes_of(results.cases))}};
  if (results.shard) head["shard"] = detail::json_of(*results.shard);
  std::string text = detail::text_of(head, 1);
  text.resize(text.rfind('}'));  // the JSON object stays open, because the cases follow
  text.resize(text.find_last_not_of('\n') + 1);
  text += ",\n \"cases\": [";
  // Write one line per case, so that line-based tools such as grep can search a large report.
  for (std::size_t k = 0; k < results.cases.size(); ++k)
    text += (k == 0 ? "\n" : ",\n") + to_json(results.cases[k]);
  return text + "\n]}\n";
}

CaseReport report_from_json(const std::string& json) {
  CaseReport report;
  detail::read(detail::parse(json, "report of a case"), "case", report);
  report = printable(std::move(report));
  report.command_line = pasteable_words(report.command_line);
  return report;
}

namespace {

/// Parses a report. The cases are parsed one at a time, removed from the JSON tree and appended to
/// `cases`, because the tree of a large report would take several times the memory of its text.
Json parse_report(const std::string& text, std::vector<CaseReport>& cases) {
  using Event = Json::parse_event_t;
  bool within_cases = false;
  return detail::parse(text, "report", [&](int depth, Event event, const Json& parsed) {
    if (depth == 1 && event == Event::key) within_cases = parsed == "cases";
    if (!within_cases || depth != 2 || event == Event::key) return true;
    if (event == Event::object_start || event == Event::array_start) return true;
    const std::string where = "report.cases[" + std::to_string(cases.size()) + "]";
    detail::read(parsed, where, cases.emplace_back());
    return false;
  });
}

}  // namespace

Results results_from_json(const std::string& text) {
  Results results;
  const Json json = parse_report(text, results.cases);
  std::string schema;
  detail::read_member(json, "report", "schema", schema);
  if (schema != report_schema)
    throw std::invalid_argument("report has schema '" + schema + "'; expected '" +
                                std::string(report_schema) + "'");
  detail::read_member(json, "report", "environment", results.environment);
  const Json& environment = json.at("environment");
  detail::read_member(environment, "report.environment", "seconds", results.summary.seconds);
  if (environment.contains("numerics"))
    for (const auto& [dtype, numerics] : environment["numerics"].items())
      results.environment.numerics[dtype] = numerics.dump();
  if (!json.contains("cases")) throw std::invalid_argument("report has no member 'cases'");
  if (!json["cases"].is_array()) detail::wrong("report.cases", json["cases"], "an array");
  detail::read_member(environment, "report.environment", "program", results.environment.program);
  detail::read_member(environment, "report.environment", "fresh_seed",
                      results.environment.fresh_seed);
  detail::read_member(json, "report", "shrunk", results.shrunk);
  if (json.contains("shard")) detail::read(json["shard"], "report.shard", results.shard.emplace());
  make_printable(results);
  if (!json.contains("summary")) throw std::invalid_argument("report has no member 'summary'");
  const double seconds = results.summary.seconds;
  results.summary = summary_from(json["summary"], "report.summary");
  results.summary.seconds = seconds;
  results.summary.implementation = results.environment.implementation;
  complete(results.summary.requirements);
  results.summary.pairs = pair_coverage_of(results.summary.requirements);
  for (const CaseReport& report : results.cases) {
    count_tensors(results.summary, report);
    take_ways(results.summary.requirements, report);
    take_entry_point(results.summary.requirements, report);
    if (report.verdict == Verdict::conforms && report.value_case)
      cover(results.summary.pairs, report);
  }
  return results;
}

spec::Numerics numerics_from_json(const std::string& text, spec::DType io,
                                  std::string_view operator_name) {
  const Json json = detail::parse(text, "numerics");
  if (!json.is_object()) detail::wrong("numerics", json, "an object");
  spec::Numerics numerics;
  if (const auto preset = json.find("preset"); preset != json.end()) {
    std::string name;
    detail::read(*preset, "numerics.preset", name);
    numerics = spec::numerics_preset(name, io, operator_name);
  }
  std::vector<std::string> known = {"preset"};
  detail::visit_members(numerics, [&](const char* name, auto& member) {
    known.emplace_back(name);
    if (!json.contains(name)) return;
    detail::read_member(json, "numerics", name, member);
    if constexpr (std::same_as<std::decay_t<decltype(member)>, double>)
      if (!spec::is_share(member))
        detail::wrong("numerics." + std::string(name), json[name], spec::share_choices);
    if constexpr (std::same_as<std::decay_t<decltype(member)>, spec::DType>)
      if (!spec::is_rounded_to(member))
        detail::wrong("numerics." + std::string(name), json[name], spec::rounded_to_choices);
  });
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string choices;
    for (const std::string& field : known) choices += (choices.empty() ? "" : ", ") + field;
    throw std::invalid_argument("numerics has no field '" + name + "'; the fields are " + choices);
  }
  return numerics;
}

}  // namespace assay::conformance

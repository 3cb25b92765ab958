#include "assay/mutants/kill_table.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/operators.hpp"
#include "yardsticks.hpp"

namespace assay::mutants {
namespace {

using conformance::Case;
using conformance::CaseReport;
using conformance::ExitCode;
using conformance::Track;

template <class Op>
Subject subject_of(const Case<Op>& c) {
  if (c.track == Track::arguments) return Subject::arguments;
  return c.track == Track::relation ? Subject::forward : Subject::numbers;
}

bool is_judged(const CaseReport& report) {
  return report.verdict != conformance::Verdict::not_applicable;
}

/// The report of one case, and the verdicts of the accuracy rules of other projects.
struct Judged {
  CaseReport report;
  std::vector<bool> fails;  ///< empty if the rules were not evaluated
};

/// Judges all mutants on one case, in their order. A mutant that needs other cases has no entry in
/// the result.
template <class Op>
std::vector<std::optional<Judged>> judge_all(const Case<Op>& c,
                                             const std::vector<MutantOf<Op>>& mutants,
                                             const MutantOf<Op>* plain) {
  std::vector<std::optional<Judged>> all(mutants.size());
  std::optional<conformance::PreparedCase<Op>> prepared;
  if (subject_of(c) == Subject::numbers) prepared.emplace(c);
  const auto report_of = [&](const MutantOf<Op>& mutant) {
    const auto implementation = mutant.make();
    return prepared ? conformance::judge_case(*prepared, *implementation)
                    : conformance::judge_case(c, *implementation);
  };
  std::optional<CaseReport> of_plain;
  if (plain != nullptr && c.track == Track::bound) of_plain = report_of(*plain);
  for (std::size_t k = 0; k < mutants.size(); ++k) {
    if (mutants[k].subject != subject_of(c)) continue;
    all[k].emplace(Judged{report_of(mutants[k]), {}});
    if (of_plain && is_judged(all[k]->report)) all[k]->fails = failed_by(all[k]->report, *of_plain);
  }
  return all;
}

void count_failure(KillRow& row, const CaseReport& report) {
  ++row.failed;
  std::set<std::string> rules;  // rules that report a failure
  for (const conformance::Finding& finding : report.findings)
    if (finding.rule != conformance::FindingRule::note &&
        finding.rule != conformance::FindingRule::control)
      rules.emplace(spec::to_string(finding.rule));
  if (rules.empty() || report.verdict == conformance::Verdict::crash) rules = {"status"};
  ++row.caught_by[rules.size() == 1 ? *rules.begin() : "several"];
  if (row.failed > 1) return;
  row.replay = report.command_line;
  for (const conformance::Finding& finding : report.findings)
    if (row.text.empty() && finding.rule != conformance::FindingRule::note)
      row.text = sentence_of(finding, report);
}

void count_fails(KillRow& row, const std::vector<bool>& fails) {
  row.fails.resize(std::max(row.fails.size(), fails.size()));
  for (std::size_t k = 0; k < fails.size(); ++k) row.fails[k] = row.fails[k] || fails[k];
}

/// Adds a judged case to the count of cases up to the first failure. Call this function before the
/// case is counted as failed.
void count_way_to_kill(KillRow& row, const CaseReport& report) {
  if (row.failed > 0) return;
  row.seconds_to_kill += report.seconds_total;
  if (contribution(report.verdict) == ExitCode::nonconformant) row.cases_to_kill = row.cases;
}

void count(KillRow& row, const CaseReport& report, Track track) {
  ++row.verdicts[report.verdict];
  if (!is_judged(report)) return;
  ++row.cases;
  count_way_to_kill(row, report);
  TrackCount& of_track = row.by_track[std::string(spec::to_string(track))];
  ++of_track.cases;
  of_track.failed += contribution(report.verdict) == ExitCode::nonconformant ? 1 : 0;
  for (const conformance::TensorReport& tensor : report.tensors)
    row.worst = std::max(row.worst, tensor.worst);
  if (contribution(report.verdict) == ExitCode::nonconformant) count_failure(row, report);
}

/// Judges all mutants on the cases in parallel. Each case is prepared and judged by one thread.
template <class Op>
class Jury {
 public:
  Jury(const std::vector<MutantOf<Op>>& mutants, const std::vector<Case<Op>>& cases,
       const KillControl& control)
      : mutants_(mutants), cases_(cases), control_(control), reports_(cases.size()) {
    const auto all = mutants::mutants<Op>();
    const auto plain = std::ranges::find_if(all, [](const MutantOf<Op>& one) {
      return one.healthy && one.subject == Subject::numbers;
    });
    if (plain != all.end()) plain_ = *plain;
  }

  /// Judges the cases. Errors: rethrows an exception that a case caused.
  void work(std::int64_t threads) {
    parallel::for_each(
        std::ssize(cases_), [this](std::int64_t k) { judge(static_cast<std::size_t>(k)); },
        threads);
  }
  const std::vector<std::vector<std::optional<Judged>>>& reports() const { return reports_; }
  bool interrupted() const { return done_ < static_cast<std::int64_t>(cases_.size()); }

 private:
  void judge(std::size_t k) {
    if (stopped()) return;
    reports_[k] = judge_all(cases_[k], mutants_, plain_ ? &*plain_ : nullptr);
    const std::scoped_lock lock(mutex_);
    ++done_;
    if (control_.progress) control_.progress(done_, std::ssize(cases_));
  }
  bool stopped() const { return control_.stop != nullptr && control_.stop->load(); }

  const std::vector<MutantOf<Op>>& mutants_;
  const std::vector<Case<Op>>& cases_;
  const KillControl& control_;
  std::optional<MutantOf<Op>> plain_;
  std::vector<std::vector<std::optional<Judged>>> reports_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
};

template <class Op>
Detection detection(const Case<Op>& c, const std::vector<MutantOf<Op>>& mutants,
                    const std::vector<std::optional<Judged>>& reports) {
  Detection result{.operator_name = std::string(Op::name),
                   .replay = conformance::command_line(c),
                   .expected_seconds = conformance::Suite<Op>::expected_cost(c),
                   .mutants = {}};
  for (std::size_t k = 0; k < reports.size(); ++k)
    if (reports[k] && contribution(reports[k]->report.verdict) == ExitCode::nonconformant)
      result.mutants.push_back(mutants[k].name);
  return result;
}

}  // namespace

bool KillRow::as_expected() const {
  if (cases == 0) return false;
  if (!mutant.healthy) return failed > 0;
  return std::ranges::all_of(verdicts, [](const auto& entry) {
    return contribution(entry.first) == ExitCode::conformant;
  });
}

bool KillTable::as_expected() const {
  return !interrupted && !rows.empty() && std::ranges::all_of(rows, &KillRow::as_expected);
}

std::vector<YardstickRow> KillTable::yardsticks() const {
  std::vector<YardstickRow> all;
  for (const std::string& name : yardstick_names()) all.push_back({.name = name});
  for (const KillRow& row : rows) {
    if (row.fails.empty()) continue;
    for (std::size_t k = 0; k < row.fails.size(); ++k) {
      ++(row.mutant.healthy ? all[k].correct_judged : all[k].faults_judged);
      if (row.fails[k]) ++(row.mutant.healthy ? all[k].correct_rejected : all[k].faults_detected);
    }
  }
  return all;
}

template <class Op>
KillTable kill_table(const std::vector<MutantOf<Op>>& all, const std::vector<Case<Op>>& cases,
                     const KillControl& control) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<MutantOf<Op>> mutants = all;
  std::erase_if(mutants, [](const auto& one) { return one.subject == Subject::many_calls; });
  KillTable table = {.cases = static_cast<std::int64_t>(cases.size()),
                     .threads = parallel::thread_count(control.threads)};
  Jury<Op> jury(mutants, cases, control);
  jury.work(table.threads);
  table.interrupted = jury.interrupted();
  for (std::size_t k = 0; k < mutants.size(); ++k) {
    KillRow row = {.mutant = mutants[k].facts()};
    std::vector<CaseReport> judged;
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const auto& reports = jury.reports()[c];
      if (reports.empty() || !reports[k]) continue;
      count(row, reports[k]->report, cases[c].track);
      count_fails(row, reports[k]->fails);
      judged.push_back(reports[k]->report);
    }
    if (const auto causes = conformance::causes_of(judged, {}); !causes.empty())
      row.cause = pattern_text(causes[0], judged) + ' ' + where_text(causes[0]) +
                  (causes[0].stage.empty() ? "" : "; stage: " + causes[0].stage);
    if (row.failed == 0) row.seconds_to_kill = 0;
    table.rows.push_back(std::move(row));
  }
  for (std::size_t c = 0; c < cases.size(); ++c)
    if (!jury.reports()[c].empty())
      table.detections.push_back(detection(cases[c], mutants, jury.reports()[c]));
  table.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return table;
}

namespace {

/// Instantiates the function template kill_table for every operator.
template <class... Ops>
auto kill_tables_of(spec::TypeList<Ops...>) {
  return std::tuple(&kill_table<Ops>...);
}

}  // namespace

extern const auto every_kill_table = kill_tables_of(spec::Operators{});

}  // namespace assay::mutants

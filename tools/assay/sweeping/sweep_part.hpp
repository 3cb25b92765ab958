#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/sweep/shrink.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "assay/conformance/sweep/time_left.hpp"
#include "commands/shrinking.hpp"
#include "flags/choose.hpp"
#include "flags/plan_flags.hpp"
#include "stored/recorder.hpp"
#include "stored/stored_case.hpp"
#include "sweeping/turns.hpp"

namespace assay::cli {

/// A sweep stores the tensors of failing cases only within these limits: at most
/// `evidence_elements` elements of query and key in a case, and at most `evidence_cases` cases of
/// an operator.
inline constexpr std::int64_t evidence_elements = 1 << 20;
inline constexpr int evidence_cases = 8;

/// Approximate memory that a case needs per tensor element (bytes).
inline constexpr std::int64_t bytes_of_element = 32;

/// Returns the size of all tensors of a call, without gaps between elements (bytes).
template <class Op>
std::int64_t bytes_passed(const spec::Call<Op>& call) {
  std::int64_t bytes = 0;
  visit_fields(call.parameters, [&](std::string_view, const auto& passed) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(passed)>, spec::Parameter>)
      if (passed.present) bytes += spec::element_count(passed.shape) * size_of(passed.dtype);
  });
  return bytes;
}

/// The cases of one operator in a sweep, and the implementation that is judged on them.
class SweepPart {
 public:
  virtual ~SweepPart() = default;
  virtual std::string_view operator_name() const = 0;
  virtual std::string implementation() const = 0;
  virtual std::int64_t cases() const = 0;
  virtual std::int64_t left_out() const = 0;                         ///< cases not selected by
                                                                     ///< --only
  virtual std::vector<conformance::ExpectedCost> costs() const = 0;  ///< of each case
  virtual std::string lines() const = 0;                             ///< replay lines
  /// Returns the numerics (rounding behaviour) that the implementation declared: pairs of "operator
  /// dtype" and JSON.
  virtual std::vector<std::pair<std::string, std::string>> numerics() const = 0;
  virtual void append_coverage(conformance::Summary& summary) const = 0;
  /// Returns the id of the case at index `place`.
  virtual std::string id(std::size_t place) const = 0;
  /// Generates the inputs of the case at index `place`, before the kernel is called. Several
  /// threads may call this function at the same time.
  virtual void prepare(std::size_t place) = 0;
  /// Calls the kernel for the case at index `place`. The caller must follow the order of the sweep.
  virtual void call(conformance::Sweep& sweep, std::size_t place) = 0;
  /// Judges the case at index `place` after its call. Several threads may call this function at the
  /// same time.
  virtual void judge(std::size_t place) = 0;
  /// Reports a judged case to the listeners. The caller must follow the order of the calls.
  virtual void conclude(conformance::Sweep& sweep, std::size_t place) = 0;
  /// Returns the estimated memory of a case, in units of `bytes_of_element` bytes. Returns 0 if the
  /// case is not judged numerically.
  virtual std::int64_t weight(std::size_t place) const = 0;
  /// Makes all later calls compute digests of their tensors, which `record` needs. Off by default,
  /// because computing digests takes longer than most calls.
  virtual void keep_digests() = 0;
  /// Returns the record to store for the case that `conclude` is reporting.
  virtual fixtures::CaseRecord record(const conformance::CaseReport& report) = 0;
  /// Finds the smallest case that fails like `failing`. Then searches for a rounding behaviour
  /// (numerics) that would explain the failure of this case and of `others`, the cases with the
  /// same cause. The first search may use half of the time, the second the rest.
  virtual conformance::ShrunkCase shrink(const conformance::CaseReport& failing,
                                         const std::vector<const conformance::CaseReport*>& others,
                                         const conformance::ShrinkBudget& budget) = 0;
};

template <class Op>
class SweepPartOf final : public SweepPart {
 public:
  SweepPartOf(const Registry& registry, const ImplementationFlags& flags, const PlanFlags& plan)
      : policy_(plan.policy),
        planned_(planned_cases<Op>(plan)),
        fresh_([&registry, flags] { return make_implementation<Op>(registry, flags); }),
        implementation_(fresh_()),
        recorder_(*implementation_, implementation_name<Op>(registry, flags)) {}

  std::string_view operator_name() const override { return Op::name; }
  std::string implementation() const override { return recorder_.name(); }
  std::int64_t cases() const override { return std::ssize(planned_.cases); }
  std::int64_t left_out() const override { return planned_.left_out; }

  std::vector<conformance::ExpectedCost> costs() const override {
    std::vector<conformance::ExpectedCost> costs;
    for (const auto& c : planned_.cases)
      costs.push_back({.kind = std::string(Op::name) + ' ' + std::string(spec::to_string(c.track)),
                       .seconds = conformance::Suite<Op>::expected_cost(c)});
    return costs;
  }

  std::string lines() const override {
    std::string lines;
    for (const auto& c : planned_.cases) lines += conformance::command_line(c) + '\n';
    return lines;
  }

  std::vector<std::pair<std::string, std::string>> numerics() const override {
    std::vector<std::pair<std::string, std::string>> profiles;
    for (const auto& c : planned_.cases) {
      if (!spec::is_fp16_bf16_fp32(c.problem.dtype)) continue;
      std::string key = std::string(Op::name) + " " + std::string(spec::to_string(c.problem.dtype));
      if (std::ranges::find(profiles, key, &std::pair<std::string, std::string>::first) !=
          profiles.end())
        continue;
      try {
        profiles.emplace_back(std::move(key), conformance::to_json(recorder_.numerics(c.problem)));
      } catch (...) {  // an error of the kernel is reported with its cases
        return profiles;
      }
    }
    return profiles;
  }

  void append_coverage(conformance::Summary& summary) const override {
    append(summary.requirements, conformance::requirement_coverage<Op>(policy_));
    append(summary.pairs, conformance::pair_coverage<Op>());
  }

  std::string id(std::size_t place) const override {
    return conformance::case_id(conformance::command_line(planned_.cases[place]));
  }

  std::int64_t weight(std::size_t place) const override {
    const conformance::Case<Op>& c = planned_.cases[place];
    if (!c.violate.empty() || c.track == conformance::Track::arguments ||
        c.track == conformance::Track::relation)
      return 0;
    // The second term counts a compressed mask, which needs 4 MiB even if the case is small.
    return conformance::Suite<Op>::tensor_elements(c.problem) +
           bytes_passed(conformance::call_of(c)) / bytes_of_element;
  }

  /// Generates the inputs of a case in advance. Does nothing for a case that needs more memory than
  /// `Turns::most_weight`: such a case runs alone, and call() generates its inputs.
  void prepare(std::size_t place) override {
    const std::int64_t own = weight(place);
    if (own == 0 || own > Turns::most_weight) return;
    const conformance::Case<Op>& c = planned_.cases[place];
    prepared_.make(place, [&] {
      auto made = std::make_unique<conformance::PreparedCase<Op>>(c);
      // Prepares the case for the numerics (rounding behaviour) that the kernel declared last. The
      // call itself queries the numerics for this case.
      if (const auto likely = recorder_.said_of(c.problem.dtype)) made->prepare(*likely);
      return made;
    });
  }

  void call(conformance::Sweep& sweep, std::size_t place) override {
    UnderWay called{
        .swept = sweep.call<Op>(planned_.cases, place, recorder_, prepared_.take(place)),
        .recorded = {}};
    if (keeps_digests_) called.recorded = recorder_.take();
    const std::scoped_lock lock(mutex_);
    under_way_.emplace(place, std::move(called));
  }

  void judge(std::size_t place) override { at(place).swept.judge(); }

  void conclude(conformance::Sweep& sweep, std::size_t place) override {
    UnderWay& judged = at(place);
    concluded_ = std::move(judged.recorded);
    spec::Implementation<Op>& kernel = judged.swept.asks_again() ? other() : recorder_;
    sweep.conclude<Op>(planned_.cases, std::move(judged.swept), kernel, fresh_);
    const std::scoped_lock lock(mutex_);
    under_way_.erase(place);
  }

  void keep_digests() override { keeps_digests_ = true; }

  fixtures::CaseRecord record(const conformance::CaseReport& report) override {
    const auto c = case_of(report);
    const bool small = conformance::Suite<Op>::tensor_elements(c.problem) <= evidence_elements;
    // If the kernel crashed or hung, do not run it again: there are no outputs, and it would
    // probably fail again.
    const bool answered = report.verdict != conformance::Verdict::crash &&
                          report.verdict != conformance::Verdict::timeout;
    if (!report.value_case || without_tensors(c) || !small || evidence_left_ == 0 || !answered ||
        conformance::contribution(report.verdict) != ExitCode::nonconformant) {
      fixtures::CaseRecord record = conformance::recipe(c);
      record.digests = {concluded_.inputs.begin(), concluded_.inputs.end()};
      return record;
    }
    --evidence_left_;
    fixtures::CaseRecord record = conformance::recipe(c);
    try {
      record =
          stored_case(c, other().numerics(c.problem), report.implementation, Contents::tensors);
      add_actual(record, c, other());
    } catch (const std::exception&) {
      record.actual.clear();  // the report of the case describes the failure
    }
    return record;
  }

  conformance::ShrunkCase shrink(const conformance::CaseReport& failing,
                                 const std::vector<const conformance::CaseReport*>& others,
                                 const conformance::ShrinkBudget& budget) override {
    const auto c = case_of(failing);
    std::vector<std::string> untried;
    conformance::ShrinkBudget part = budget;
    part.seconds = budget.seconds / 2;
    const auto start = std::chrono::steady_clock::now();
    const auto result = shrunk(c, failing, recorder_, fresh_, part, untried);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    part.seconds = budget.seconds - spent.count();
    std::vector<conformance::Case<Op>> alike = {c};
    for (const conformance::CaseReport* other : others) alike.push_back(case_of(*other));
    return shrunk_case(failing, result, fitting_numerics(result, alike, recorder_, part),
                       alike.size(), std::move(untried));
  }

 private:
  /// The state of a case between call, judge and conclude.
  struct UnderWay {
    conformance::SweptCase<Op> swept;
    typename Recorder<Op>::Run recorded;  ///< digests of its first call
  };

  UnderWay& at(std::size_t place) {
    const std::scoped_lock lock(mutex_);
    return under_way_.at(place);
  }

  /// Returns a second instance of the kernel for repeated calls. The first instance therefore gets
  /// the same sequence of calls in every sweep.
  Recorder<Op>& other() {
    if (!other_) {
      other_kernel_ = fresh_();
      other_.emplace(*other_kernel_, recorder_.name());
    }
    return *other_;
  }

  static conformance::Case<Op> case_of(const conformance::CaseReport& report) {
    return conformance::parse_case<Op>(conformance::case_words(report.command_line, Op::name));
  }

  spec::Policy policy_;
  Planned<Op> planned_;
  conformance::MakeFresh<Op> fresh_;
  std::unique_ptr<spec::Implementation<Op>> implementation_;
  Recorder<Op> recorder_;
  std::unique_ptr<spec::Implementation<Op>> other_kernel_;
  std::optional<Recorder<Op>> other_;
  bool keeps_digests_ = false;
  int evidence_left_ = evidence_cases;
  std::mutex mutex_;
  std::map<std::size_t, UnderWay> under_way_;
  typename Recorder<Op>::Run concluded_;  ///< run of the case that is being concluded
  PreparedOnce<conformance::PreparedCase<Op>> prepared_;
};

/// Makes the part of a sweep for the operator Op. Returns null if the selected implementation does
/// not support Op; `missing` then contains the reason.
template <class Op>
std::unique_ptr<SweepPart> sweep_part(const Registry& registry, const ImplementationFlags& flags,
                                      const PlanFlags& plan, std::string& missing) {
  if (!is_registered<Op>(registry, flags.name) && !is_foreign<Op>(registry, flags.name)) {
    missing = "no implementation " + (flags.name.empty() ? "" : "'" + flags.name + "' ") + "of " +
              std::string(Op::name) + " is registered";
    return nullptr;
  }
  try {
    return std::make_unique<SweepPartOf<Op>>(registry, flags, plan);
  } catch (const spec::Unsupported& reason) {
    missing = reason.what();
    return nullptr;
  }
}

/// Returns the parts of a sweep, one per operator, in the order of the operator list. If the user
/// named no operator, skips operators that the implementation does not support, and prints a
/// message to `out`. Errors: UsageError for an unknown operator or implementation, or if --only
/// selects no case.
inline std::vector<std::unique_ptr<SweepPart>> sweep_parts(const std::string& operator_name,
                                                           const Registry& registry,
                                                           const ImplementationFlags& flags,
                                                           const PlanFlags& plan,
                                                           std::ostream& out) {
  std::vector<std::unique_ptr<SweepPart>> parts;
  std::int64_t cases = 0, left_out = 0;
  std::string missing;
  with_operators(operator_name, [&]<class Op> {
    auto part = sweep_part<Op>(registry, flags, plan, missing);
    if (!part) {
      if (operator_name.empty()) out << missing << ": the operator is skipped\n";
      return;
    }
    cases += part->cases(), left_out += part->left_out();
    parts.push_back(std::move(part));
  });
  if (parts.empty() && (flags.name.empty() || foreign(flags.name)))
    throw UsageError(missing + (flags.name.empty() ? how_to_give_a_kernel : ""));
  if (parts.empty()) throw unknown_implementation(registry, flags);
  tell_other_operators(operator_name, plan, out);
  require_cases(cases, left_out, plan);
  tell_left_out(cases, left_out, plan, out);
  std::erase_if(parts, [](const auto& part) { return part->cases() == 0; });
  return parts;
}

}  // namespace assay::cli

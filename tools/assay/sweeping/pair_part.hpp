#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/pairs/pair.hpp"
#include "assay/conformance/result/printable.hpp"
#include "sweeping/sweep_part.hpp"

namespace assay::cli {

/// The gradient operators for which Assay also has the forward operator.
template <class Op>
concept HasForward = requires {
  typename conformance::ForwardOf<Op>::Forward;
};

/// The cases of one gradient operator, in a sweep that judges a gradient kernel together with a
/// forward kernel. Each case is called and judged in one step.
template <HasForward Op>
class PairPartOf final : public SweepPart {
  using Forward = typename conformance::ForwardOf<Op>::Forward;

 public:
  /// `of_forward` contains the flags that select the forward kernel.
  PairPartOf(const Registry& registry, const ImplementationFlags& flags,
             const ImplementationFlags& of_forward, const PlanFlags& plan)
      : registry_(registry),
        flags_(flags),
        of_forward_(of_forward),
        policy_(plan.policy),
        planned_(planned_cases<Op>(plan)),
        pair_(made()),
        names_{.forward = implementation_name<Forward>(registry, of_forward),
               .gradient = implementation_name<Op>(registry, flags),
               .parts = {}} {
    const std::size_t all = planned_.cases.size();
    std::erase_if(planned_.cases,
                  [](const auto& c) { return conformance::not_a_pair(c).has_value(); });
    single_ = static_cast<std::int64_t>(all - planned_.cases.size());
  }

  std::string_view operator_name() const override { return Op::name; }
  std::string implementation() const override {
    return names_.gradient + " with the forward " + names_.forward;
  }
  std::int64_t cases() const override { return std::ssize(planned_.cases); }
  std::int64_t left_out() const override { return planned_.left_out; }
  /// Returns the number of planned cases that cannot be judged as a pair.
  std::int64_t single() const { return single_; }

  std::vector<conformance::ExpectedCost> costs() const override {
    std::vector<conformance::ExpectedCost> costs;
    for (const auto& c : planned_.cases)
      costs.push_back({.kind = std::string(Op::name) + " pair",
                       .seconds = 3 * conformance::Suite<Op>::expected_cost(c)});
    return costs;
  }

  std::string lines() const override {
    std::string lines;
    for (const auto& c : planned_.cases) lines += conformance::command_line(c) + '\n';
    return lines;
  }

  std::vector<std::pair<std::string, std::string>> numerics() const override {
    std::map<std::string, std::string> all;
    const auto add = [&](const auto& kernel, const auto& problem, std::string_view name) {
      all.try_emplace(std::string(name) + " " + std::string(spec::to_string(problem.dtype)),
                      conformance::to_json(kernel.numerics(problem)));
    };
    for (const auto& c : planned_.cases) try {
        add(*pair_.gradient, c.problem, Op::name);
        add(*pair_.forward, c.problem, Forward::name);
      } catch (...) {  // an error of the kernel is reported with its cases
        break;
      }
    return {all.begin(), all.end()};
  }

  void append_coverage(conformance::Summary& summary) const override {
    append(summary.requirements, conformance::requirement_coverage<Op>(policy_));
    append(summary.pairs, conformance::pair_coverage<Op>());
  }
  std::string id(std::size_t place) const override {
    return conformance::case_id(conformance::command_line(planned_.cases[place]));
  }
  /// Returns 0: call() also judges the case, so nothing is left for other threads.
  std::int64_t weight(std::size_t) const override { return 0; }
  void prepare(std::size_t) override {}
  void call(conformance::Sweep& sweep, std::size_t place) override {
    earlier_ = sweep.earlier(id(place));
    if (earlier_ == nullptr) report_ = judged(planned_.cases[place], pair_);
  }
  void judge(std::size_t) override {}
  void conclude(conformance::Sweep& sweep, std::size_t) override {
    sweep.conclude(earlier_ != nullptr ? *earlier_ : report_, earlier_ != nullptr);
  }
  void keep_digests() override {}
  fixtures::CaseRecord record(const conformance::CaseReport& report) override {
    return conformance::recipe(case_of(report));
  }

  conformance::ShrunkCase shrink(const conformance::CaseReport& failing,
                                 const std::vector<const conformance::CaseReport*>& others,
                                 const conformance::ShrinkBudget& budget) override {
    const auto c = case_of(failing);
    TriedFields tried(conformance::field_texts(c));
    const conformance::CaseJudge<Op> judge = [&](const conformance::Case<Op>& smaller) {
      tried.add(conformance::field_texts(smaller));
      return judged(smaller, pair_);
    };
    const conformance::CaseJudge<Op> alone = [&](const conformance::Case<Op>& again) {
      return judged(again, made());
    };
    const auto result = conformance::shrink(c, failing, judge, budget, alone);
    using conformance::ShrinkEnd;
    const bool is_whole = result.end == ShrinkEnd::smallest || result.end == ShrinkEnd::unsteady;
    return shrunk_case(failing, result, {}, others.size() + 1,
                       is_whole ? std::vector<std::string>()
                                : tried.untried(conformance::field_texts(conformance::Case<Op>{})));
  }

 private:
  struct Pair {
    std::unique_ptr<spec::Implementation<Forward>> forward;
    std::unique_ptr<spec::Implementation<Op>> gradient;
  };
  Pair made() const {
    return {make_implementation<Forward>(registry_, of_forward_),
            make_implementation<Op>(registry_, flags_)};
  }

  /// Judges a pair of kernels on a case. Shrinking may make a case that the documents of the
  /// forward operator forbid; such a case is not applicable.
  conformance::CaseReport judged(const conformance::Case<Op>& c, const Pair& pair) const {
    auto report = conformance::judge_pair_as_one(c, *pair.forward, *pair.gradient);
    report.implementation = names_.gradient;
    if (!report.pair) report.pair.emplace();
    report.pair->forward = names_.forward, report.pair->gradient = names_.gradient;
    return report;
  }

  static conformance::Case<Op> case_of(const conformance::CaseReport& report) {
    return conformance::parse_case<Op>(conformance::case_words(report.command_line, Op::name));
  }

  const Registry& registry_;
  ImplementationFlags flags_, of_forward_;
  spec::Policy policy_;
  Planned<Op> planned_;
  Pair pair_;
  conformance::OfPair names_;
  std::int64_t single_ = 0;
  const conformance::CaseReport* earlier_ = nullptr;  ///< of the case that was called last
  conformance::CaseReport report_;                    ///< likewise
};

/// Returns the gradient operators of a sweep that judges pairs of kernels. If the user named no
/// operator, skips each operator that one of the kernels does not support, and prints a message to
/// `out`. Errors: UsageError if the named operator is not a gradient, if a kernel is unknown, or if
/// no case can be judged as a pair.
inline std::vector<std::unique_ptr<SweepPart>> pair_parts(
    const std::string& operator_name, const Registry& registry, const ImplementationFlags& flags,
    const std::string& forward, const PlanFlags& plan, std::ostream& out) {
  std::vector<std::unique_ptr<SweepPart>> parts;
  std::int64_t cases = 0, left_out = 0, single = 0;
  ImplementationFlags of_forward = flags;
  of_forward.name = forward, of_forward.flag = "--forward";
  std::string missing;
  with_operators(operator_name, [&]<class Op> {
    if constexpr (HasForward<Op>) {
      try {
        auto part = std::make_unique<PairPartOf<Op>>(registry, flags, of_forward, plan);
        cases += part->cases(), left_out += part->left_out(), single += part->single();
        if (part->cases() > 0) parts.push_back(std::move(part));
        return;
      } catch (const UsageError& reason) {
        if (!operator_name.empty()) throw;
        missing = reason.what();
      }
      out << missing << ": " << Op::name << " is skipped\n";
    } else if (!operator_name.empty()) {
      throw UsageError("--forward is '" + forward + "', but " + operator_name +
                       " is not a gradient whose forward Assay covers: leave --forward out");
    }
  });
  if (parts.empty() && !missing.empty()) throw UsageError(missing);
  tell_other_operators(operator_name, plan, out);
  require_cases(cases, left_out, plan);
  tell_left_out(cases, left_out, plan, out);
  if (single > 0)
    out << fmt::format(
        "left out: {} that cannot be judged as a pair: the track is not bound, or the "
        "forward's documents forbid the call\n",
        conformance::counted(single, "case"));
  return parts;
}

}  // namespace assay::cli

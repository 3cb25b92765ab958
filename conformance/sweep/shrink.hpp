#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/sweep/shrink.hpp"
#include "case/case.hpp"
#include "case/reduction.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace detail {

template <class Op>
std::vector<std::string_view> broken_requirements(const Case<Op>& c) {
  std::vector<std::string_view> ids;
  for (const auto* requirement : spec::violations(Op::requirements(), call_of(c)))
    ids.push_back(requirement->id);
  return ids;
}

template <class Op>
class Search {
 public:
  Search(const Case<Op>& c, const CaseReport& failing, const CaseJudge<Op>& judge,
         const CaseJudge<Op>& alone, const ShrinkBudget& budget)
      : judge_(judge),
        alone_(alone ? alone : judge),
        budget_(budget),
        examined_(c),
        failing_(failing),
        failure_(failing.verdict),
        failed_(failed_tensors(failing)),
        broken_(broken_requirements(c)) {
    best_.smallest = c;
    best_.report = failing;
    seen_.insert(command_line(c));
  }

  Shrunk<Op> run() {
    if (const auto spent = spent_budget()) {
      best_.end = *spent;
      return std::move(best_);
    }
    best_.again = repeated(examined_);
    if (!best_.again.always_fails()) {
      best_.end = ShrinkEnd::unsteady;
      return std::move(best_);
    }
    while (pass()) {
    }
    if (best_.smallest == examined_) return std::move(best_);
    if (const Repetition again = repeated(best_.smallest); again.always_fails()) {
      best_.again = again;
    } else {
      best_.smallest = examined_;
      best_.report = failing_;
      best_.end = ShrinkEnd::unsteady;
    }
    return std::move(best_);
  }

 private:
  /// Repeats the case and returns how often it fails. Runs the case twice more, or more often if
  /// one of these runs passes. A kernel may fail only sometimes, or may depend on the number of its
  /// calls.
  Repetition repeated(const Case<Op>& c) {
    const double left = std::max(0.0, budget_.seconds - seconds_since(start_));
    const Repetition again =
        repeat([&] { return contribution(alone_(c).verdict) == ExitCode::nonconformant; }, 2, left);
    best_.runs += again.runs;
    return again;
  }

  /// Tries every reduction (step that makes the case smaller), and repeats each one while it
  /// succeeds. Returns whether any reduction succeeded.
  bool pass() {
    bool reduced = false;
    for (const Reduction<Op>& reduction : Suite<Op>::reductions())
      while (take_first(reduction.smaller(best_.smallest))) reduced = true;
    // Starts with the last fields, because they matter least. The element type is changed last.
    const auto fields = field_texts(best_.smallest);
    for (auto field = fields.rbegin(); field != fields.rend(); ++field)
      if (may_reset(field->first) && take_first(reset(field->first))) reduced = true;
    for (const auto strides : {&Case<Op>::inputs, &Case<Op>::outputs})
      while (take_first(fewer_strided(strides))) reduced = true;
    return reduced && best_.end == ShrinkEnd::smallest;
  }

  static bool may_reset(std::string_view name) {
    const auto kept = Suite<Op>::fields_of_reductions();
    return name != "track" && name != "relation" && name != "variant" && name != "violate" &&
           std::ranges::find(kept, name) == kept.end();
  }

  /// Returns the case with the default value of a field; nothing if the field already has its
  /// default or if the new case is illegal.
  std::vector<Case<Op>> reset(std::string_view name) const {
    std::vector<std::string> words = case_words(command_line(best_.smallest), Op::name);
    const std::string flag = "--" + std::string(name) + "=";
    if (std::erase_if(words, [&](const std::string& word) { return word.starts_with(flag); }) == 0)
      return {};
    try {
      return {parse_case<Op>(words)};
    } catch (const std::invalid_argument&) {
      return {};
    }
  }

  /// Returns cases in which fewer tensors have special strides: only one tensor, or all of the
  /// present ones except one. If only one tensor has special strides, returns cases with simpler
  /// strides.
  std::vector<Case<Op>> fewer_strided(spec::Strides Case<Op>::*member) const {
    std::vector<Case<Op>> cases;
    const auto add = [&](const spec::Strides& strides) {
      cases.push_back(best_.smallest);
      cases.back().*member = strides;
    };
    const spec::Strides now = best_.smallest.*member;
    const auto alone = [](std::string_view name, spec::Striding striding) {
      spec::Strides strides;
      strides.set(name, striding);
      return strides;
    };
    if (now.all() == spec::Striding::contiguous && now.named().size() == 1) {
      const auto& [name, striding] = now.named().front();
      if (striding != spec::Striding::padded && striding != spec::Striding::transposed)
        for (const auto plainer : {spec::Striding::padded, spec::Striding::transposed})
          add(alone(name, plainer));
      return cases;
    }
    const auto names = member == &Case<Op>::inputs ? tensor_names<typename Op::Inputs>()
                                                   : tensor_names<typename Op::Outputs>();
    for (const std::string_view name : names) add(alone(name, now.of(name)));
    for (const std::string_view name : names) {
      spec::Strides fewer = now;
      fewer.set(name, spec::Striding::contiguous);
      add(fewer);
    }
    return cases;
  }

  bool take_first(const std::vector<Case<Op>>& candidates) {
    return std::ranges::any_of(candidates, [&](const Case<Op>& c) { return take(c); });
  }

  /// Judges a smaller case, and keeps it if it fails in the same way.
  bool take(const Case<Op>& candidate) {
    if (best_.end != ShrinkEnd::smallest) return false;
    const std::optional<Case<Op>> c = legal(candidate);
    if (!c || !seen_.insert(command_line(*c)).second) return false;
    if (const auto spent = spent_budget()) {
      best_.end = *spent;
      return false;
    }
    ++best_.runs;
    CaseReport report = judge_(*c);
    if (!same_failure(failure_, report.verdict) || hides_outputs(report)) return false;
    best_.smallest = *c;
    best_.report = std::move(report);
    return true;
  }

  /// Returns whether a failing output passes in the smaller case only because all its expected
  /// values are 0.
  bool hides_outputs(const CaseReport& smaller) const {
    const std::vector<std::string> still = failed_tensors(smaller);
    return std::ranges::any_of(smaller.tensors, [&](const TensorReport& tensor) {
      return is_expected_zeros(tensor) &&
             std::ranges::find(failed_, tensor.name) != failed_.end() &&
             std::ranges::find(still, tensor.name) == still.end();
    });
  }

  /// Parses the case again from its command line. Returns nothing if the case is illegal.
  /// Exception: an intentionally illegal case is returned if it breaks the same requirements as the
  /// original case.
  std::optional<Case<Op>> legal(Case<Op> c) const {
    try {
      const std::string violation = std::exchange(c.violate, {});
      c = parse_case<Op>(case_words(command_line(c), Op::name));
      c.violate = violation;
      if (!violation.empty() && broken_requirements(c) != broken_) return std::nullopt;
      return c;
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }

  std::optional<ShrinkEnd> spent_budget() const {
    if (budget_.stop != nullptr && *budget_.stop) return ShrinkEnd::stopped;
    if (best_.runs >= budget_.runs) return ShrinkEnd::runs;
    return seconds_since(start_) >= budget_.seconds ? std::optional(ShrinkEnd::seconds)
                                                    : std::nullopt;
  }

  const CaseJudge<Op>& judge_;
  const CaseJudge<Op>& alone_;
  const ShrinkBudget& budget_;
  const Case<Op> examined_;
  const CaseReport failing_;
  const Verdict failure_;
  const std::vector<std::string> failed_;  ///< outputs
  const std::vector<std::string_view> broken_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::set<std::string> seen_;
  Shrunk<Op> best_;
};

}  // namespace detail

template <class Op>
Shrunk<Op> shrink(const Case<Op>& c, const CaseReport& failing, const CaseJudge<Op>& judge,
                  const ShrinkBudget& budget, const CaseJudge<Op>& alone) {
  if (contribution(failing.verdict) != ExitCode::nonconformant)
    throw std::invalid_argument("a case that is " +
                                std::string(spec::to_string(failing.verdict.value())) +
                                " cannot be shrunk: " + failing.command_line);
  return detail::Search<Op>(c, failing, judge, alone, budget).run();
}

}  // namespace assay::conformance

#include "printing/print_pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/result/printable.hpp"
#include "flags/choose.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;

/// The median is used only if there are at least this many timed calls.
constexpr std::size_t least_calls = 20;
/// A call counts as slow if it takes at least `slow_factor` times the usual time, and at least
/// `slow_seconds`. Shorter delays may come from other programs on the machine.
constexpr double slow_factor = 20, slow_seconds = 1;
constexpr std::size_t calls_shown = 5;
/// The time per multiply-add is meaningful only if large calls take at least this many times as
/// long as small calls.
constexpr double larger_by = 2;

/// A kernel call with its duration, and the number of multiply-adds that the formula needs.
struct Call {
  const CaseReport* report;
  double work, seconds;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Returns the number of multiply-adds of a case. Returns 0 if the report comes from another
/// program and its replay line cannot be parsed.
double work_of(const CaseReport& report) {
  double work = 0;
  try {
    with_operators(report.operator_name, [&]<class Op> {
      const auto words = conformance::case_words(report.command_line, Op::name);
      work = conformance::Suite<Op>::multiply_adds(conformance::parse_case<Op>(words).problem);
    });
  } catch (const std::invalid_argument&) {  // the report may come from another program
  } catch (const UsageError&) {
  }
  return work;
}

std::vector<Call> timed_calls(const conformance::Results& results) {
  std::vector<Call> calls;
  for (const CaseReport& report : results.cases) {
    if (!report.value_case || report.seconds_implementation <= 0) continue;
    if (const double work = work_of(report); work > 0)
      calls.push_back({&report, work, report.seconds_implementation});
  }
  std::ranges::sort(calls, {}, &Call::work);
  return calls;
}

/// The usual durations: the time of the smallest calls, and the time per multiply-add of the
/// largest calls. If large calls take no longer than small ones, the time is mostly overhead.
struct Pace {
  double call, multiply_add;
  bool is_of_work;
  double expected(double work) const { return call + multiply_add * work; }
};

Pace pace_of(const std::vector<Call>& by_work) {
  std::vector<double> small, large, of_work;
  for (std::size_t k = 0; k < by_work.size(); ++k) {
    const Call& call = by_work[k];
    if (4 * k < by_work.size()) small.push_back(call.seconds);
    if (4 * k < 3 * by_work.size()) continue;
    large.push_back(call.seconds);
    of_work.push_back(call.seconds / call.work);
  }
  const double call = median(small);
  return {.call = call,
          .multiply_add = median(of_work),
          .is_of_work = median(large) >= larger_by * call};
}

/// Formats a number with at least two significant digits and without an exponent.
std::string two_digits(double x) {
  return x >= 99.5 ? fmt::format("{:.0f}", x) : fmt::format("{:.2g}", x);
}

}  // namespace

void print_pace(const conformance::Results& results, const std::string& program,
                std::ostream& out) {
  const std::vector<Call> calls = timed_calls(results);
  if (calls.size() < least_calls) return;
  const Pace pace = pace_of(calls);
  out << fmt::format(
      "\nmedian time of a call, transfer to the kernel included ({} calls): {} ms for small calls, "
      "{} for large calls\n",
      calls.size(), two_digits(1e3 * pace.call),
      pace.is_of_work
          ? fmt::format("{} s per 10^9 multiply-adds", two_digits(1e9 * pace.multiply_add))
          : "less than twice this time");
  std::vector<std::pair<double, const Call*>> slow;
  for (const Call& call : calls)
    if (const double factor = call.seconds / pace.expected(call.work);
        factor > slow_factor && call.seconds > slow_seconds)
      slow.emplace_back(factor, &call);
  if (slow.empty()) return;
  std::ranges::sort(slow, std::greater<>(), &std::pair<double, const Call*>::first);
  out << fmt::format("  {} took more than {:.0f} times as long as usual for this amount of work:\n",
                     conformance::counted(std::ssize(slow), "call"), slow_factor);
  for (std::size_t k = 0; k < std::min(slow.size(), calls_shown); ++k)
    out << fmt::format("  {:.2f} s, {:.0f} times: {}\n", slow[k].second->seconds, slow[k].first,
                       conformance::replay_command(*slow[k].second->report, program));
}

}  // namespace assay::cli

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "assay/conformance/report/listeners.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"

namespace assay::conformance {
namespace {

constexpr double bar_interval = 0.1, line_interval = 10;  // seconds
constexpr int bar_cells = 24;
constexpr std::size_t most_faults = 10;

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ConsoleListener::ConsoleListener(std::ostream& out, Progress progress,
                                 std::vector<ExpectedCost> plan, double budget, Clock clock)
    : out_(out),
      progress_(progress),
      time_left_(std::move(plan)),
      budget_(budget),
      clock_(std::move(clock)) {}

void ConsoleListener::on_start(std::int64_t cases, const std::string& implementation) {
  cases_ = cases;
  began_ = drawn_ = last_ = clock_();
  out_ << fmt::format("{} against {}\n", counted(cases, "case"), implementation) << std::flush;
}

void ConsoleListener::on_case(const CaseReport& report, std::int64_t index) {
  const double now = clock_();
  own_ += report.seconds_total, passed_ += now - last_;
  last_ = now;
  tell(report, index);
}

void ConsoleListener::on_resumed(const CaseReport& report, std::int64_t index) {
  last_ = clock_();
  tell(report, index);
}

void ConsoleListener::tell(const CaseReport& report, std::int64_t index) {
  if (contribution(report.verdict) != ExitCode::conformant) {
    ++failed_;
    if (faults_.size() < most_faults && faults_.insert(fault_of(report)).second) {
      clear();
      out_ << fmt::format("{}: {}\n", spec::to_string(report.verdict.value()), report.command_line);
      for (const std::string& line : sentences_first(report)) out_ << "  " << line << '\n';
    }
  }
  time_left_.took(static_cast<std::size_t>(index), report.seconds_total);
  const double interval = progress_ == Progress::bar ? bar_interval : line_interval;
  const bool redraws = last_ - drawn_ >= interval;
  if (index == 0 || redraws || (progress_ == Progress::bar && index + 1 == cases_)) draw(index + 1);
}

void ConsoleListener::on_end(const Summary& summary) {
  clear();
  out_ << fmt::format("{} of {} in {}\n", summary.cases, counted(summary.planned, "case"),
                      duration(summary.seconds))
       << std::flush;
}

std::string ConsoleListener::left_text() const {
  const std::optional<double> of_cases = time_left_.seconds();
  const double of_budget = std::max(0.0, began_ + budget_ - drawn_);
  if (budget_ > 0 && (!of_cases || of_budget < pace() * *of_cases))
    return fmt::format("about {} of the budget left", duration(of_budget));
  return of_cases ? fmt::format("about {} left", duration(pace() * *of_cases))
                  : std::string("estimating the time left");
}

void ConsoleListener::draw(std::int64_t finished) {
  drawn_ = clock_();
  const std::string text = fmt::format("{} of {}, {} not conforming, {}", finished,
                                       counted(cases_, "case"), failed_, left_text());
  if (progress_ == Progress::lines) {
    out_ << text << '\n' << std::flush;
    return;
  }
  const auto full =
      std::clamp<std::int64_t>(std::llround(time_left_.share_done() * bar_cells), 0, bar_cells);
  out_ << fmt::format("\r[{}{}] {}\x1b[K", std::string(static_cast<std::size_t>(full), '#'),
                      std::string(static_cast<std::size_t>(bar_cells - full), '.'), text)
       << std::flush;
}

void ConsoleListener::clear() {
  if (progress_ == Progress::bar) out_ << "\r\x1b[K";
}

}  // namespace assay::conformance

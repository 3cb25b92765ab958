#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "assay/conformance/listeners.hpp"
#include "running.hpp"

namespace assay::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double bar_interval = 0.1, line_interval = 10;  // seconds
constexpr std::int64_t bar_cells = 24;

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

ConsoleListener::ConsoleListener(std::ostream& out, Progress progress, std::vector<double> weights)
    : out_(out), progress_(progress), weights_(std::move(weights)) {
  weight_total_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
}

void ConsoleListener::on_start(std::int64_t cases, const std::string& implementation) {
  cases_ = cases;
  started_ = drawn_ = last_ = Clock::now();
  out_ << fmt::format("{} cases against {}\n", cases, implementation) << std::flush;
}

void ConsoleListener::on_case(const CaseReport& report, std::int64_t index) {
  if (contribution(report.verdict) != ExitCode::conformant) {
    ++failed_;
    clear();
    out_ << fmt::format("{}: {}\n", spec::to_string(report.verdict), report.command_line);
    if (!report.findings.empty()) out_ << "  " << report.findings.front().text << '\n';
  }
  const auto position = static_cast<std::size_t>(index);
  const double weight = position < weights_.size() ? weights_[position] : 0;
  weight_done_ += weight;
  // A case that took longer than the time since the one before it was run by an earlier sweep.
  if (seconds_since(last_) < report.seconds_total / 2) weight_taken_up_ += weight;
  last_ = Clock::now();
  const double interval = progress_ == Progress::bar ? bar_interval : line_interval;
  const bool due = seconds_since(drawn_) >= interval;
  if (index == 0 || due || (progress_ == Progress::bar && index + 1 == cases_)) draw(index + 1);
}

void ConsoleListener::on_end(const Summary& summary) {
  clear();
  out_ << fmt::format("{} of {} cases in {}\n", summary.cases, summary.planned,
                      duration(summary.seconds))
       << std::flush;
}

void ConsoleListener::draw(std::int64_t finished) {
  drawn_ = Clock::now();
  const double share = weight_total_ > 0
                           ? weight_done_ / weight_total_
                           : static_cast<double>(finished) / static_cast<double>(cases_);
  const double ran = weight_done_ - weight_taken_up_;
  const std::string left =
      ran > 0
          ? fmt::format(", about {} left",
                        duration(seconds_since(started_) * (weight_total_ - weight_done_) / ran))
          : std::string();
  const std::string text =
      fmt::format("{} of {} cases, {} not conforming{}", finished, cases_, failed_, left);
  if (progress_ == Progress::lines) {
    out_ << text << '\n' << std::flush;
    return;
  }
  const auto full =
      std::clamp<std::int64_t>(std::llround(share * static_cast<double>(bar_cells)), 0, bar_cells);
  out_ << fmt::format("\r[{}{}] {}\x1b[K", std::string(static_cast<std::size_t>(full), '#'),
                      std::string(static_cast<std::size_t>(bar_cells - full), '.'), text)
       << std::flush;
}

void ConsoleListener::clear() {
  if (progress_ == Progress::bar) out_ << "\r\x1b[K";
}

}  // namespace assay::conformance

#include "printing/waiting.hpp"

#include <fmt/format.h>

#include <cmath>
#include <system_error>
#include <utility>

namespace assay::cli {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::chrono::seconds first_words{2}, late_first_words{10}, between_lines{10},
    between_draws{1};
/// Work of Assay's own code counts as short if its expected time is less than this (seconds). The
/// first progress message about short work comes later, because the work usually ends before.
constexpr double short_work = 1;

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Waiting::Waiting(const Context& context, Task work) : context_(context) {
  begin(std::move(work));
  try {
    thread_ = std::jthread([this] { tell(); });
  } catch (const std::system_error&) {  // no thread can be started; the work does not need it
  }
}

Waiting::~Waiting() {
  stop();
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
}

void Waiting::begin(Task work) {
  const std::scoped_lock lock(mutex_);
  work_ = std::move(work);
  phase_.clear();
  done_ = 0;
  start_ = Clock::now();
  const bool is_short =
      work_.expected_seconds < short_work && !work_.is_foreign && work_.cases <= 1;
  next_ = start_ + (is_short ? late_first_words : first_words);
  if (*next_ < wakes_) changed_.notify_all();
}

void Waiting::phase(std::string name) {
  const std::scoped_lock lock(mutex_);
  phase_ = std::move(name);
}

void Waiting::done(std::int64_t cases) {
  const std::scoped_lock lock(mutex_);
  done_ = cases;
}

void Waiting::stop() {
  const std::scoped_lock lock(mutex_);
  next_.reset();
  if (std::exchange(is_drawn_, false) && context_.terminal)
    context_.err << "\r\x1b[K" << std::flush;
}

std::string Waiting::text(Seconds passed) const {
  const double seconds = passed.count();
  std::string line = work_.what + ": ";
  if (work_.cases > 1) line += fmt::format("{} of {} cases, ", done_, work_.cases);
  if (!phase_.empty()) line += phase_ + ", ";
  line += duration_text(std::floor(seconds)) + " so far";
  if (work_.cases > 1 && done_ > 0)
    line += fmt::format(", about {} left", duration_text(seconds / static_cast<double>(done_) *
                                                         static_cast<double>(work_.cases - done_)));
  else if (work_.expected_seconds > seconds)
    line += fmt::format(", about {} in all", duration_text(work_.expected_seconds));
  return line;
}

/// Wakes at the time of the next message. If a new work has begun since, that time is later.
void Waiting::tell() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    if (!next_ || Clock::now() < *next_) {
      wakes_ = next_.value_or(Clock::time_point::max());
      if (next_)
        changed_.wait_until(lock, wakes_);
      else
        changed_.wait(lock);
      continue;
    }
    const std::string line = text(Clock::now() - start_);
    if (context_.terminal)
      context_.err << '\r' << line << "\x1b[K" << std::flush;
    else
      context_.err << line << '\n' << std::flush;
    is_drawn_ = true;
    next_ = Clock::now() + (context_.terminal ? between_draws : between_lines);
  }
}

}  // namespace assay::cli

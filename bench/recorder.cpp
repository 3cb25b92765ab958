#include "recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay::bench {

double median(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("median: no samples");
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

double median_absolute_deviation(const std::vector<double>& samples) {
  const double centre = median(samples);
  std::vector<double> distances;
  for (const double sample : samples) distances.push_back(std::abs(sample - centre));
  return median(distances);
}

std::vector<std::vector<double>> measure_in_turns(const std::vector<std::function<void()>>& works,
                                                  std::size_t runs) {
  using Clock = std::chrono::steady_clock;
  for (const auto& work : works) work();
  std::vector<std::vector<double>> seconds(works.size());
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t k = 0; k < works.size(); ++k) {
      const auto start = Clock::now();
      works[k]();
      seconds[k].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  return seconds;
}

void Recorder::host_rate(const Subject& subject, const Quantity& quantity, double work,
                         const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double time : seconds) rates.push_back(work / time);
  samples(subject, quantity, rates);
}

void Recorder::samples(const Subject& subject, const Quantity& quantity,
                       const std::vector<double>& samples) {
  write({.subject = subject,
         .quantity = quantity,
         .value = median(samples),
         .deviation = median_absolute_deviation(samples),
         .runs = samples.size()});
}

void Recorder::modelled(const Subject& subject, const Quantity& quantity, double value) {
  write({.subject = subject, .quantity = quantity, .value = value});
}

void Recorder::write(const Record& r) {
  if (format_ == Format::json_lines) {
    nlohmann::ordered_json line = {{"benchmark", r.subject.benchmark},
                                   {"problem", r.subject.problem},
                                   {"quantity", r.quantity.name},
                                   {"value", r.value},
                                   {"unit", r.quantity.unit}};
    if (r.runs > 0) {
      line["deviation"] = r.deviation;
      line["runs"] = r.runs;
    }
    out_ << line.dump() << std::endl;
    return;
  }
  const std::string subject = r.subject.benchmark + ", " + r.subject.problem;
  if (subject != last_subject_) out_ << subject << '\n';
  last_subject_ = subject;
  const std::string spread = r.runs > 0 ? fmt::format(" +- {:.2g}", r.deviation) : "";
  out_ << fmt::format("  {:<32} {:>12.5g}{} {}", r.quantity.name, r.value, spread, r.quantity.unit)
       << std::endl;
}

}  // namespace assay::bench

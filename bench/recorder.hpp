#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace assay::bench {

/// What was measured, on what.
struct Subject {
  std::string benchmark, problem;
};

struct Quantity {
  std::string name, unit;
};

/// Median of the samples and the median of their distances from it. `runs` is 0 for an exact,
/// modelled number.
struct Record {
  Subject subject;
  Quantity quantity;
  double value = 0, deviation = 0;
  std::size_t runs = 0;
};

/// Errors: std::invalid_argument without samples.
double median(std::vector<double> samples);
double median_absolute_deviation(const std::vector<double>& samples);

/// Seconds of every run of every work: after one run of each to warm up, the works take turns, so
/// that what disturbs the machine disturbs all of them.
std::vector<std::vector<double>> measure_in_turns(const std::vector<std::function<void()>>& works,
                                                  std::size_t runs);

/// Collects records and writes each at once: one JSON object a line, or a row of a table.
class Recorder {
 public:
  enum class Format { json_lines, table };

  Recorder(std::ostream& out, Format format) : out_(out), format_(format) {}

  /// Records work / seconds of every run.
  void host_rate(const Subject& subject, const Quantity& quantity, double work,
                 const std::vector<double>& seconds);
  void samples(const Subject& subject, const Quantity& quantity,
               const std::vector<double>& samples);
  void modelled(const Subject& subject, const Quantity& quantity, double value);

 private:
  void write(const Record& record);

  std::ostream& out_;
  Format format_;
  std::string last_subject_;
};

}  // namespace assay::bench

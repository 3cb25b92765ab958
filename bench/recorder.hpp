#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace assay::bench {

/// Names the benchmark and the problem of a measurement.
struct Subject {
  std::string benchmark, problem;
};

struct Quantity {
  std::string name, unit;
};

/// One measured number. `value`: median of the samples. `deviation`: median of |sample - value|.
/// `runs`: number of samples, or 0 for a number that the model computes exactly.
struct Record {
  Subject subject;
  Quantity quantity;
  double value = 0, deviation = 0;
  std::size_t runs = 0;
};

/// Returns the median. Errors: std::invalid_argument if there are no samples.
double median(std::vector<double> samples);
double median_absolute_deviation(const std::vector<double>& samples);

/// Runs every workload `runs` times after one warm-up run, and returns the seconds of every run.
/// The workloads alternate, so that a disturbance of the machine affects all of them.
std::vector<std::vector<double>> measure_in_turns(const std::vector<std::function<void()>>& works,
                                                  std::size_t runs);

/// Receives records and writes each record immediately: as one JSON object per line, or as a row of
/// a table.
class Recorder {
 public:
  enum class Format { json_lines, table };

  Recorder(std::ostream& out, Format format) : out_(out), format_(format) {}

  /// Records work / seconds for every run.
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

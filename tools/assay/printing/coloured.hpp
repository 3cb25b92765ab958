#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace assay::cli {

/// The line with its verdicts in colours of a terminal: green what ends with exit code 0, red what
/// does with 1, yellow the others.
std::string coloured(const std::string& line);

/// Whether colours are wanted: on a terminal that has some, unless NO_COLOR is set and not empty.
bool wants_colour(bool is_terminal);

/// Lines on their way to another stream, coloured.
class ColouredLines final : public std::streambuf {
 public:
  explicit ColouredLines(std::ostream& to) : to_(to) {}
  ~ColouredLines() override { sync(); }
  ColouredLines(const ColouredLines&) = delete;
  ColouredLines& operator=(const ColouredLines&) = delete;

 private:
  int overflow(int letter) override;
  int sync() override;

  std::ostream& to_;
  std::string line_;
};

}  // namespace assay::cli

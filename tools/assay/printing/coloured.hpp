#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace assay::cli {

/// Returns the line with coloured verdicts: green for verdicts with exit code 0, red for exit code
/// 1, yellow for all others.
std::string coloured(const std::string& line);

/// Returns whether to print colours: the output is a terminal that supports them, and NO_COLOR is
/// not set or is empty.
bool wants_colour(bool is_terminal);

/// A stream buffer that adds colours to lines and passes the lines to another stream.
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

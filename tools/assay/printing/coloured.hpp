#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace assay::cli {

/// Returns the line with its verdicts in terminal colours: green for verdicts that lead to exit
/// code 0, red for exit code 1, yellow for the others.
std::string coloured(const std::string& line);

/// Returns whether to use colours: on a terminal that supports them, unless NO_COLOR is set and not
/// empty.
bool wants_colour(bool is_terminal);

/// Adds colours to lines and passes them to another stream.
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

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/elements/moments.hpp"

namespace assay::conformance {

/// The negative controls (deliberately wrong outputs, such as zeros) of one tensor. The class
/// determines whether the judge would detect them. Results of several parts of a tensor can be
/// combined.
class Controls {
 public:
  void add(const Expectation& part, const Arithmetic& arithmetic);
  /// Adds the results of the rows that follow.
  void append(const Controls& later);
  ControlResult result(const std::string& tensor, const Arithmetic& arithmetic) const;

 private:
  /// For the rows of one head: which deliberately wrong outputs the judge would detect.
  struct Head {
    std::int64_t b = 0, n = 0;
    std::int64_t expected = 0, seen = 0;  ///< nonzero rows; those where zeros fail
    bool negation = false;                ///< an element reveals a negated output
    bool last = false;                    ///< zeros in the last nonzero row are detected
    std::int64_t last_row = 0;            ///< number of the last row
  };

  void add_heads(const Expectation& part, const Arithmetic& arithmetic);
  void add(const Head& head);
  Fact blind_heads(const std::string& tensor) const;

  std::vector<Head> heads_;  ///< ordered by b and n
  bool applicable_ = false, scaled_within_ = true;
  Moments of_scaled_;
};

}  // namespace assay::conformance

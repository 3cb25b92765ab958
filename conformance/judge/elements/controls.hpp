#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/elements/moments.hpp"

namespace assay::conformance {

/// The negative controls of one tensor (`judge_controls`). They can be computed from parts of the
/// tensor.
class Controls {
 public:
  void add(const Expectation& part, const Arithmetic& arithmetic);
  /// Adds the controls of the rows that follow.
  void append(const Controls& later);
  ControlResult result(const std::string& tensor, const Arithmetic& arithmetic) const;

 private:
  /// The corruptions that would be detected in the rows of one head.
  struct Head {
    std::int64_t b = 0, n = 0;
    std::int64_t expected = 0, seen = 0;  ///< rows that are not zero; rows whose loss is detected
    bool negation = false;                ///< detected in some element
    bool last = false;                    ///< the loss of the last row that is not zero is detected
    std::int64_t last_row = 0;            ///< number of the last row
  };

  void add_heads(const Expectation& part, const Arithmetic& arithmetic);
  void add(const Head& head);
  std::string blind_text(const std::string& tensor) const;

  std::vector<Head> heads_;  ///< ordered by b and n
  bool applicable_ = false, scaled_within_ = true;
  Moments of_scaled_;
};

}  // namespace assay::conformance

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/elements/moments.hpp"

namespace assay::conformance {

/// The negative controls of one tensor (`judge_controls`), of parts that are looked at apart.
class Controls {
 public:
  void add(const Expectation& part, const Arithmetic& arithmetic);
  /// Those of other rows.
  void append(const Controls& later);
  ControlResult result(const std::string& tensor, const Arithmetic& arithmetic) const;

 private:
  /// What corruptions of the rows of one head would show.
  struct Head {
    std::int64_t b = 0, n = 0;
    std::int64_t due = 0, seen = 0;  ///< rows that are not zero; those that would be missed
    bool negation = false;           ///< seen in some element
    bool last = false;               ///< whether the last row that is due is seen
    std::int64_t last_row = 0;       ///< its number
  };

  void add_heads(const Expectation& part, const Arithmetic& arithmetic);
  void add(const Head& head);
  std::string blind_text(const std::string& tensor) const;

  std::vector<Head> heads_;  ///< by b and n
  bool applicable_ = false, scaled_within_ = true;
  Moments of_scaled_;
};

}  // namespace assay::conformance

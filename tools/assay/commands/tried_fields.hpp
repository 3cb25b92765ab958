#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {

/// Records which fields of a case the search for a smaller failing case tried to change.
class TriedFields {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  explicit TriedFields(Fields fields) : fields_(std::move(fields)), tried_(fields_.size()) {}

  /// Records a smaller case that the search is about to judge.
  void add(const Fields& candidate) {
    for (std::size_t k = 0; k < std::min(fields_.size(), candidate.size()); ++k)
      tried_[k] = tried_[k] || candidate[k] != fields_[k];
  }
  /// Returns the fields that differ from their default values and that the search did not try to
  /// change. The list omits track, seed, relation and violate: the search never changes these
  /// fields.
  std::vector<std::string> untried(const Fields& defaults) const {
    static const std::set<std::string_view> kept = {"track", "seed", "relation", "violate"};
    std::vector<std::string> names;
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      const bool is_default = std::ranges::find(defaults, fields_[k]) != defaults.end();
      if (!tried_[k] && !is_default && !fields_[k].second.empty() &&
          !kept.contains(fields_[k].first))
        names.push_back(fields_[k].first);
    }
    return names;
  }

 private:
  Fields fields_;
  std::vector<bool> tried_;
};

}  // namespace assay::cli

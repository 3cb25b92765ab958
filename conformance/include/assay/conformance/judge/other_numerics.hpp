#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/passes_on.hpp"

/// Checks whether a failing kernel is correct but declares the wrong numerics.
namespace assay::conformance {

/// Numerics that differ from the declared ones. The text names the difference, e.g.
/// "operand_scaled=true", or the preset.
struct OtherNumerics {
  std::string text;
  std::function<spec::Numerics(spec::Numerics declared, spec::DType io)> of;
};

/// All candidates. Weak numerics are not among them, because every kernel conforms with weak
/// numerics.
std::vector<OtherNumerics> other_numerics(const spec::Numerics& declared, spec::DType io,
                                          std::string_view operator_name);

/// A kernel that declares other numerics.
template <class Op>
class DeclaredOtherwise final : public spec::PassesOn<Op> {
 public:
  DeclaredOtherwise(spec::Implementation<Op>& kernel, const OtherNumerics& other)
      : spec::PassesOn<Op>(kernel), other_(other) {}

  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    return other_.of(this->inner_.numerics(problem), problem.dtype);
  }

 private:
  const OtherNumerics& other_;
};

/// The largest error of a report, divided by its tolerance.
inline double largest_share(const CaseReport& report) {
  double largest = 0;
  for (const TensorReport& tensor : report.tensors) largest = std::max(largest, tensor.worst);
  return largest;
}

/// Result of judging the failing cases of one cause again with other declared numerics.
struct NumericsFit {
  std::string text;  ///< those numerics; empty if none fits
  std::int64_t run = 0, conform = 0;
};

/// `explained_share`: share of the failing cases that must conform with the other numerics.
/// `first_tried`: number of cases on which each candidate is tried first. Looser numerics may fit a
/// few cases by chance, but hardly ever twelve.
inline constexpr double explained_share = 0.95;
inline constexpr std::size_t first_tried = 12;
/// Candidates whose tolerance is nearly the tightest count as equal. The most common of them is
/// reported.
inline constexpr double about_as_tight = 0.7;

/// Searches for numerics with which the kernel would conform.
template <class Op>
class NumericsSearch {
 public:
  /// `failing`: cases of one cause, cheapest first. `ends`: returns true if no time is left.
  NumericsSearch(const std::vector<Case<Op>>& failing, spec::Implementation<Op>& kernel,
                 const std::function<bool()>& ends)
      : failing_(failing), kernel_(kernel), ends_(ends) {
    const std::size_t count = std::min(first_tried, failing.size());
    for (std::size_t k = 0; k < count; ++k) first_.push_back(k * failing.size() / count);
  }

  /// Returns the tightest numerics with which nearly all failing cases and the case `another`
  /// conform. Tightest: the errors use the largest share of their tolerances.
  NumericsFit best(const Case<Op>& another) const {
    const auto& problem = failing_.front().problem;
    std::vector<std::pair<double, OtherNumerics>> candidates;
    for (const OtherNumerics& other :
         other_numerics(kernel_.numerics(problem), problem.dtype, Op::name)) {
      double share = 0;
      const auto fits = [&](std::size_t k) {
        return !ends_() && conforms(failing_[k], other, true, share);
      };
      if (std::ranges::all_of(first_, fits) && conforms(another, other, false, share))
        candidates.emplace_back(share, other);
      if (ends_()) break;
    }
    double largest = 0;
    for (const auto& [share, other] : candidates) largest = std::max(largest, share);
    std::ranges::stable_partition(candidates, [&](const auto& candidate) {
      return candidate.first >= about_as_tight * largest;
    });
    for (const auto& [share, other] : candidates)
      if (const NumericsFit fit = of_all(other); !fit.text.empty()) return fit;
    return {};
  }

 private:
  bool conforms(const Case<Op>& c, const OtherNumerics& other, bool is_offered,
                double& share) const {
    DeclaredOtherwise<Op> otherwise(kernel_, other);
    const CaseReport report = judge_case(c, otherwise);
    share = std::max(share, largest_share(report));
    return report.verdict == Verdict::not_applicable
               ? !is_offered
               : contribution(report.verdict) == ExitCode::conformant;
  }

  /// Judges the remaining failing cases too, as long as there is time.
  NumericsFit of_all(const OtherNumerics& other) const {
    NumericsFit fit{.text = other.text, .run = std::ssize(first_), .conform = std::ssize(first_)};
    double share = 0;
    for (std::size_t k = 0; k < failing_.size() && !ends_(); ++k) {
      if (std::ranges::find(first_, k) != first_.end()) continue;
      ++fit.run;
      fit.conform += conforms(failing_[k], other, true, share) ? 1 : 0;
    }
    const bool explains =
        static_cast<double>(fit.conform) >= explained_share * static_cast<double>(fit.run);
    return explains ? fit : NumericsFit{};
  }

  const std::vector<Case<Op>>& failing_;
  spec::Implementation<Op>& kernel_;
  const std::function<bool()>& ends_;
  std::vector<std::size_t> first_;  ///< cases to try first, evenly spaced
};

}  // namespace assay::conformance

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/dtype.hpp"
#include "plan/factors.hpp"

/// The parts of the random case generation that all attention operators share.
namespace assay::conformance::attention {

enum class Scale : std::uint8_t { ordinary, negative, one, odd, zero };

/// Returns 1/sqrt(head_dim), rounded to float.
inline double ordinary_scale(std::int64_t head_dim) {
  return static_cast<double>(static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim))));
}

inline double scale_of(Scale scale, std::int64_t head_dim) {
  const double ordinary = ordinary_scale(head_dim);
  switch (scale) {
    case Scale::ordinary:
      return ordinary;
    case Scale::negative:
      return -ordinary;
    case Scale::one:
      return 1.0;
    case Scale::odd:
      return static_cast<double>(static_cast<float>(0.7 * ordinary));
    case Scale::zero:
      return 0.0;
  }
  return 1.0;
}

/// Returns whether the judge will certainly detect the negative controls (wrong outputs on purpose)
/// in every head. It may not detect them if errors are large compared with the gradients, or if
/// softmax is near one-hot; such a case does not count for coverage.
template <class Op>
bool is_surely_tight(const Case<Op>& c) {
  constexpr std::string_view loose[] = {"peaked", "offset", "outliers", "subnormal_fp16"};
  return c.violate.empty() && c.problem.scale_value != 0 && c.problem.scale_value != 1 &&
         std::ranges::find(loose, c.profile) == std::end(loose);
}

/// Returns the combinations of masks, exact cases, profiles and scales that would make useless
/// tests. The operator must have factors with these names.
template <class Op, class K>
std::vector<Exclusion> senseless(const Factors<Op, K>& of) {
  constexpr auto why = Why::senseless;
  static constexpr auto is_exact = [](const K& k) { return k.track != Track::bound; };
  return {
      of.rule({why, "An absent mask has no type."}, {"mask", "mask_dtype"},
              [](const K& k) {
                return k.mask == decltype(k.mask)::absent && k.mask_dtype != spec::DType::boolean;
              }),
      of.rule({why, "An exact case chooses its values itself."}, {"track", "profile"},
              [](const K& k) { return is_exact(k) && k.profile != "normal"; }),
      of.rule({why, "An exact case chooses its scale itself."}, {"track", "scale"},
              [](const K& k) { return is_exact(k) && k.scale != Scale::ordinary; }),
      of.rule({why, "With other profiles than normal, a large scale would only loosen the bound."},
              {"profile", "scale"},
              [](const K& k) { return k.profile != "normal" && k.scale != Scale::ordinary; }),
      of.rule(
          {why, "Other types have no such subnormal numbers."}, {"dtype", "profile"},
          [](const K& k) { return k.profile == "subnormal_fp16" && k.dtype != spec::DType::fp16; }),
  };
}

}  // namespace assay::conformance::attention

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime.hpp"

/// Code that the examples of forward attention operators share.
namespace example {

/// The three outputs of a forward operator. All elements are -1 before the call.
struct Forward {
  Tensor maximum, sum, attention;

  /// `statistics` is the shape of softmaxMax and softmaxSum; the last extent is 8.
  Forward(const std::vector<std::int64_t>& statistics, const std::vector<std::int64_t>& shape,
          aclDataType type)
      : maximum(statistics, ACL_FLOAT, -1.0f),
        sum(statistics, ACL_FLOAT, -1.0f),
        attention(shape, type, -1.0f) {}

  /// Compares all three outputs with their formulas. `max` and `total` are functions of the row of
  /// the softmax statistics. `output` is a function of the element of the attention output.
  void compare(Results& results, const Tensor::Value& max, const Tensor::Value& total,
               const Tensor::Value& output, float tolerance = 0) const {
    const auto of_row = [](const Tensor::Value& value) {
      return [&value](std::int64_t k) { return value(k / 8); };
    };
    results.compare("softmaxMax", maximum, of_row(max), tolerance);
    results.compare("softmaxSum", sum, of_row(total), tolerance);
    results.compare("attention", attention, output, tolerance);
  }
};

/// Makes the compressed mask for the sparse modes 2 and 3: query i does not attend to key j if j >
/// i.
inline Tensor compressed_mask() {
  constexpr std::int64_t side = 2048;
  return Tensor({side, side}, ACL_UINT8,
                [](std::int64_t k) { return k % side > k / side ? 1.0f : 0.0f; });
}

inline float zero(std::int64_t) { return 0; }

}  // namespace example

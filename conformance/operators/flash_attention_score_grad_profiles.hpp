#pragma once

#include <string>

#include "assay/conformance/random.hpp"
#include "assay/spec/dtype.hpp"

namespace assay::conformance::flash {

/// Where an element lies, and the numbers that chance gives to it.
struct Place {
  Stream tensor;
  spec::DType dtype;
  std::int64_t s, d;
  Random row;   ///< of (b, n, s)
  Random head;  ///< of (b, n): the same for all its rows

  bool is(Stream which) const { return tensor == which; }
  bool is_query() const { return is(Stream::query) || is(Stream::query_rope); }
  bool is_key() const { return is(Stream::key) || is(Stream::key_rope); }
  bool half() const { return dtype == spec::DType::fp16; }
  double normal() const { return factor * row.normal(static_cast<std::uint64_t>(d)); }
  double head_normal() const { return factor * head.normal(static_cast<std::uint64_t>(d)); }
  double uniform() const { return row.uniform(static_cast<std::uint64_t>(d)); }

  /// Fills the significand of fp32, of which the generator's multiples of 2^-16 leave bits unused.
  static constexpr double factor = 0x1.f0f3b6d7a9c51p-1;
};

/// The numbers of one tensor of a case: of the head (b, n), and of its row s.
class Places {
 public:
  Places(std::uint64_t seed, Stream which) : random_(stream(seed, which)), which_(which) {}

  Random head(std::int64_t b, std::int64_t n) const { return substream(index(b, n)); }
  Random row(std::int64_t b, std::int64_t n, std::int64_t s) const {
    return substream(index(b, n) | static_cast<std::uint64_t>(s + 1));
  }

 private:
  static std::uint64_t index(std::int64_t b, std::int64_t n) {
    return static_cast<std::uint64_t>(b * 256 + n) << 32;
  }
  Random substream(std::uint64_t index) const {
    return {random_.bits(index), static_cast<std::uint64_t>(which_)};
  }

  Random random_;
  Stream which_;
};

/// The value that an input profile gives to a place.
using ProfileValue = double (*)(const Place& place);

/// Errors: std::invalid_argument for an unknown name.
ProfileValue profile_value(const std::string& name);

}  // namespace assay::conformance::flash

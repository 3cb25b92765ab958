#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

/// What of an implementation the planted bug (or the healthy choice) touches. forward: only results of its own forward.
enum class Subject : std::uint8_t { numbers, arguments, forward };

/// An implementation whose verdict is known beforehand.
struct Specimen {
  std::string name;
  std::string bug;  ///< one sentence; of a healthy one: what it does its own way
  bool healthy;
  Subject subject;
  std::function<std::unique_ptr<spec::Implementation<spec::FlashAttentionScoreGrad>>()> make;
};

/// Every specimen, healthy ones first. Each declares the numerics of the healthy kernel that it is
/// or derives from.
std::vector<Specimen> specimens();

}  // namespace assay::mutants

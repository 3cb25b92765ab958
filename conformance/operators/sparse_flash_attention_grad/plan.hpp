#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "attention/plan/choices.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"

/// The drawn cases of SparseFlashAttentionGrad.
namespace assay::conformance::sparse_flash {

using Op = spec::SparseFlashAttentionGrad;

/// Query heads: 1; 2 or 4; 8 to 32; 64 or 128.
enum class Heads : std::uint8_t { one, few, some, many };
/// Entries of a list: 1024; 2048; fewer than any page allows, which the vendor's tests use.
enum class Entries : std::uint8_t { usual, twice, few };
/// Blocks of the first sequence: fewer than a list has entries; as many; more, so that lists
/// select.
enum class Blocks : std::uint8_t { fewer, equal, more };
/// Queries of the first sequence: one; fewer than keys; as many; more.
enum class Queries : std::uint8_t { one, fewer, equal, more };
/// Sequences: one; several of equal lengths; of different lengths.
enum class Sequences : std::uint8_t { one, alike, unequal };

/// One value per factor.
struct Chosen {
  spec::Product product;
  spec::DType dtype;
  spec::Layout layout;
  std::int64_t sparse_mode;
  Heads heads;
  std::int64_t rope;
  spec::SparseValue value;
  std::int64_t block_size;
  Entries entries;
  Blocks blocks;
  std::string_view lists;
  Queries queries;
  Sequences sequences;
  spec::Striding inputs;
  std::string_view profile;
  attention::Scale scale;
};

const Factors<Op, Chosen>& factors();
const ChoiceSpace& choice_space();
const Drawn<Op, Chosen>& drawn();

/// Returns a pairwise cover by exact cases.
std::vector<Case<Op>> exact_cases(const SamplingPlan& plan);

/// Returns legal calls that cover all conditions of requirements.
std::vector<Case<Op>> legal_calls();

}  // namespace assay::conformance::sparse_flash

#include <algorithm>
#include <iterator>
#include <string>

#include "checked.hpp"
#include "flash_attention_score_grad/families.hpp"
#include "work.hpp"

namespace assay::mutants {
namespace {

using FlashCall = spec::Call<Op>;

constexpr const char* compressed_mask = "FAG-C67b";

/// Fault: checks the mask of sparse_mode 6 as if the mode were 3.
bool has_square_mask(const FlashCall& call) {
  FlashCall other = call;
  spec::Shape& shape = other.parameters.atten_mask.shape;
  if (other.attributes.sparse_mode == 6 && shape == spec::Shape{2048, 2048}) shape[0] = 3072;
  for (const auto& requirement : Op::requirements())
    if (requirement.id == compressed_mask) return requirement.holds(other);
  return true;
}

/// Returns whether the heads axis (or heads x channels axis) of query and key has the same extent.
bool has_as_many_heads(const FlashCall& c) {
  const std::string& layout = *c.attributes.input_layout;
  const std::size_t heads = layout.find('N');
  const std::size_t axis = heads == std::string::npos ? layout.find('H') : heads;
  return c.parameters.query.shape[axis] == c.parameters.key.shape[axis];
}

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {checking<Kernel, Op>("argument_checks",
                                                  "a correct kernel that checks its "
                                                  "arguments",
                                                  flash_like, {})};
  all.front().healthy = true;
  std::ranges::move(careless<Kernel, Op>(flash_like, {{"refuses_grouped_heads",
                                                       "refuses legal calls with grouped heads",
                                                       "query and key must have the same number of "
                                                       "heads",
                                                       has_as_many_heads}}),
                    std::back_inserter(all));
  all.push_back(checking<Kernel, Op>(
      "prefix_mask_as_others", "accepts a mask of 2048 rows in sparse_mode 6", flash_like,
      {.replaced = compressed_mask, .replacement = has_square_mask}));
  return all;
}

}  // namespace assay::mutants

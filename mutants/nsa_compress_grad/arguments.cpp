#include <algorithm>
#include <utility>

#include "checked.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

using CompressCall = spec::Call<Op>;

bool has_no_empty_sequence(const CompressCall& c) {
  const auto& sums = c.parameters.act_seq_len;
  return !sums || sums->empty() ||
         (sums->front() > 0 && std::ranges::adjacent_find(*sums) == sums->end());
}

bool has_whole_granules(const CompressCall& c) {
  const spec::Shape& shape = c.parameters.input.shape;
  return shape.size() != 3 || shape[2] % 16 == 0;
}

bool has_whole_strides(const CompressCall& c) {
  return c.attributes.compress_stride == 0 ||
         c.attributes.compress_block_size % c.attributes.compress_stride == 0;
}

}  // namespace

std::vector<Mutant> argument_mutants() {
  std::vector<Mutant> all = {checking<Kernel, Op>("compress_argument_checks",
                                                  "a correct kernel that checks its "
                                                  "arguments",
                                                  device_like, {}),
                             checking<Kernel, Op>("compress_strict_checks",
                                                  "also refuses calls about which the documents "
                                                  "are silent or contradict each other",
                                                  device_like, {.are_strict = true})};
  for (Mutant& mutant : all) mutant.healthy = true;
  std::ranges::move(
      careless<Kernel, Op>(
          "compress_", device_like,
          {{"compress_refuses_empty", "refuses legal calls with an empty sequence",
            "the cumulative lengths must strictly increase", has_no_empty_sequence},
           {"compress_refuses_rests",
            "refuses legal calls whose window size is not a multiple of the stride",
            "the window size must be a multiple of the stride", has_whole_strides},
           {"compress_refuses_head_sizes", "refuses legal calls whose D is not a multiple of 16",
            "D must be a multiple of 16", has_whole_granules}}),
      std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants::compress

#include "compression/arguments.hpp"

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {

std::vector<Mutant> argument_mutants() {
  return argument_mutants_of<Op, Kernel>(
      inject.plan, {{"refuses_head_sizes", "refuses legal calls whose D is not a multiple of 16",
                     "D must be a multiple of 16", [](const spec::Call<Op>& c) {
                       const spec::Shape& shape = c.parameters.input.shape;
                       return shape.size() != 3 || shape[2] % 16 == 0;
                     }}});
}

}  // namespace assay::mutants::compress::grad

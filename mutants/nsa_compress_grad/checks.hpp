#pragma once

#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "checked.hpp"

namespace assay::mutants::compress {

using CompressCall = spec::Call<spec::NsaCompressGrad>;

using Check = CheckOf<spec::NsaCompressGrad>;

/// Every check. Each says nothing of a call of which another has to refuse the ground that it
/// stands on.
std::vector<Check> all_checks();

/// What some documents ask for and others do not: nobody fails for asking, too, or for not asking.
std::vector<Check> checks_beyond_duty();

}  // namespace assay::mutants::compress

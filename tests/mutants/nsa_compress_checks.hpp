#pragma once

#include <string>
#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/status.hpp"

namespace assay::mutants::compress {

using CompressCall = spec::Call<spec::NsaCompressGrad>;

/// One check of phase 1: the row that asks for it, what a refusal answers, and whether a call passes. Each says
/// nothing of a call of which another has to refuse the ground that it stands on.
struct Check {
  std::string row;
  spec::Status status;
  std::string demand;
  bool (*holds)(const CompressCall& call);
};

std::vector<Check> all_checks();

/// What some documents ask for and others do not: nobody fails for asking, too, or for not asking.
std::vector<Check> disputed_checks();

}  // namespace assay::mutants::compress

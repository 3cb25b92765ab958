#include "operators/contradiction_lists.hpp"
#include "operators/nsa_table.hpp"

namespace assay::spec::detail {

std::vector<Contradiction> nsa_compress_contradictions() {
  constexpr std::string_view page = nsa::upstream_compress_forward;
  constexpr std::string_view host = "ops-transformer: attention/nsa_compress/op_host";
  return {
      {.id = "NSCF-Q1",
       .subject = "status of a call without actSeqLen",
       .claims = {{{page, "return values"}, "A null array gives 161001."},
                  {{host, "parameters"}, "The code returns 161002."}},
       .reading = "A kernel must refuse the call; it may return any status except success."},
      {.id = "NSCF-Q2",
       .subject = "shape of output",
       .claims = {{{page, "parameters"}, "output has the shape [T, N, D], like input."},
                  {{page, "formulas"}, "output has one row for each window."}},
       .reading = "output has one row for each window of each sequence."},
      {.id = "NSCF-Q3",
       .subject = "the function that is applied to a window",
       .claims = {{{page, "formulas"},
                   "The formula contains a function that the page does not "
                   "define."},
                  {{"ops-transformer: attention/nsa_compress/README.md", "description"},
                   "The function is the sum of the tokens, each multiplied by its weight."}},
       .reading =
           "The function is the weighted sum: NsaCompressGrad computes the gradient of this sum."},
  };
}

}  // namespace assay::spec::detail

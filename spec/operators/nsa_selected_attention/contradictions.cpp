#include "operators/contradiction_lists.hpp"
#include "operators/nsa_table.hpp"

namespace assay::spec::detail {

std::vector<Contradiction> nsa_selected_attention_contradictions() {
  constexpr std::string_view page = nsa::upstream_selected_forward;
  constexpr std::string_view host = "ops-transformer: attention/nsa_selected_attention/op_host";
  return {
      {.id = "NSSF-Q1",
       .subject = "status of null arguments",
       .claims = {{{page, "return values"}, "A null argument gives 161001."},
                  {{host, "entry"}, "The code returns 561103."}},
       .reading = "The call must be refused with any status."},
      {.id = "NSSF-Q2",
       .subject = "status of another layout",
       .claims = {{{page, "return values"}, "A layout other than TND gives 161002."},
                  {{host, "entry"}, "The code returns 561103."}},
       .reading = "The call must be refused with any status."},
      {.id = "NSSF-Q3",
       .subject = "head sizes",
       .claims = {{{page, "constraints"}, "D of query is 192 and that of value 128."},
                  {{nsa::selected_page, "constraints"}, "Each is 192 or 128."},
                  {{host, "tiling"}, "D of query is at most 768."}},
       .reading = "192 and 128; other sizes may be refused, and are judged if they are accepted."},
      {.id = "NSSF-Q4",
       .subject = "largest selectedBlockCount",
       .claims = {{{page, "constraints"},
                   "At most 128, with selectedBlockSize * selectedBlockCount below 8192."},
                  {{host, "tiling"}, "At most 32."}},
       .reading = "At most 32; larger counts may be refused."},
      {.id = "NSSF-Q5",
       .subject = "keys of a sequence",
       .claims = {{{page, "constraints"},
                   "One sentence asks for at least selectedBlockSize * selectedBlockCount keys, "
                   "another for more."}},
       .reading = "A kernel may refuse a sequence with exactly this number of keys. If it accepts "
                  "the call, the case is judged."},
      {.id = "NSSF-Q6",
       .subject = "limits of heads, sequences and tokens",
       .claims = {{{page, "constraints"}, "B is at most 1024, N at most 128, S at most 128K."},
                  {{host, "tiling"}, "Not all of these limits are checked."}},
       .reading = "Larger numbers may be accepted."},
  };
}

}  // namespace assay::spec::detail

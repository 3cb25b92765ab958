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
       .reading = "A kernel must refuse the call; it may return any status except success."},
      {.id = "NSSF-Q2",
       .subject = "status of a call with another layout",
       .claims = {{{page, "return values"}, "A layout other than TND gives 161002."},
                  {{host, "entry"}, "The code returns 561103."}},
       .reading = "A kernel must refuse the call; it may return any status except success."},
      {.id = "NSSF-Q3",
       .subject = "head sizes",
       .claims = {{{page, "constraints"}, "D of query is 192, and D of value is 128."},
                  {{nsa::selected_page, "constraints"}, "Each head size is 192 or 128."},
                  {{host, "tiling"}, "D of query is at most 768."}},
       .reading = "The sizes are 192 and 128. A kernel may refuse other sizes; if it accepts them, "
                  "the case is judged."},
      {.id = "NSSF-Q4",
       .subject = "largest selectedBlockCount",
       .claims = {{{page, "constraints"},
                   "selectedBlockCount is at most 128, and selectedBlockSize * selectedBlockCount "
                   "is below 8192."},
                  {{host, "tiling"}, "At most 32."}},
       .reading = "selectedBlockCount is at most 32; a kernel may refuse larger counts."},
      {.id = "NSSF-Q5",
       .subject = "keys of a sequence",
       .claims = {{{page, "constraints"},
                   "One sentence requires at least selectedBlockSize * selectedBlockCount keys, "
                   "another sentence requires more."}},
       .reading = "A kernel may refuse a sequence with exactly this number of keys. If it accepts "
                  "the call, the case is judged."},
      {.id = "NSSF-Q6",
       .subject = "limits of heads, sequences and tokens",
       .claims = {{{page, "constraints"},
                   "B is at most 1024, N is at most 128, and S is at most 128K."},
                  {{host, "tiling"}, "Not all of these limits are checked."}},
       .reading = "A kernel may accept larger numbers."},
  };
}

}  // namespace assay::spec::detail

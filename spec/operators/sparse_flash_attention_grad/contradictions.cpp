#include "operators/contradiction_lists.hpp"
#include "operators/sparse_flash_attention_grad/table.hpp"

namespace assay::spec::detail {

std::vector<Contradiction> sparse_flash_contradictions() {
  using sparse_flash::forward_page;
  using sparse_flash::host;
  using sparse_flash::kernels;
  using sparse_flash::later_page;
  using sparse_flash::page;
  constexpr std::string_view front_end = "op-plugin: npu_sparse_flash_attention_grad";
  constexpr std::string_view unit_tests =
      "ops-transformer: attention/sparse_flash_attention_grad/tests/ut";
  return {
      {.id = "SFAG-Q1",
       .subject = "lengths of several sequences",
       .claims = {{{page, "parameters"},
                   "The tensors contain the valid tokens of each sequence, and an accumulated sum "
                   "that agrees with T1."},
                  {{forward_page, "parameters"}, "The tensors contain inclusive cumulative sums."},
                  {{kernels, "lengths"}, "The code reads inclusive sums."}},
       .reading = "The tensors contain inclusive cumulative sums. The page allows 256 sequences, "
                  "so a kernel must accept several in TND."},
      {.id = "SFAG-Q2",
       .subject = "base of the indices",
       .claims = {{{page, "sparseIndices"},
                   "The page does not say from which key an index counts."},
                  {{kernels, "gather"}, "The code adds the start of the query's own sequence."}},
       .reading = "Blocks are counted from the start of the query's own key sequence."},
      {.id = "SFAG-Q3",
       .subject = "the causal mask and the list",
       .claims = {{{forward_page, "golden"},
                   "Only the first entries of a list are used, and each key must be visible at its "
                   "position."},
                  {{kernels, "mask"},
                   "If all visible keys fit into a list, the list is not read; otherwise the "
                   "positions of most keys are not tested."}},
       .reading = "Cases use only lists that give the same keys in all these readings (SFAG-C32)."},
      {.id = "SFAG-Q4",
       .subject = "order, duplicates and -1",
       .claims = {{{page, "sparseIndices"}, "The page does not mention order, duplicates or -1."},
                  {{forward_page, "golden"}, "Entries after the last block are -1."}},
       .reading = "The order has no meaning; a case has no duplicates, and -1 only at the end."},
      {.id = "SFAG-Q5",
       .subject = "dKeyOut if value is given",
       .claims = {{{page, "formulas"}, "dKeyOut is the gradient of key alone."},
                  {{kernels, "sums"}, "dK and dV have separate sums, as in the formulas."}},
       .reading = "The two gradients are separate, although key and value have equal elements."},
      {.id = "SFAG-Q6",
       .subject = "a null value on Atlas A3",
       .claims = {{{page, "parameters"}, "Every Atlas product accepts a null value."},
                  {{later_page, "parameters"},
                   "Atlas A2 accepts a null value; the page does not name Atlas A3."}},
       .reading = "The operator's own page applies."},
      {.id = "SFAG-Q7",
       .subject = "formulas",
       .claims = {{{page, "formulas"},
                   "The scores are divided by a root of the head size; the page writes a matrix "
                   "product where elements are multiplied; the row term has no definition."},
                  {{page, "example"}, "scaleValue is 0.044194."}},
       .reading = "The factor is scaleValue, the multiplication is elementwise, and the row term "
                  "is the sum of dOut * out."},
      {.id = "SFAG-Q8",
       .subject = "names in the description",
       .claims = {{{page, "parameters"},
                   "The description contains the names topkIndices, selectedBlockSize, "
                   "selectedBlockCount and keyIn."},
                  {{page, "prototypes"}, "No parameter has such a name."}},
       .reading = "These names mean sparseIndices, sparseBlockSize, the number of entries of a "
                  "list, and key."},
      {.id = "SFAG-Q9",
       .subject = "limits",
       .claims = {{{page, "constraints"},
                   "D is 512, S2 is at most 1M, and a list has 1024 to 8192 entries."},
                  {{later_page, "constraints"},
                   "S2 is at most 128K; sparse_indices may have 2051 entries per query."},
                  {{unit_tests, "op_host"}, "Calls with D = 128 and with 4 entries succeed."}},
       .reading = "A kernel may refuse other sizes. If it accepts them, the case is judged."},
      {.id = "SFAG-Q10",
       .subject = "blocks of several tokens",
       .claims = {{{page, "constraints"}, "Blocks of 8 to 64 tokens are legal."},
                  {{kernels, "a report of a user"},
                   "Token numbers that were passed as block numbers gave infinities."}},
       .reading = "Such blocks are legal: the report is about blocks outside the sequence."},
      {.id = "SFAG-Q11",
       .subject = "preTokens and nextTokens",
       .claims = {{{page, "parameters"},
                   "Only 2147483647 is legal; mode 4 uses preTokens and nextTokens."},
                  {{front_end, "arguments"}, "The code passes 2^63 - 1, and mode 4 is not legal."}},
       .reading = "preTokens and nextTokens have no effect; a kernel may refuse other values."},
      {.id = "SFAG-Q12",
       .subject = "mode 3",
       .claims = {{{page, "sparseMode"}, "The mask is a triangle at the right vertex."},
                  {{forward_page, "sparseMode"}, "The triangle ends at the lower right corner."}},
       .reading = "The last query sees all keys."},
      {.id = "SFAG-Q13",
       .subject = "strided outputs",
       .claims =
           {{{page, "parameters"},
             "The newest revision forbids strided outputs; the first revision allowed them."}},
       .reading = "Outputs of cases are contiguous."},
      {.id = "SFAG-Q14",
       .subject = "a null layout",
       .claims = {{{page, "prototypes"}, "The name ends in Optional."},
                  {{page, "parameters"}, "The table does not call layout optional."}},
       .reading = "Cases always pass a layout."},
      {.id = "SFAG-Q15",
       .subject = "deterministic",
       .claims = {{{page, "parameters"}, "deterministic follows the setting of the framework."},
                  {{host, "tiling"}, "The code reads only the setting of the context."}},
       .reading = "deterministic has no effect on the values of the outputs."},
  };
}

}  // namespace assay::spec::detail

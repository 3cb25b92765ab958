#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;

constexpr std::int64_t most_heads = 128, most_blocks = 32;

constexpr bool is_head_size(std::int64_t dim) { return dim == 192 || dim == 128; }

/// The page says "K and V may differ", without an order; the host code refuses one of the two
/// orders.
SelectedRow wider_value() {
  return {.id = "NSAS-C20",
          .statement = "If the head size of query and key is 128, that of value may be 192.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept},
          .notes = "NSAS-Q13",
          .applies =
              [](const SelectedCall& c) {
                return ranks_fit(c) && is_head_size(head_dim(c)) && is_head_size(head_dim_v(c)) &&
                       head_dim(c) < head_dim_v(c);
              },
          .holds = always<Op>,
          .violations = {}};
}

SelectedRow head_sizes() {
  return {.id = "NSAS-C21",
          .statement = "The head sizes of query, key and value are 192 or 128.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q13",
          .implies = {"NSAS-C19"},
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                return !ranks_fit(c) ||
                       (is_head_size(head_dim(c)) && is_head_size(c.parameters.key.shape[2]) &&
                        is_head_size(head_dim_v(c)));
              },
          .violations = {{"none", make_head_sizes<0, 128>},
                         {"no_value", make_head_sizes<192, 0>},
                         {"key",
                          [](SelectedCall& c) {
                            grow(c.parameters.key, 2);
                            grow(c.parameters.dk, 2);
                          }},
                         {"query_64", make_head_sizes<64, 128>},
                         {"query_256", make_head_sizes<256, 128>},
                         {"value_64", make_head_sizes<192, 64>},
                         {"value_160", make_head_sizes<192, 160>}}};
}

SelectedRow query_heads() {
  return {.id = "NSAS-C25",
          .statement = "query has 1 to 128 heads; the number is a multiple of the heads of key.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                if (!ranks_fit(c)) return true;
                return heads_q(c) >= 1 && heads_q(c) <= most_heads &&
                       (heads_kv(c) < 1 || heads_q(c) % heads_kv(c) == 0);
              },
          .reaches = [](const SelectedCall& c) { return heads_q(c) == most_heads; },
          .violations = {{"none", make_heads<0, 1>},
                         {"too_many", make_heads<129, 43>},
                         {"remainder", make_heads<3, 2>}}};
}

/// If key has too many heads, then query has too many, too, or the heads of query do not form whole
/// groups. If key has 0 heads, the part of NSAS-C25 about groups does not apply.
SelectedRow key_heads() {
  return {.id = "NSAS-C26",
          .statement = "key has 1 to 128 heads.",
          .source = {selected_page, "constraints"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .implies = {"NSAS-C25"},
          .applies = ranks_fit,
          .holds =
              [](const SelectedCall& c) {
                return !ranks_fit(c) || (heads_kv(c) >= 1 && heads_kv(c) <= most_heads);
              },
          .reaches = [](const SelectedCall& c) { return heads_kv(c) == most_heads; },
          .violations = {{"none", make_heads<1, 0>}, {"too_many", make_heads<129, 129>}}};
}

SelectedRow group_sizes() {
  return selection::small_groups<Op>({.id = "NSAS-C27",
                                      .source = {selected_page, "constraints"},
                                      .standing = Standing::documented});
}

/// Requirement NSAS-C30 checks a block size of 0, because no length is a multiple of 0.
SelectedRow block_sizes() {
  return selection::small_blocks<Op>({.id = "NSAS-C34",
                                      .source = {upstream_selected_tiling, "selected blocks"},
                                      .standing = Standing::upstream});
}

/// Requirement NSAS-C32 checks negative counts, which cannot be extents.
SelectedRow some_block() {
  return selection::some_block<Op>({.id = "NSAS-C35",
                                    .source = {upstream_selected_tiling, "selected blocks"},
                                    .standing = Standing::upstream});
}

/// The host code refuses counts above 32, which the documentation page does not mention; later
/// editions say 128.
SelectedRow many_blocks() {
  return {.id = "NSAS-C35a",
          .statement = "selectedBlockCount may be above 32: only the lengths of key limit it.",
          .source = {selected_page, "constraints"},
          .standing = Standing::derived,
          .sides = {Side::accept},
          .notes = "NSAS-Q20",
          .applies =
              [](const SelectedCall& c) { return c.attributes.selected_block_count > most_blocks; },
          .holds = always<Op>,
          .violations = {}};
}

}  // namespace

std::vector<SelectedRow> selected_size_requirements() {
  return {wider_value(), head_sizes(),  query_heads(), key_heads(),
          group_sizes(), block_sizes(), some_block(),  many_blocks()};
}

}  // namespace assay::spec::nsa::selection

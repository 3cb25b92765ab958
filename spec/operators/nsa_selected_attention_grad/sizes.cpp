#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;

constexpr std::int64_t most_heads = 128, largest_group = 32;
constexpr std::int64_t largest_block = 128, block_step = 16, most_blocks = 32;

std::int64_t heads_q(const SelectedCall& c) { return c.parameters.query.shape[1]; }
std::int64_t heads_kv(const SelectedCall& c) { return c.parameters.key.shape[1]; }
std::int64_t head_dim(const SelectedCall& c) { return c.parameters.query.shape[2]; }
std::int64_t head_dim_v(const SelectedCall& c) { return c.parameters.value.shape[2]; }

constexpr bool is_head_size(std::int64_t dim) { return dim == 192 || dim == 128; }

bool has_groups(const SelectedCall& c) {
  return ranks_fit(c) && heads_q(c) > 0 && heads_kv(c) > 0 && heads_q(c) % heads_kv(c) == 0;
}

template <std::int64_t query, std::int64_t key>
void make_heads(SelectedCall& call) {
  rewrite(call, [](SelectedProblem& p) {
    p.heads_q = query;
    p.heads_kv = key;
  });
}

template <std::int64_t query, std::int64_t value>
void make_head_sizes(SelectedCall& call) {
  rewrite(call, [](SelectedProblem& p) {
    p.head_dim = query;
    p.head_dim_v = value;
  });
}

template <std::int64_t size>
void make_block(SelectedCall& call) {
  rewrite(call, [](SelectedProblem& p) {
    p.selected_block_size = size;
    p.seq_kv = size * p.selected_block_count;
  });
}

/// The documentation page says "K and V may differ" without saying which is larger; the host code
/// refuses one of the two cases.
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

/// If key has too many heads, either query has too many, too, or its heads do not form whole
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
  return {
      .id = "NSAS-C27",
      .statement = "1 to 32 heads of query share a head of key.",
      .source = {selected_page, "constraints"},
      .standing = Standing::documented,
      .sides = {Side::accept, Side::reject},
      .applies = has_groups,
      .holds =
          [](const SelectedCall& c) {
            return !has_groups(c) || heads_q(c) / heads_kv(c) <= largest_group;
          },
      .reaches = [](const SelectedCall& c) { return heads_q(c) / heads_kv(c) == largest_group; },
      .violations = {{"33", make_heads<33, 1>}, {"64", make_heads<128, 2>}}};
}

/// NSAS-C30 covers a block size of 0: no length is a multiple of 0.
SelectedRow block_sizes() {
  return {.id = "NSAS-C34",
          .statement = "selectedBlockSize is a multiple of 16 from 16 to 128.",
          .source = {upstream_selected_tiling, "selected blocks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                const std::int64_t size = c.attributes.selected_block_size;
                return size >= block_step && size <= largest_block && size % block_step == 0;
              },
          .violations = {
              {"8", make_block<8>},
              {"24", make_block<24>},
              {"144", make_block<144>},
              {"negative", [](SelectedCall& c) { c.attributes.selected_block_size = -16; }}}};
}

/// NSAS-C32 covers negative counts, which cannot be extents.
SelectedRow some_block() {
  return {.id = "NSAS-C35",
          .statement = "selectedBlockCount is at least 1.",
          .source = {upstream_selected_tiling, "selected blocks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds = [](const SelectedCall& c) { return c.attributes.selected_block_count >= 1; },
          .violations = {{"zero", [](SelectedCall& c) {
                            c.attributes.selected_block_count = 0;
                            Shape shape = c.parameters.topk_indices.shape;
                            if (shape.empty()) return;
                            shape.back() = 0;
                            reshape(c.parameters.topk_indices, shape);
                          }}}};
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

}  // namespace assay::spec::nsa

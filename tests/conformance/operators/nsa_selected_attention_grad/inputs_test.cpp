#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using List = std::vector<std::int64_t>;

Case<Op> small_case(const std::string& lists, std::int64_t mode = 0) {
  Case<Op> c{.patterns = {.lists = lists}};
  c.problem = {.batch = 3,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 90,
               .seq_kv = 160,
               .lengths_q = {90, 1, 17},
               .lengths_kv = {96, 80, 160},
               .head_dim = 128,
               .head_dim_v = 128,
               .scale_value = 0.0625,
               .selected_block_size = 16,
               .selected_block_count = 5,
               .sparse_mode = mode};
  if (mode == 2) c.problem.atten_mask = spec::SelectedMask::compressed;
  return c;
}

/// Returns the lists of selected blocks of a case. The index is the row number in topk_extents.
std::vector<List> lists_of(const Case<Op>& c) {
  const spec::Tensor tensor = make_topk_indices(c);
  const spec::Extents e = topk_extents(c.problem);
  const spec::HeadView view(tensor, spec::Layout::tnd, e);
  std::vector<List> lists;
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, kv, i] = e.position(row);
    List list;
    for (std::int64_t k = 0; k < e.dim; ++k)
      list.push_back(static_cast<std::int64_t>(view(b, kv, i, k)));
    lists.push_back(list);
  }
  return lists;
}

std::int64_t blocks_of(const Case<Op>& c, std::int64_t b) {
  return c.problem.length_kv(b) / c.problem.selected_block_size;
}

/// Calls check(list, position) for all lists of selected blocks in a case.
template <class Check>
void for_all_lists(const Case<Op>& c, Check&& check) {
  const spec::Extents e = topk_extents(c.problem);
  const std::vector<List> lists = lists_of(c);
  for (std::size_t row = 0; row < lists.size(); ++row)
    check(lists[row], e.position(static_cast<std::int64_t>(row)));
}

TEST(SelectedLists, NameWholeBlocksOfTheirSequence) {
  for (const InputProfile& pattern : list_patterns())
    for (const std::int64_t mode : {0, 2}) {
      const Case<Op> c = small_case(std::string(pattern.name), mode);
      for_all_lists(c, [&](const List& list, const spec::RowPosition& row) {
        for (const std::int64_t block : list) {
          EXPECT_GE(block, 0) << pattern.name;
          EXPECT_LT(block, blocks_of(c, row.b)) << pattern.name;
        }
      });
    }
}

TEST(SelectedLists, UnderTheMaskEveryQuerySeesAKey) {
  for (const InputProfile& pattern : list_patterns()) {
    const Case<Op> c = small_case(std::string(pattern.name), 2);
    for_all_lists(c, [&](const List& list, const spec::RowPosition& row) {
      EXPECT_LE(std::ranges::min(list) * c.problem.selected_block_size, row.s) << pattern.name;
    });
  }
}

TEST(SelectedLists, DistinctBlocksAreDistinct) {
  for (const char* pattern : {"shuffled", "identity", "ascending", "diagonal_first", "anchored",
                              "last_block", "per_head", "shared", "causal"}) {
    for_all_lists(small_case(pattern), [&](const List& list, const spec::RowPosition&) {
      EXPECT_EQ(std::set<std::int64_t>(list.begin(), list.end()).size(), list.size()) << pattern;
    });
  }
}

TEST(SelectedLists, PatternsMatchTheirDescriptions) {
  for_all_lists(small_case("identity"), [](const List& list, const spec::RowPosition&) {
    EXPECT_EQ(list, (List{0, 1, 2, 3, 4}));
  });
  for_all_lists(small_case("ascending"), [](const List& list, const spec::RowPosition&) {
    EXPECT_TRUE(std::ranges::is_sorted(list));
  });
  for_all_lists(small_case("all_equal", 2), [](const List& list, const spec::RowPosition&) {
    EXPECT_EQ(std::ranges::min(list), std::ranges::max(list));
  });
  std::int64_t repeated = 0;
  for_all_lists(small_case("duplicates"), [&](const List& list, const spec::RowPosition&) {
    repeated += std::set<std::int64_t>(list.begin(), list.end()).size() < list.size() ? 1 : 0;
  });
  EXPECT_EQ(repeated, 2 * (90 + 1 + 17));  // three blocks in five slots
  const Case<Op> last = small_case("last_block");
  for_all_lists(last, [&](const List& list, const spec::RowPosition& row) {
    EXPECT_EQ(list.back(), blocks_of(last, row.b) - 1);
  });
  const Case<Op> diagonal = small_case("diagonal_first");
  for_all_lists(diagonal, [&](const List& list, const spec::RowPosition& row) {
    EXPECT_EQ(list.front(), std::min(row.s / 16, blocks_of(diagonal, row.b) - 1));
  });
}

TEST(SelectedLists, SharedListsAreThoseOfTheSequenceAndOthersOfTheHead) {
  const auto different = [](const std::string& pattern, bool of_head) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::set<List>> lists;
    for_all_lists(small_case(pattern), [&](const List& list, const spec::RowPosition& row) {
      lists[{row.b, of_head ? row.n : 0}].insert(list);
    });
    return lists[{0, 0}].size();
  };
  EXPECT_EQ(different("shared", false), 1u);
  EXPECT_EQ(different("per_head", true), 1u);
  EXPECT_EQ(different("per_head", false), 2u);
  EXPECT_GT(different("shuffled", true), 50u);
}

/// The device masks a key by its index in the list of selected keys. For early queries the result
/// must equal masking by the key's position in the sequence.
TEST(SelectedLists, CausalListsBeginWithWhatAnEarlyQuerySees) {
  const Case<Op> c = small_case("causal", 2);
  const std::int64_t size = c.problem.selected_block_size,
                     listed = size * c.problem.selected_block_count;
  for_all_lists(c, [&](const List& list, const spec::RowPosition& row) {
    const std::int64_t own = std::min(row.s / size, blocks_of(c, row.b) - 1);
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (row.s + 1 >= listed) {
        EXPECT_LE(list[k], own);
      } else if (static_cast<std::int64_t>(k) <= own) {
        EXPECT_EQ(list[k], static_cast<std::int64_t>(k));
      } else {
        EXPECT_GT(list[k], own);
      }
    }
  });
}

TEST(SelectedInputs, StatisticsAndOutputAreThoseOfTheForward) {
  for (const std::int64_t mode : {0, 2}) {
    const Case<Op> c = small_case("duplicates", mode);
    const Op::Inputs inputs = make_inputs(c);
    const auto operands = reference::operands_of<double>(c.problem, inputs);
    const auto forward = reference::forward<double>(c.problem, operands);
    for (std::size_t row = 0; row < forward.softmax_max.size(); ++row) {
      EXPECT_EQ(operands.softmax_max[row], static_cast<float>(forward.softmax_max[row]));
      EXPECT_EQ(operands.softmax_sum[row], static_cast<float>(forward.softmax_sum[row]));
    }
    for (std::size_t k = 0; k < forward.attention_out.size(); ++k)
      ASSERT_EQ(operands.attention_out[k],
                spec::round_to(forward.attention_out[k], spec::format_of(c.problem.dtype)));
  }
}

TEST(SelectedInputs, ReplicasAreEqual) {
  const Case<Op> c = small_case("shuffled");
  const Op::Inputs inputs = make_inputs(c);
  for (const spec::Tensor* statistics : {&inputs.softmax_max, &inputs.softmax_sum}) {
    const auto elements = spec::viewed_elements(*statistics);
    for (std::size_t k = 0; k < elements.size(); ++k)
      ASSERT_EQ(statistics->load(elements[k]), statistics->load(elements[k / 8 * 8]));
  }
}

TEST(SelectedInputs, StridesChangeNoValue) {
  Case<Op> c = small_case("shuffled", 2);
  const Op::Inputs plain = make_inputs(c);
  for (const auto striding : {spec::Striding::padded, spec::Striding::transposed}) {
    c.inputs = striding;
    Op::Inputs strided = make_inputs(c);
    std::map<std::string, const spec::Tensor*> expected;
    visit_tensors(plain,
                  [&](const char* name, const spec::Tensor& tensor) { expected[name] = &tensor; });
    EXPECT_EQ(expected.size(), 9u);
    visit_tensors(strided, [&](const char* name, const spec::Tensor& tensor) {
      const spec::Tensor& other = *expected.at(name);
      EXPECT_NE(tensor.strides, other.strides) << name;
      const auto one = spec::viewed_elements(tensor), two = spec::viewed_elements(other);
      ASSERT_EQ(one.size(), two.size()) << name;
      for (std::size_t k = 0; k < one.size(); ++k)
        ASSERT_EQ(tensor.load(one[k]), other.load(two[k])) << name;
    });
  }
}

TEST(SelectedInputs, TheMaskIsATriangleInMode2AndZerosInMode0) {
  Case<Op> c = small_case("shuffled", 2);
  const auto triangle = make_causal_mask(c);
  ASSERT_TRUE(triangle);
  EXPECT_EQ(triangle->load(5 * 2048 + 5), 0);
  EXPECT_EQ(triangle->load(5 * 2048 + 6), 1);
  c.problem.sparse_mode = 0;
  const auto zeros = make_causal_mask(c);
  EXPECT_TRUE(std::ranges::all_of(zeros->bytes, [](std::byte b) { return b == std::byte{0}; }));
  c.problem.atten_mask = spec::SelectedMask::absent;
  EXPECT_FALSE(make_causal_mask(c));
}

TEST(SelectedInputs, AnotherSeedGivesOtherListsAndNumbers) {
  Case<Op> c = small_case("shuffled");
  const Op::Inputs one = make_inputs(c), same = make_inputs(c);
  c.seed = 2;
  const Op::Inputs two = make_inputs(c);
  EXPECT_EQ(one.topk_indices.bytes, same.topk_indices.bytes);
  EXPECT_EQ(one.key.bytes, same.key.bytes);
  EXPECT_NE(one.topk_indices.bytes, two.topk_indices.bytes);
  EXPECT_NE(one.key.bytes, two.key.bytes);
}

}  // namespace
}  // namespace assay::conformance

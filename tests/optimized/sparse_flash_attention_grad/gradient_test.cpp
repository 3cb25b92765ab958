#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "../failing_kernels.hpp"
#include "../implementation_checks.hpp"
#include "assay/optimized/sparse_flash_attention_grad.hpp"
#include "assay/optimized/sparse_flash_attention_grad/tiling.hpp"
#include "scarce_threads.hpp"
#include "sparse_flash_attention_grad/kernel.hpp"
#include "sparse_flash_attention_grad/lists.hpp"
#include "sparse_flash_attention_grad/schedule.hpp"

namespace {

using namespace assay;
using namespace assay::optimized::sparse_flash;
using Op = spec::SparseFlashAttentionGrad;
using Problem = Op::Problem;
using List = std::vector<std::int64_t>;

/// A function that returns the block list of a token. `blocks` is the number of blocks that the
/// token may attend to.
using MakeList = std::function<List(std::int64_t token, std::int64_t blocks)>;

/// Returns a list of every second block, in descending order. Consecutive tokens have different
/// lists.
List descending(std::int64_t token, std::int64_t blocks) {
  List list;
  for (std::int64_t block = blocks - 1 - token % 2; block >= 0; block -= 2) list.push_back(block);
  return list;
}

Problem packed() {
  return {.dtype = spec::DType::fp16,
          .layout = spec::Layout::tnd,
          .batch = 3,
          .heads_q = 16,
          .seq_q = 40,
          .seq_kv = 300,
          .lengths_q = {40, 9, 30},
          .lengths_kv = {300, 4, 150},
          .sparse_block_count = 400,
          .sparse_mode = 3};
}

struct Tensors {
  Op::Inputs inputs;
  Op::Outputs outputs;
};

void fill(spec::Tensor& tensor, const std::function<double()>& number) {
  for (const std::int64_t element : spec::viewed_elements(tensor)) tensor.store(element, number());
}

Tensors tensors_of(const Problem& p, const MakeList& make = descending) {
  Tensors all;
  const Op::Parameters t = spec::call_of(p, Op::EntryPoint::g1, spec::Product::a2,
                                         spec::Striding::contiguous, spec::Striding::contiguous)
                               .parameters;
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto create = [&](auto& fields) {
    visit_fields(t, [&](std::string_view name, const auto& parameter) {
      if constexpr (std::same_as<decltype(parameter), const spec::Parameter&>)
        visit_fields(fields, [&](std::string_view other, auto& member) {
          if (name == other && parameter.present)
            member = spec::contiguous_tensor(parameter.dtype, parameter.shape);
        });
    });
  };
  create(all.inputs), create(all.outputs);
  visit_fields(all.outputs, [&](std::string_view, auto& member) {  // a kernel must write zeros, too
    if constexpr (std::same_as<decltype(member), spec::Tensor&>)
      fill(member, [] { return 7; });
    else if (member)
      fill(*member, [] { return 7; });
  });
  const auto noise = [&] { return uniform(generator) / 8; };
  for (spec::Tensor* tensor :
       {&all.inputs.query, &all.inputs.key, &all.inputs.d_out, &all.inputs.out})
    fill(*tensor, noise);
  if (all.inputs.value) all.inputs.value->bytes = all.inputs.key.bytes;
  if (all.inputs.query_rope) fill(*all.inputs.query_rope, noise), fill(*all.inputs.key_rope, noise);
  fill(all.inputs.softmax_max, [&] { return 0.5 + noise(); });
  fill(all.inputs.softmax_sum, [&] { return 2 + noise(); });
  List lists;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t token = 0; token < p.length_q(b); ++token) {
      List list = make(token, device::ceil_divide(visible_keys(p, b, token), p.sparse_block_size));
      list.resize(static_cast<std::size_t>(p.sparse_block_count), -1);
      lists.insert(lists.end(), list.begin(), list.end());
    }
  fill(all.inputs.sparse_indices,
       [next = lists.begin()]() mutable { return static_cast<double>(*next++); });
  return all;
}

Op::Outputs run(const Problem& p, Tensors tensors, const optimized::Options& options = {}) {
  optimized::sparse_flash_attention_grad(device::a2(), options)
      ->run(p, tensors.inputs, tensors.outputs);
  return tensors.outputs;
}

std::map<std::string_view, spec::Storage> bytes_of(const Op::Outputs& outputs) {
  std::map<std::string_view, spec::Storage> all;
  visit_fields(outputs, [&](std::string_view name, const auto& member) {
    if constexpr (std::same_as<decltype(member), const spec::Tensor&>)
      all[name] = member.bytes;
    else if (member)
      all[name] = member->bytes;
  });
  return all;
}

bool same_bits(const Op::Outputs& one, const Op::Outputs& other) {
  return bytes_of(one) == bytes_of(other);
}

TEST(SparseFlashGradient, HasTheSameBitsForEveryNumberOfThreadsAndInstructionSet) {
  for (Problem p : {packed(), Problem{.batch = 2,
                              .heads_q = 4,
                              .seq_q = 30,
                              .seq_kv = 280,
                              .value_form = spec::SparseValue::merged,
                              .sparse_block_size = 16,
                              .sparse_block_count = 40}}) {
    const Tensors tensors = tensors_of(p);
    const Op::Outputs expected = run(p, tensors, {.threads = 1});
    for (const optimized::Options& options : test::ways_to_run({2, 3, 7}))
      EXPECT_TRUE(same_bits(run(p, tensors, options), expected)) << test::printed(options);
  }
}

TEST(SparseFlashGradient, DoesNotDependOnTheOrderOfEntries) {
  const Problem p = packed();
  const auto ascending = [](std::int64_t token, std::int64_t blocks) {
    List list = descending(token, blocks);
    std::ranges::reverse(list);
    return list;
  };
  EXPECT_TRUE(same_bits(run(p, tensors_of(p)), run(p, tensors_of(p, ascending))));
}

/// One query and three keys, two of which are listed. The numbers are those of the hand-computed
/// test of the reference.
TEST(SparseFlashGradient, TwoOfThreeKeysAgreeWithHandComputation) {
  for (const auto form : {spec::SparseValue::given, spec::SparseValue::merged}) {
    const Problem p{.seq_q = 1,
                    .seq_kv = 3,
                    .head_dim_rope = 0,
                    .value_form = form,
                    .scale_value = 0.5,
                    .sparse_block_count = 2};
    Tensors t = tensors_of(p, [](std::int64_t, std::int64_t) { return List{2, 0}; });
    const auto first_channels = [](spec::Tensor& tensor, std::vector<double> numbers) {
      std::size_t element = 0;
      fill(tensor, [&] { return element++ % 512 == 0 ? numbers.at(element / 512) : 0; });
    };
    first_channels(t.inputs.query, {0}), first_channels(t.inputs.d_out, {2});
    first_channels(t.inputs.key, {1, 99, 3}), first_channels(t.inputs.out, {2});
    if (t.inputs.value) t.inputs.value->bytes = t.inputs.key.bytes;
    fill(t.inputs.softmax_max, [] { return 0; }), fill(t.inputs.softmax_sum, [] { return 2; });
    const Op::Outputs outputs = run(p, t);
    // P is 1/2 and 1/2, dP is 2 and 6, the row term is 4, dS is -1 and 1.
    EXPECT_EQ(outputs.d_query.load(0), 1);  // 0.5 (3 - 1)
    const bool merged = form == spec::SparseValue::merged;
    for (const std::int64_t key : {0, 1, 2}) {
      const double d_value = key == 1 ? 0 : 1;
      EXPECT_EQ(outputs.d_key.load(512 * key), merged ? d_value : 0) << key;
      if (!merged) {
        EXPECT_EQ(outputs.d_value->load(512 * key), d_value) << key;
      }
    }
  }
}

TEST(SparseFlashGradient, SequencesWithoutQueriesAndQueriesWithoutKeysHaveZeros) {
  Problem p = packed();
  p.lengths_q = {0, 9, 40};
  const auto first_block = [](std::int64_t, std::int64_t blocks) {
    return blocks == 0 ? List() : List{0};
  };
  const Op::Outputs outputs = run(p, tensors_of(p, first_block));
  const auto are_zero = [](const spec::Tensor& tensor, std::int64_t first, std::int64_t count) {
    bool zero = true;
    for (std::int64_t element = first; element < first + count; ++element)
      zero &= tensor.load(element) == 0;
    return zero;
  };
  EXPECT_TRUE(are_zero(outputs.d_key, 0, 300 * 512) && are_zero(*outputs.d_value, 0, 300 * 512));
  // The second sequence has 9 queries and 4 keys, so the first five queries attend to no key.
  EXPECT_TRUE(are_zero(outputs.d_query, 0, 5 * 16 * 512));
  EXPECT_TRUE(are_zero(*outputs.d_query_rope, 0, 5 * 16 * 64));
  EXPECT_FALSE(are_zero(outputs.d_query, 5 * 16 * 512, 16 * 512));
}

TEST(SparseFlashLists, NameOnlyVisibleKeysInAscendingOrder) {
  const Problem p{.seq_q = 1, .seq_kv = 20, .sparse_block_size = 8, .sparse_block_count = 3};
  const Tensors tensors = tensors_of(p, [](std::int64_t, std::int64_t) { return List{2, 0}; });
  List keys;
  KeyLists(p, tensors.inputs.sparse_indices).read(0, 0, keys);
  EXPECT_EQ(keys, (List{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19}));
}

TEST(SparseFlashGradient, RefusesABlockWithoutVisibleKeysAndWritesNothing) {
  const Problem p = packed();
  Tensors tensors = tensors_of(p, [](std::int64_t token, std::int64_t blocks) {
    return token == 8 && blocks == 4 ? List{0, 4} : List{0};
  });
  const Op::Outputs before = tensors.outputs;
  const auto kernel = optimized::sparse_flash_attention_grad(device::a2());
  try {
    kernel->run(p, tensors.inputs, tensors.outputs);
    FAIL() << "the list must be refused";
  } catch (const spec::Rejected& rejected) {
    EXPECT_EQ(std::string(rejected.what()),
              "SFAG-C32: entry 1 of the list of query 8 of sequence 1 is block 4; the query sees 4 "
              "blocks");
  }
  EXPECT_TRUE(same_bits(tensors.outputs, before));
}

TEST(SparseFlashGradient, NeedsNoThreadThatTheMachineRefuses) {
  const Tensors tensors = tensors_of(packed());
  const Op::Outputs expected = run(packed(), tensors, {.threads = 1});
  for (const int startable : {3, 1, 0}) {
    const test::ScarceThreads machine(startable);
    EXPECT_TRUE(same_bits(run(packed(), tensors, {.threads = 5}), expected)) << startable;
    EXPECT_GT(machine.refused(), 0);
  }
}

/// If the work on one token fails, other threads may be waiting for their turn to add to a key.
/// They must end, too.
TEST(SparseFlashGradient, ThrowsWhatOneOfItsThreadsThrows) {
  Problem p = packed();
  p.heads_q = 1;
  Tensors tensors = tensors_of(p);
  const Tiling tiling = plan(p, device::a2());
  Workspace workspace;
  const auto run_with = [&](const optimized::tile::Kernels& kernels, std::int64_t threads) {
    compute_gradient(
        p, tensors.inputs, tensors.outputs,
        {.tiling = tiling, .kernels = kernels, .workspace = workspace, .threads = threads});
  };
  EXPECT_GT(test::failed_runs(run_with), 15);
  EXPECT_TRUE(same_bits(tensors.outputs, run(p, tensors_of(p), {.threads = 1})))
      << "the successful runs must have the same bits";
}

TEST(SparseFlashTiling, FitsEveryBufferOfEveryDevice) {
  for (const device::Spec& spec : device::devices())
    for (std::int64_t heads = 1; heads <= 128; heads *= 2)
      for (const std::int64_t rope : {0, 64})
        for (const std::int64_t keys : {1, 17, 5000}) {
          const Problem p{.heads_q = heads, .seq_kv = keys, .head_dim_rope = rope};
          const Tiling tiling = plan(p, spec);
          EXPECT_TRUE(test::has_legal_buffers(tiling, spec)) << heads << " x " << keys;
          EXPECT_GE(tiling.rows, heads);
          EXPECT_EQ(tiling.columns, keys == 1 ? 16 : keys == 17 ? 32 : 128);
        }
}

/// Counted by hand for sparse mode 3 with 5 queries and 300 keys. A list names at most 200 keys.
TEST(SparseFlashTiling, CountsTheWorkOfLists) {
  const Problem p{.seq_q = 5, .seq_kv = 300, .sparse_block_count = 200, .sparse_mode = 3};
  Problem late = p;
  late.seq_q = 302;
  const Tiling tiling = plan(p, device::a2());
  const Demand demand = usual_demand(p, tiling), of_late = usual_demand(late, tiling);
  EXPECT_EQ(demand.tokens, 5);
  EXPECT_EQ(demand.keys, 1000);
  EXPECT_EQ(demand.tiles, 10);
  EXPECT_EQ(demand.full_tiles, 5);
  EXPECT_EQ(of_late.without_keys, 2);
  EXPECT_EQ(of_late.keys, 200 * 201 / 2 + 100 * 200);
}

TEST(SparseFlashTraffic, IsReportedByTheImplementationOfTheListsAsTheyAre) {
  const Problem p{.heads_q = 2, .seq_q = 3, .seq_kv = 300};
  Tensors tensors = tensors_of(p);
  const auto kernel = optimized::sparse_flash_attention_grad(device::a2());
  const Tiling tiling = plan(p, device::a2());
  Demand demand;
  for (int token = 0; token < 3; ++token) demand.add(150, tiling);
  test::expect_metrics(
      *kernel, [&] { kernel->run(p, tensors.inputs, tensors.outputs); }, 7,
      traffic(p, tiling, demand));
  // With lists, each listed row is copied once more than without lists.
  Demand none;
  const std::int64_t copied = 450 * (576 + 512) * 2;
  EXPECT_GT(traffic(p, tiling, demand).written.count,
            traffic(p, tiling, none).written.count + copied);
}

TEST(SparseFlashCostTable, ChangesNoOutputBit) {
  const Problem p = packed();
  Tensors usual = tensors_of(p), slow = usual;
  optimized::sparse_flash_attention_grad(device::a2())->run(p, usual.inputs, usual.outputs);
  optimized::sparse_flash_attention_grad(test::slower(device::a2()))
      ->run(p, slow.inputs, slow.outputs);
  EXPECT_TRUE(same_bits(usual.outputs, slow.outputs));
}

TEST(SparseFlashSchedule, EveryNumberOfHeadsHasOne) {
  for (std::int64_t heads = 1; heads <= 128; heads *= 2)
    for (const auto form : {spec::SparseValue::given, spec::SparseValue::merged}) {
      const Problem p{.heads_q = heads, .seq_q = 64, .seq_kv = 4096, .value_form = form};
      const std::string text = optimized::schedules::report(gathering_of(p), device::a2());
      EXPECT_NE(text.find("listed keys at a time"), std::string::npos) << heads << text;
    }
}

}  // namespace

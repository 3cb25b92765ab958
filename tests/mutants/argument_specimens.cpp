#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/status.hpp"
#include "families.hpp"

namespace assay::mutants {
namespace {

using spec::Parameter;
using spec::Status;
using Call = spec::Call<Op>;
using Member = Parameter Op::Parameters::*;
using P = Op::Parameters;

/// One check of phase 1: the row that asks for it, what a refusal answers, and whether a call
/// passes.
struct Check {
  std::string row;
  Status status;
  std::string demand;
  bool (*holds)(const Call& call);
};

bool given(const Parameter& parameter) { return parameter.present && !parameter.shape.empty(); }

bool present(const Call& c, std::initializer_list<Member> members) {
  return std::ranges::all_of(members, [&](Member m) { return (c.parameters.*m).present; });
}

bool computes_in(const Call& c, std::initializer_list<Member> members) {
  return std::ranges::all_of(
      members, [&](Member m) { return spec::is_fp16_bf16_fp32((c.parameters.*m).dtype); });
}

/// FAG-C20 has the types that nothing is computed in.
bool has_types_of_query(const Call& c) {
  if (!spec::is_fp16_bf16_fp32(c.parameters.query.dtype)) return true;
  return std::ranges::all_of(
      std::array{&P::key, &P::value, &P::dy, &P::attention_in, &P::dq, &P::dk, &P::dv},
      [&](Member m) { return (c.parameters.*m).dtype == c.parameters.query.dtype; });
}

bool has_known_layout(const Call& c) {
  const std::string& layout = *c.attributes.input_layout;
  return layout == "BSH" || layout == "SBH" || layout == "BSND" || layout == "BNSD";
}

bool has_ranks_of_layout(const Call& c) {
  const std::size_t rank = c.attributes.input_layout->size();
  return std::ranges::all_of(
      std::array{&P::query, &P::key, &P::value, &P::dy, &P::attention_in, &P::dq, &P::dk, &P::dv},
      [&](Member m) { return (c.parameters.*m).shape.size() == rank; });
}

/// Heads and their size, folded into one axis by BSH and SBH.
bool is_folded(const Call& c) { return c.attributes.input_layout->size() == 3; }

std::int64_t axis(const Call& c, const Parameter& parameter, char name) {
  return parameter.shape.at(c.attributes.input_layout->find(name));
}

std::int64_t heads_q(const Call& c) {
  return is_folded(c) ? c.attributes.head_num : axis(c, c.parameters.query, 'N');
}

std::int64_t head_dim(const Call& c) {
  return is_folded(c) ? c.parameters.query.shape.at(2) / c.attributes.head_num
                      : c.parameters.query.shape.at(3);
}

std::int64_t heads_kv(const Call& c) {
  return is_folded(c) ? c.parameters.key.shape.at(2) / head_dim(c) : axis(c, c.parameters.key, 'N');
}

bool has_head_num_of_query(const Call& c) {
  const std::int64_t head_num = c.attributes.head_num;
  if (head_num <= 0) return false;
  if (is_folded(c))
    return c.parameters.query.shape.at(2) % head_num == 0 &&
           c.parameters.softmax_max.shape.at(1) == head_num;
  return head_num == heads_q(c);
}

bool has_one_head_dim(const Call& c) {
  if (is_folded(c)) return c.parameters.key.shape.at(2) % head_dim(c) == 0;
  return c.parameters.key.shape.at(3) == head_dim(c);
}

bool has_value_within_key(const Call& c) {
  const std::int64_t last = c.parameters.value.shape.back();
  return (is_folded(c) ? last / heads_kv(c) : last) <= head_dim(c);
}

spec::Shape lengths(const Call& c) {
  return {axis(c, c.parameters.query, 'S'), axis(c, c.parameters.key, 'S')};
}

bool has_statistics_shape(const Call& c) {
  const spec::Shape expected = {axis(c, c.parameters.query, 'B'), heads_q(c), lengths(c)[0], 8};
  return c.parameters.softmax_max.shape == expected && c.parameters.softmax_sum.shape == expected;
}

bool has_mask_shape_of_mode(const Call& c) {
  if (!given(c.parameters.atten_mask)) return true;
  const spec::Shape& shape = c.parameters.atten_mask.shape;
  if (shape.size() != 2 && shape.size() != 4) return false;
  const spec::Shape edges = {shape.end()[-2], shape.end()[-1]};
  const std::int64_t mode = c.attributes.sparse_mode;
  if (mode == 6) return edges == spec::Shape{3072, 2048};
  if (mode > 1 && mode != 5) return edges == spec::Shape{2048, 2048};
  if (edges != lengths(c)) return false;
  const std::int64_t batch = axis(c, c.parameters.query, 'B');
  return shape.size() == 2 || ((shape[0] == 1 || shape[0] == batch) &&
                               (shape[1] == 1 || (shape[0] == batch && shape[1] == heads_q(c))));
}

std::vector<Check> presence_checks() {
  return {
      {"FAG-C01", Status::param_nullptr, "query, key, value and dy must be given",
       [](const Call& c) {
         return present(c, {&P::query, &P::key, &P::value, &P::dy});
       }},
      {"FAG-C02", Status::param_nullptr, "dq, dk, dv, workspaceSize and executor must be given",
       [](const Call& c) {
         return present(c, {&P::dq, &P::dk, &P::dv}) && c.parameters.workspace_size &&
                c.parameters.executor;
       }},
      {"FAG-C03", Status::param_nullptr, "attention_in must be given",
       [](const Call& c) { return given(c.parameters.attention_in); }},
      {"FAG-C04", Status::param_nullptr, "softmax_max and softmax_sum must be given",
       [](const Call& c) {
         return given(c.parameters.softmax_max) && given(c.parameters.softmax_sum);
       }},
      {"FAG-C07", Status::param_nullptr, "input_layout must be given",
       [](const Call& c) { return c.attributes.input_layout.has_value(); }},
  };
}

std::vector<Check> type_checks() {
  return {
      {"FAG-C20", Status::param_invalid, "query, key and value must be fp16, bf16 or fp32",
       [](const Call& c) {
         return computes_in(c, {&P::query, &P::key, &P::value});
       }},
      {"FAG-C21", Status::param_invalid, "dy, attention_in and outputs must be fp16, bf16 or fp32",
       [](const Call& c) {
         return computes_in(c, {&P::dy, &P::attention_in, &P::dq, &P::dk, &P::dv});
       }},
      {"FAG-C21a", Status::param_invalid, "all of them must have one type", has_types_of_query},
      {"FAG-C25", Status::param_invalid, "atten_mask must be bool or uint8",
       [](const Call& c) {
         const Parameter& mask = c.parameters.atten_mask;
         return !given(mask) || mask.dtype == spec::DType::boolean ||
                mask.dtype == spec::DType::uint8;
       }},
      {"FAG-C26", Status::param_invalid, "softmax_max and softmax_sum must be fp32",
       [](const Call& c) {
         return c.parameters.softmax_max.dtype == spec::DType::fp32 &&
                c.parameters.softmax_sum.dtype == spec::DType::fp32;
       }},
  };
}

std::vector<Check> shape_and_value_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"FAG-C30", invalid, "input_layout must be BSH, SBH, BSND or BNSD", has_known_layout},
      {"FAG-C32", invalid, "ranks must be that of input_layout", has_ranks_of_layout},
      {"FAG-C38", invalid, "head_num must be the number of query heads", has_head_num_of_query},
      {"FAG-C34", invalid, "query and key must have one head size", has_one_head_dim},
      {"FAG-C37", invalid, "heads of key must divide the heads of query",
       [](const Call& c) { return heads_kv(c) > 0 && heads_q(c) % heads_kv(c) == 0; }},
      {"FAG-C35", invalid, "the head size of value must not exceed that of key",
       has_value_within_key},
      {"FAG-C46", invalid, "statistics must be (batch, heads_q, seq_q, 8)", has_statistics_shape},
      {"FAG-C60", invalid, "keep_prob must be in (0, 1]",
       [](const Call& c) { return c.attributes.keep_prob > 0 && c.attributes.keep_prob <= 1; }},
      {"FAG-C63", invalid, "sparse_mode must be in 0..8",
       [](const Call& c) {
         return c.attributes.sparse_mode >= 0 && c.attributes.sparse_mode <= 8;
       }},
      {"FAG-C67", invalid, "atten_mask must have a shape of its sparse_mode",
       has_mask_shape_of_mode},
  };
}

std::vector<Check> all_checks() {
  std::vector<Check> all = presence_checks();
  for (const auto& more : {type_checks(), shape_and_value_checks()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// A kernel whose phase 1 makes the checks that it was given, in their order.
class CheckedKernel : public Kernel {
 public:
  CheckedKernel(std::string name, std::vector<Check> checks)
      : Kernel(std::move(name), flash_like), checks_(std::move(checks)) {}

  void check(const Call& call) const override {
    for (const Check& one : checks_)
      if (!one.holds(call)) throw spec::Rejected(one.status, one.row + ": " + one.demand);
  }

 private:
  std::vector<Check> checks_;
};

Specimen with_checks(const std::string& name, std::string bug, const std::vector<Check>& checks) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::arguments,
          .make = [name, checks] { return std::make_unique<CheckedKernel>(name, checks); }};
}

Specimen without_row(const std::string& row) {
  std::vector<Check> checks = all_checks();
  std::string demand;
  std::erase_if(checks, [&](const Check& check) {
    if (check.row == row) demand = check.demand;
    return check.row == row;
  });
  return with_checks("without_" + row, "does not check that " + demand, checks);
}

std::vector<Check> with_status_for_null(Status status) {
  std::vector<Check> checks = all_checks();
  for (Check& check : checks)
    if (check.status == Status::param_nullptr) check.status = status;
  return checks;
}

}  // namespace

std::vector<std::string> checked_rows() {
  std::vector<std::string> rows;
  for (const Check& check : all_checks()) rows.push_back(check.row);
  return rows;
}

std::vector<Specimen> argument_specimens() {
  std::vector<Specimen> all = {
      with_checks("argument_checks", "checks its arguments itself", all_checks())};
  all.front().healthy = true;
  for (const char* row :
       {"FAG-C02", "FAG-C20", "FAG-C21a", "FAG-C25", "FAG-C26", "FAG-C34", "FAG-C35", "FAG-C37",
        "FAG-C38", "FAG-C46", "FAG-C60", "FAG-C63", "FAG-C67"})
    all.push_back(without_row(row));
  all.push_back(with_checks("null_is_invalid", "answers 161002 for a null pointer",
                            with_status_for_null(Status::param_invalid)));
  all.push_back(with_checks("no_checks", "accepts every call", {}));
  std::vector<Check> strict = all_checks();
  strict.push_back({"one head", Status::param_invalid, "grouped heads are not taken",
                    [](const Call& c) { return heads_q(c) == heads_kv(c); }});
  all.push_back(
      with_checks("refuses_grouped_heads", "refuses legal calls with grouped heads", strict));
  return all;
}

}  // namespace assay::mutants

#include "assay/conformance/record.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "assay/conformance/operators/flash_attention_score_grad_tensors.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

std::string text_of(const spec::Shape& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

void copy_elements(const spec::Tensor& from, spec::Tensor& to) {
  const auto sources = spec::viewed_elements(from), targets = spec::viewed_elements(to);
  const std::int64_t size = spec::size_of(to.dtype);
  for (std::size_t k = 0; k < targets.size(); ++k)
    std::memcpy(to.bytes.data() + targets[k] * size, from.bytes.data() + sources[k] * size,
                static_cast<std::size_t>(size));
}

const spec::Tensor& find(const std::vector<fixtures::NamedTensor>& tensors,
                         const std::string& name) {
  for (const auto& named : tensors)
    if (named.name == name) return named.tensor;
  throw std::invalid_argument("output '" + name + "' is absent");
}

template <class Tensors>
std::vector<fixtures::NamedTensor> copies(const Tensors& tensors) {
  std::vector<fixtures::NamedTensor> named;
  visit_tensors(tensors, [&](const char* name, const spec::Tensor& tensor) {
    named.push_back({name, tensor});
  });
  return named;
}

/// Refuses a tensor that is none of `outputs`.
void require_names(const Op::Outputs& outputs, const std::vector<fixtures::NamedTensor>& tensors) {
  std::vector<std::string> names;
  std::string list;
  visit_tensors(outputs, [&](const char* name, const spec::Tensor&) {
    names.emplace_back(name);
    list += (list.empty() ? "" : ", ") + names.back();
  });
  for (const auto& named : tensors)
    if (std::ranges::find(names, named.name) == names.end())
      throw std::invalid_argument("'" + named.name + "' is no output; there are " + list);
}

fixtures::Field field(std::int64_t value) { return value; }
fixtures::Field field(double value) { return value; }
fixtures::Field field(const std::vector<std::int64_t>& values) { return values; }
template <spec::Spelled Enum>
fixtures::Field field(Enum value) {
  return std::string(spec::to_string(value));
}

}  // namespace

template <class CaseOp>
fixtures::CaseRecord recipe(const Case<CaseOp>& c) {
  const std::string command = command_line(c);
  fixtures::CaseRecord record{.id = case_id(command),
                              .operator_name = std::string(CaseOp::name),
                              .surface = std::string(spec::to_string(c.surface)),
                              .product = std::string(spec::to_string(c.product)),
                              .command = command,
                              .profile = c.profile,
                              .track = std::string(spec::to_string(c.track)),
                              .seed = c.seed};
  visit_fields(c.problem, [&](std::string_view name, const auto& member, std::string_view) {
    record.problem.emplace_back(name, field(member));
  });
  return record;
}
template fixtures::CaseRecord recipe(const Case<Op>&);

std::vector<std::string> case_words(const std::string& command_line,
                                    std::string_view operator_name) {
  std::istringstream stream(command_line);
  std::string word;
  stream >> word;
  if (word != operator_name)
    throw std::invalid_argument("replay line '" + command_line + "' is of '" + word +
                                "', wanted '" + std::string(operator_name) + "'");
  std::vector<std::string> words;
  while (stream >> word) words.push_back(word);
  return words;
}

std::vector<fixtures::NamedTensor> named_tensors(const Op::Inputs& inputs) {
  return copies(inputs);
}

std::vector<fixtures::NamedTensor> named_tensors(const Op::Outputs& outputs) {
  return copies(outputs);
}

Op::Outputs outputs_from(const Case<Op>& c, const std::vector<fixtures::NamedTensor>& tensors) {
  Op::Outputs outputs = make_outputs(c);
  require_names(outputs, tensors);
  visit_tensors(outputs, [&](const char* name, spec::Tensor& output) {
    const spec::Tensor& given = find(tensors, name);
    if (given.shape != output.shape)
      throw std::invalid_argument(std::string(name) + " has shape " + text_of(given.shape) +
                                  ", wanted " + text_of(output.shape));
    if (given.dtype != output.dtype)
      throw std::invalid_argument(std::string(name) + " has dtype " +
                                  std::string(spec::to_string(given.dtype)) + ", wanted " +
                                  std::string(spec::to_string(output.dtype)));
    copy_elements(given, output);
  });
  return outputs;
}

std::vector<fixtures::ExpectedTensor> stored_expected(Examination& examination,
                                                      const spec::NumericsProfile& numerics,
                                                      const std::string& profile_name) {
  std::vector<fixtures::ExpectedTensor> stored;
  for (auto& expected : examination.expected(numerics))
    stored.push_back({.name = std::move(expected.name),
                      .profile = profile_name,
                      .value = std::move(expected.value),
                      .radius = std::move(expected.radius),
                      .tau = std::move(expected.tau),
                      .rows = std::move(expected.rows),
                      .dim = expected.dim,
                      .dtype = examination.examined().problem.dtype});
  return stored;
}

}  // namespace assay::conformance

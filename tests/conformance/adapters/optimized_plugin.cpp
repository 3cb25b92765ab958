#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay_plugin.h"

/// Our own implementation as a C plug-in. Its results must equal the results of the same kernel in
/// the judge's process.
namespace {

using namespace assay;
using Op = spec::FlashAttentionScoreGrad;

/// Returns the tiled kernel for the modelled Ascend A2, the same kernel as in the program `assay`.
spec::Implementation<Op>& kernel() {
  static const auto implementation = optimized::flash_attention_score_grad(device::a2());
  return *implementation;
}

/// Stores a text and returns a pointer that stays valid until the next call.
const char* kept(std::string text) {
  static std::string last;
  last = std::move(text);
  return last.c_str();
}

void read(const assay_value& value, std::int64_t& member) { member = value.integer; }
void read(const assay_value& value, bool& member) { member = value.integer != 0; }
void read(const assay_value& value, double& member) { member = value.real; }
void read(const assay_value& value, std::string& member) { member = value.text; }
void read(const assay_value& value, std::vector<std::int64_t>& member) {
  member.assign(value.integers, value.integers + value.count);
}
template <spec::Spelled Enum>
void read(const assay_value& value, Enum& member) {
  member = spec::spellings_of<Enum>.parse(value.text).value();
}
template <class T>
void read(const assay_value& value, std::optional<T>& member) {
  read(value, member.emplace());
}

/// Converts the type, shape, strides and offset of a plug-in tensor into a Parameter or a Tensor.
template <class Described>
Described described(const assay_tensor& t) {
  Described result;
  result.dtype = static_cast<spec::DType>(t.dtype);
  result.shape.assign(t.shape, t.shape + t.rank);
  result.strides.assign(t.strides, t.strides + t.rank);
  result.offset = t.offset;
  return result;
}

Op::Problem problem_of(const assay_call& call) {
  Op::Problem problem;
  visit_fields(problem, [&](const char* name, auto& member, const auto&) {
    read(*assay_find_field(&call, name), member);
  });
  return problem;
}

spec::Call<Op> call_of(const assay_call& call) {
  spec::Call<Op> result{};
  result.entry_point = spec::spellings_of<spec::FlashEntryPoint>.parse(call.entry_point).value();
  result.product = spec::spellings_of<spec::Product>.parse(call.product).value();
  visit_fields(result.attributes, [&](const char* name, auto& member) {
    if (const assay_value* value = assay_find_attribute(&call, name)) read(*value, member);
  });
  visit_fields(result.parameters, [&](const char* name, auto& member) {
    if constexpr (std::same_as<std::remove_reference_t<decltype(member)>, spec::Parameter>) {
      const assay_tensor* const tensor = assay_find_tensor(&call, name);
      if (tensor == nullptr) return;
      member = described<spec::Parameter>(*tensor);
      member.present = true;
      member.format = spec::spellings_of<spec::Format>.parse(tensor->format).value();
    } else if (const assay_value* value = assay_find_attribute(&call, name)) {
      read(*value, member);
    }
  });
  return result;
}

/// Returns the inputs or outputs as tensors that use the plug-in's buffers without a copy.
template <class Tensors>
Tensors tensors_of(const assay_call& call) {
  Tensors tensors;
  visit_fields(tensors, [&](const char* name, auto& member) {
    const assay_tensor* const t = assay_find_tensor(&call, name);
    if (t == nullptr) return;
    spec::Tensor tensor = described<spec::Tensor>(*t);
    tensor.bytes = spec::Storage::borrowed(
        {static_cast<std::byte*>(t->storage), static_cast<std::size_t>(t->storage_bytes)});
    member = std::move(tensor);
  });
  return tensors;
}

/// Calls `act`. Returns 0, or the status code with which the kernel refuses the call.
template <class Act>
std::int32_t answer(const char** reason, Act&& act) {
  try {
    act();
    return assay_accepted;
  } catch (const spec::Rejected& refusal) {
    *reason = kept(refusal.what());
    return static_cast<std::int32_t>(refusal.status());
  }
}

const char* unsupported(const assay_call* call) {
  const auto reason = kernel().unsupported(call_of(*call));
  return reason ? kept(*reason) : nullptr;
}

std::string text_of(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}
std::string text_of(bool value) { return value ? "true" : "false"; }
template <spec::Spelled Enum>
std::string text_of(Enum value) {
  return std::string(spec::to_string(value));
}

const char* numerics(const assay_call* call) {
  const spec::Numerics numerics = kernel().numerics(problem_of(*call));
  std::string text;
  visit_fields(numerics, [&](const char* name, const auto& member) {
    text += (text.empty() ? "" : ",") + std::string(name) + "=" + text_of(member);
  });
  return kept(text);
}

std::int32_t check(const assay_call* call, const char** reason) {
  return answer(reason, [&] { kernel().check(call_of(*call)); });
}

std::int32_t run(const assay_call* call, const char** reason) {
  return answer(reason, [&] {
    const auto inputs = tensors_of<Op::Inputs>(*call);
    auto outputs = tensors_of<Op::Outputs>(*call);
    kernel().run(problem_of(*call), inputs, outputs);
  });
}

std::int32_t forward(const assay_call* call, const char** reason) {
  return answer(reason, [&] {
    auto inputs = tensors_of<Op::Inputs>(*call);
    kernel().forward(problem_of(*call), inputs);
  });
}

const assay_metric* metrics(std::int64_t* count) {
  static std::vector<spec::Metric> last;
  static std::vector<assay_metric> printed;
  last = kernel().metrics();
  printed.clear();
  for (const spec::Metric& metric : last)
    printed.push_back({metric.name.c_str(), metric.value, metric.unit.c_str()});
  *count = std::ssize(printed);
  return printed.data();
}

}  // namespace

extern "C" const assay_plugin* assay_plugin_v1() {
  static const char* const operators[] = {Op::name.data(), nullptr};
  static const assay_plugin plugin = {.abi_version = assay_plugin_abi_version,
                                      .name = "optimized-a2",
                                      .operators = operators,
                                      .unsupported = unsupported,
                                      .numerics = numerics,
                                      .check = check,
                                      .run = run,
                                      .forward = forward,
                                      .metrics = metrics};
  return &plugin;
}

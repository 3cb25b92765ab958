#include "assay/adapters/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <tuple>

#include "assay/spec/operators.hpp"
#include "plugin/call.hpp"

namespace assay::adapters {
namespace {

using spec::DType;
using spec::Status;

template <class C, class Cpp>
constexpr bool agrees(C c, Cpp cpp) {
  return static_cast<std::int64_t>(c) == static_cast<std::int64_t>(cpp);
}
static_assert(agrees(assay_fp16, DType::fp16) && agrees(assay_bf16, DType::bf16) &&
              agrees(assay_fp32, DType::fp32) && agrees(assay_fp64, DType::fp64) &&
              agrees(assay_int8, DType::int8) && agrees(assay_int16, DType::int16) &&
              agrees(assay_int32, DType::int32) && agrees(assay_int64, DType::int64) &&
              agrees(assay_uint8, DType::uint8) && agrees(assay_uint16, DType::uint16) &&
              agrees(assay_uint32, DType::uint32) && agrees(assay_uint64, DType::uint64) &&
              agrees(assay_bool, DType::boolean) && agrees(assay_hifloat8, DType::hifloat8) &&
              agrees(assay_float8_e5m2, DType::float8_e5m2) &&
              agrees(assay_float8_e4m3fn, DType::float8_e4m3fn));
static_assert(agrees(assay_accepted, Status::success) &&
              agrees(assay_param_nullptr, Status::param_nullptr) &&
              agrees(assay_param_invalid, Status::param_invalid) &&
              agrees(assay_inner_tiling_error, Status::inner_tiling_error));

constexpr const char* entry_name = "assay_plugin_v1";

/// Returns whether an input of a gradient operator is a result of the forward operator.
bool is_result(std::string_view name) {
  return name == "softmax_max" || name == "softmax_sum" || name == "attention_in" ||
         name == "attention_out";
}

/// Loads the shared library and returns the description that it exports. The library is never
/// unloaded, because threads that it started may still run.
const assay_plugin& loaded(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw std::invalid_argument("plug-in '" + path +
                                "' is not a file; expected a shared library (.so)");
  void* const library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::invalid_argument("plug-in '" + path + "' cannot be loaded: " + dlerror());
  using Entry = const assay_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, entry_name));
  if (entry == nullptr)
    throw std::invalid_argument("plug-in '" + path + "' does not export " + entry_name +
                                ": include assay_plugin.h and define this function");
  const assay_plugin* const plugin = entry();
  if (plugin == nullptr)
    throw std::invalid_argument("plug-in '" + path + "': " + entry_name + " gave a null pointer");
  if (plugin->abi_version != assay_plugin_abi_version)
    throw std::invalid_argument("plug-in '" + path + "' has ABI version " +
                                std::to_string(plugin->abi_version) + "; expected " +
                                std::to_string(assay_plugin_abi_version));
  const auto require = [&](bool is_there, const std::string& member) {
    if (!is_there)
      throw std::invalid_argument("plug-in '" + path + "' lacks '" + member +
                                  "': its assay_plugin has a null pointer there");
  };
  require(plugin->name != nullptr, "name");
  require(plugin->operators != nullptr, "operators");
  require(plugin->run != nullptr, "run");
  return *plugin;
}

void require_operator(const assay_plugin& plugin, const std::string& path,
                      std::string_view wanted) {
  std::string offered;
  for (const char* const* name = plugin.operators; *name != nullptr; ++name) {
    if (*name == wanted) return;
    offered += (offered.empty() ? "" : ", ") + std::string(*name);
  }
  throw spec::Unsupported("plug-in '" + path + "' does not offer " + std::string(wanted) +
                          "; it offers " + (offered.empty() ? "nothing" : offered));
}

template <class Op>
class Plugin final : public spec::Implementation<Op> {
 public:
  using Problem = typename Op::Problem;
  using Inputs = typename Op::Inputs;
  using Outputs = typename Op::Outputs;

  explicit Plugin(const assay_plugin& plugin) : plugin_(plugin) {}

  std::string name() const override { return plugin_.name; }
  bool checks_arguments() const override { return plugin_.check != nullptr; }
  bool has_forward() const override { return plugin_.forward != nullptr; }

  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    if (plugin_.unsupported == nullptr) return std::nullopt;
    PluginCall<Op> seen;
    seen.add_attributes(call);
    seen.add_parameters(call);
    const assay_call c_call = seen.get();
    const char* const reason = plugin_.unsupported(&c_call);
    return reason == nullptr ? std::nullopt : std::optional<std::string>(reason);
  }

  spec::Numerics numerics(const Problem& problem) const override {
    if (plugin_.numerics == nullptr) return {};
    PluginCall<Op> seen;
    seen.add_problem(problem);
    const assay_call c_call = seen.get();
    const char* const text = plugin_.numerics(&c_call);
    return spec::numerics_from_text(text == nullptr ? "" : text, problem.dtype, Op::name);
  }

  void check(const spec::Call<Op>& call) const override {
    if (plugin_.check == nullptr) return;
    PluginCall<Op> seen;
    seen.add_attributes(call);
    seen.add_parameters(call);
    require_success(plugin_.check, seen);
  }

  void run(const Problem& problem, const Inputs& inputs, Outputs& outputs) override {
    PluginCall<Op> seen;
    add_all(seen, problem, inputs, outputs);
    require_success(plugin_.run, seen);
  }

  void run_call(const spec::Call<Op>& call, const Problem& problem, const Inputs& inputs,
                Outputs& outputs) override {
    PluginCall<Op> seen;
    seen.add_attributes(call);
    add_all(seen, problem, inputs, outputs);
    seen.add_rest(call);
    require_success(plugin_.run, seen);
  }

  std::vector<spec::Metric> metrics() const override {
    std::vector<spec::Metric> result;
    std::int64_t count = 0;
    const assay_metric* const reported =
        plugin_.metrics == nullptr ? nullptr : plugin_.metrics(&count);
    for (std::int64_t k = 0; reported != nullptr && k < count; ++k)
      result.push_back({reported[k].name, reported[k].value, reported[k].unit});
    return result;
  }

  void forward(const Problem& problem, Inputs& inputs) override {
    if (plugin_.forward == nullptr) throw std::logic_error(name() + " has no forward");
    PluginCall<Op> seen;
    seen.add_problem(problem);
    seen.add_forward(inputs, is_result);
    require_success(plugin_.forward, seen);
  }

 private:
  using Phase = std::int32_t (*)(const assay_call*, const char**);

  static void require_success(Phase phase, const PluginCall<Op>& seen) {
    const assay_call c_call = seen.get();
    const char* reason = nullptr;
    const std::int32_t status = phase(&c_call, &reason);
    if (status != assay_accepted)
      throw spec::Rejected(static_cast<Status>(status),
                           reason == nullptr ? "no reason given" : reason);
  }

  static void add_all(PluginCall<Op>& seen, const Problem& problem, const Inputs& inputs,
                      Outputs& outputs) {
    seen.add_problem(problem);
    seen.add_inputs(inputs);
    seen.add_outputs(outputs);
  }

  const assay_plugin& plugin_;
};

}  // namespace

template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_plugin(const std::string& path) {
  const assay_plugin& plugin = loaded(path);
  require_operator(plugin, path, Op::name);
  return std::make_unique<Plugin<Op>>(plugin);
}

namespace {

/// Instantiates the function template for every operator.
template <class... Ops>
auto open_plugin_of(spec::TypeList<Ops...>) {
  return std::tuple(&open_plugin<Ops>...);
}

}  // namespace

/// This variable forces the compiler to emit the template instantiations into the library.
extern const auto every_open_plugin = open_plugin_of(spec::Operators{});

}  // namespace assay::adapters

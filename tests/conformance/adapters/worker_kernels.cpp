#include "worker_kernels.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "assay/spec/takes_formulas.hpp"

namespace assay::tests {
namespace {

constexpr const char* long_reason = "weights of a Sunday";

[[noreturn]] void hang() {
  while (true) pause();
}

/// Writes garbage into every open socket, because one of them may be the connection to the judge.
/// Skips file descriptors that are not sockets.
void write_into_sockets() {
  const std::vector<char> garbage(64, '\x7f');
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode) &&
        write(descriptor, garbage.data(), garbage.size()) < 0)
      std::perror("write");
  }
}

[[noreturn]] void chatter_without_end() {
  const std::vector<char> page(1 << 16, 'a');
  while (write(STDERR_FILENO, page.data(), page.size()) >= 0) {
  }
  hang();
}

/// Allocates and writes memory until the process is killed, slowly enough that the memory watcher
/// notices it.
[[noreturn]] void take_all_memory() {
  std::vector<std::vector<char>> taken;
  while (true) {
    taken.emplace_back(8 << 20, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Keeps the memory allocated until the memory watcher has measured it.
void take_230_mebibytes() {
  const std::vector<char> taken(230 << 20, 'x');
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
}

/// Starts another process, which continues to run after this process has ended, and then hangs. The
/// started process creates `file`. It has its own process group, and its parent has ended.
[[noreturn]] void hang_with_a_child(const std::string& file) {
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() != 0) _exit(0);
    setpgid(0, 0);
    std::ofstream(file) << "here" << std::endl;
    hang();
  }
  waitpid(parent, nullptr, 0);
  hang();
}

class WorkerKernel final : public spec::Implementation<Compress>, public spec::TakesFormulas {
 public:
  explicit WorkerKernel(std::string manner) : manner_(std::move(manner)) {
    if (manner_ == "refuses to start") throw std::invalid_argument("no such kernel");
    if (manner_ == "dies at the start") raise(SIGABRT);
  }

  std::string name() const override { return "kernel " + manner_; }
  bool checks_arguments() const override { return manner_ != "checks nothing"; }
  bool has_forward() const override { return true; }
  bool takes_formulas() const override { return manner_.starts_with("computes formulas"); }
  bool has_formula_gradients() const override {
    return manner_ == "computes formulas and their gradients";
  }
  void set_formula(const std::string&) override {}

  std::optional<std::string> unsupported(const spec::Call<Compress>& call) const override {
    if (call.attributes.act_seq_len_type == 7) return long_reason;
    return std::nullopt;
  }
  spec::Numerics numerics(const Compress::Problem& problem) const override {
    return {
        .stage = problem.dtype, .exp_error = 1.0 / 3, .order = spec::Order::fixed, .weak = true};
  }
  void check(const spec::Call<Compress>& call) const override {
    if (!call.attributes.layout)
      throw spec::Rejected(spec::Status::param_nullptr, "layout is a null pointer");
    if (*call.attributes.layout == "crash") raise(SIGABRT);
  }

  void run_call(const spec::Call<Compress>& call, const Compress::Problem& problem,
                const Compress::Inputs& inputs, Compress::Outputs& outputs) override {
    run(problem, inputs, outputs);
    outputs.weight_grad.store(0, static_cast<double>(call.parameters.act_seq_len->back()));
  }

  void run(const Compress::Problem& problem, const Compress::Inputs& inputs,
           Compress::Outputs& outputs) override {
    if (manner_ == "writes nothing the second time" && runs_ == 1) return;
    double sum = static_cast<double>(problem.compress_stride);
    for (const spec::Tensor* tensor : {&inputs.output_grad, &inputs.input, &inputs.weight})
      for (const std::int64_t element : spec::viewed_elements(*tensor))
        sum += tensor->load(element);
    for (spec::Tensor* tensor : {&outputs.input_grad, &outputs.weight_grad})
      for (const std::int64_t element : spec::viewed_elements(*tensor))
        tensor->store(element, sum + static_cast<double>(element));
    runs_ += 1;
    behave(inputs, outputs);
  }

  void forward(const Compress::Problem&, Compress::Inputs& inputs) override {
    inputs.weight.store(1, 42);
    if (manner_ == "writes after its forward") inputs.weight.bytes.end()[3] ^= std::byte{1};
  }
  std::vector<spec::Metric> metrics() const override { return {{"runs", runs_, "1"}}; }

 private:
  void behave(const Compress::Inputs& inputs, Compress::Outputs& outputs) {
    std::byte* const first_input = const_cast<std::byte*>(inputs.input.bytes.data());
    if (manner_ == "crashes") {
      std::fputs("first line\nsecond line\n\x01odd\n", stderr);
      raise(SIGABRT);
    }
    if (manner_ == "exits") std::exit(7);
    if (manner_ == "hangs") hang();
    if (manner_.starts_with("hangs with a child ")) hang_with_a_child(manner_.substr(19));
    if (manner_ == "takes all memory") take_all_memory();
    if (manner_ == "takes 230 MiB the second time" && runs_ == 2) take_230_mebibytes();
    if (manner_ == "gets no memory") throw std::bad_alloc();
    if (manner_ == "throws") throw std::domain_error("not my day");
    if (manner_ == "throws a number") throw 3;
    if (manner_ == "refuses") throw spec::Rejected(spec::Status::inner_tiling_error, "too long");
    if (manner_ == "does not offer it") throw spec::Unsupported("not offered after all");
    if (manner_ == "was seen")
      throw spec::ImplementationFault(spec::ImplementationFault::Kind::timeout, "seen");
    if (manner_ == "writes after") outputs.input_grad.bytes.end()[0] ^= std::byte{1};
    if (manner_ == "writes before") {
      outputs.weight_grad.bytes.begin()[-3] ^= std::byte{1};
      outputs.weight_grad.bytes.begin()[-8] ^= std::byte{1};
    }
    if (manner_ == "writes after and crashes") {
      outputs.input_grad.bytes.end()[0] ^= std::byte{1};
      raise(SIGABRT);
    }
    if (manner_ == "writes far after") outputs.input_grad.bytes.end()[30000] = std::byte{1};
    if (manner_ == "scribbles") first_input[5] ^= std::byte{1}, first_input[9] ^= std::byte{1};
    if (manner_ == "replaces by an equal one")
      outputs.input_grad = spec::Tensor(outputs.input_grad);
    if (manner_ == "replaces") outputs.input_grad = spec::contiguous_tensor(spec::DType::fp32, {1});
    if (manner_ == "loses its device" && inputs.weight.load(0) == 0) lost_device_ = true;
    if (lost_device_)
      throw spec::ImplementationFault(spec::ImplementationFault::Kind::crash,
                                      "the device does not answer");
    if (manner_ == "chatters without end") chatter_without_end();
    if (manner_ == "chatters")
      for (int line = 0; line < 20000; ++line) std::puts("all is well, all is well, all is well");
    if (manner_ == "writes into sockets") write_into_sockets();
    if (manner_ == "closes everything") close_range(3, ~0u, 0);
  }

  std::string manner_;
  double runs_ = 0;
  bool lost_device_ = false;
};

spec::Tensor filled(const spec::Parameter& parameter, double first) {
  const std::int64_t elements =
      spec::storage_elements(parameter.shape, parameter.strides, parameter.offset);
  spec::Tensor tensor{
      .dtype = parameter.dtype,
      .shape = parameter.shape,
      .strides = parameter.strides,
      .offset = parameter.offset,
      .bytes = spec::Storage(static_cast<std::size_t>(elements * spec::size_of(parameter.dtype)))};
  for (std::int64_t e = 0; e < elements; ++e) tensor.store(e, first + static_cast<double>(e % 7));
  return tensor;
}

}  // namespace

std::unique_ptr<spec::Implementation<Compress>> worker_kernel(const std::string& manner) {
  return std::make_unique<WorkerKernel>(manner);
}

Trial::Trial()
    : problem{.dtype = spec::DType::fp32, .heads = 2},
      call(spec::call_of(problem, spec::CompressEntryPoint::c1, spec::Product::a2,
                         spec::Striding::contiguous, spec::Striding::contiguous)),
      inputs{.output_grad = filled(call.parameters.output_grad, 1),
             .input = filled(call.parameters.input, 2),
             .weight = filled(call.parameters.weight, 3)},
      outputs{.input_grad = filled(call.parameters.input_grad, -1),
              .weight_grad = filled(call.parameters.weight_grad, -2)} {}

}  // namespace assay::tests
